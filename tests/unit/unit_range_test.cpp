#include "core/unit_range.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace diacut {
namespace {

TEST(UnitRange, HasItsEnds) {
  EXPECT_FALSE(value_outside_unit_range({}));
  EXPECT_FALSE(value_outside_unit_range(std::vector<float>{0.0F, 0.5F, 1.0F, -0.0F}));
}

TEST(UnitRange, TheFirstValueOutsideIsFoundWhereverItIs) {
  // Several threads and several blocks, the last of which is not whole.
  for (const std::size_t at : {0U, 1U, 4095U, 4096U, 300'000U, 999'998U}) {
    std::vector<float> values(999'999, 0.5F);
    values[at] = std::nextafter(1.0F, 2.0F);
    values[999'998] = values[at];
    EXPECT_EQ(value_outside_unit_range(values), values[at]) << at;
    values[at] = -1e-9F;
    EXPECT_EQ(value_outside_unit_range(values), -1e-9F) << at;
    values[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(value_outside_unit_range(values).value_or(0))) << at;
  }
}

}  // namespace
}  // namespace diacut
