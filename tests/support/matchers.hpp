#pragma once

#include <gmock/gmock.h>

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

}  // namespace diacut::testing
