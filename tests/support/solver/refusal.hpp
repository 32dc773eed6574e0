#pragma once

#include <gtest/gtest.h>

#include <source_location>
#include <string>

#include "matchers.hpp"

namespace diacut::testing {

/// Expects that `action` throws an error of type Expected whose message has this part.
template <class Expected = InputError, class Action>
void expect_refused(const Action& action, const std::string& part,
                    const std::source_location& here = std::source_location::current()) {
  const ::testing::ScopedTrace trace(here.file_name(), static_cast<int>(here.line()), "refused");
  const std::string message = message_of<Expected>(action);
  EXPECT_NE(message, "");
  EXPECT_THAT(message, HasSubstr(part));
}

}  // namespace diacut::testing
