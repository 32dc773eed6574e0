#pragma once

#include <gmock/gmock.h>

#include <string>

#include "diacut/errors.hpp"

/// What tests say of results, by names that all of them may use.
namespace diacut::testing {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pointwise;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

/// The message of the error of type Expected that `action` throws; "" if it throws none.
template <class Expected, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

}  // namespace diacut::testing
