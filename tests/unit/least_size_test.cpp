#include <gtest/gtest.h>

#include <string>

#include "diacut/parameters.hpp"
#include "region/leaf_cut.hpp"

namespace diacut {
namespace {

TEST(LeastSize, ReadsPixelsSharesAndAuto) {
  EXPECT_EQ(parse_least_size("auto"), LeastSize{});
  EXPECT_EQ(parse_least_size("500"), (LeastSize{LeastSize::Unit::kPixels, 500}));
  EXPECT_EQ(parse_least_size("0"), (LeastSize{LeastSize::Unit::kPixels, 0}));
  EXPECT_EQ(parse_least_size("0.2%"), (LeastSize{LeastSize::Unit::kShare, 0.002}));
  EXPECT_EQ(parse_least_size("100%"), (LeastSize{LeastSize::Unit::kShare, 1}));
  for (const char* text :
       {"", "%", "-1", "-1%", "101%", "1.5", "few", "5 %", "nan%", "0.2%%", "99999999999"}) {
    EXPECT_FALSE(parse_least_size(text)) << text;
  }
}

TEST(LeastSize, WritesWhatItReads) {
  for (const char* text : {"auto", "500", "0", "0.2%", "0.1%", "100%", "33.3%"}) {
    EXPECT_EQ(to_string(parse_least_size(text).value()), text);
  }
}

TEST(LeastPixels, OfAHierarchy) {
  RegionParameters parameters;
  EXPECT_EQ(least_pixels(parameters, 154'401), 155);
  EXPECT_EQ(least_pixels(parameters, 12), 1);
  // 1000 regions of 154 pixels on average.
  parameters.regions = 1000;
  EXPECT_EQ(least_pixels(parameters, 154'401), 39);
  parameters.regions = 8;
  EXPECT_EQ(least_pixels(parameters, 154'401), 47);
  parameters.min_size = {LeastSize::Unit::kPixels, 7};
  EXPECT_EQ(least_pixels(parameters, 154'401), 7);
  parameters.min_size = {LeastSize::Unit::kShare, 0.01};
  EXPECT_EQ(least_pixels(parameters, 154'401), 1545);
}

TEST(LeastPixels, OfDirectCuts) {
  RegionParameters parameters;
  parameters.method = RegionMethod::kKway;
  EXPECT_EQ(least_pixels(parameters, 1'000'000), 50);
}

}  // namespace
}  // namespace diacut
