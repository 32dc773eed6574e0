#include "core/edit_distance.hpp"

#include <gtest/gtest.h>

namespace diacut {
namespace {

TEST(EditDistance, CountsWhatHasToChange) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("radius", "radius"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("radius", "raduis"), 2u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2u);
}

}  // namespace
}  // namespace diacut
