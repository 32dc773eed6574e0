#include "boundary/gradient/quantile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <tuple>

#include "support.hpp"

namespace diacut {
namespace {

TEST(Quantile, IsExact) {
  Context context(testing::test_device());
  for (const auto& [width, height, padding] :
       {std::tuple{1, 1, 0}, {7, 3, 2}, {64, 64, 0}, {200, 3, 1}, {3, 1500, 0}}) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height);
    const Grid grid{width, height, width + padding};
    std::mt19937 random(41);
    std::uniform_real_distribution<float> exponent(-140.0f, 20.0f);
    std::vector<float> values(grid.pixels());
    std::vector<std::uint8_t> valid(static_cast<std::size_t>(grid.stride) * height, 0);
    std::vector<float> ordered;
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Zeros, equals, values too small to be normal, and close neighbours.
      const std::uint32_t kind = random() % 4;
      values[i] = kind == 0   ? 0.0f
                  : kind == 1 ? 3.25f
                  : kind == 2 ? std::ldexp(1.0f, static_cast<int>(exponent(random)))
                              : 1.0f + static_cast<float>(random() % 64) * 1.1920929e-7f;
      if (random() % 5 == 0 && !ordered.empty()) continue;
      valid[i / width * grid.stride + i % width] = 1;
      ordered.push_back(values[i]);
    }
    std::sort(ordered.begin(), ordered.end());
    auto device_values = context.allocate<float>(values.size(), "values");
    device_values.upload(values);
    auto device_valid = context.allocate<std::uint8_t>(valid.size(), "valid");
    device_valid.upload(valid);
    for (const double share : {0.0, 0.1, 0.3, 0.5, 0.51, 0.7, 0.9, 0.99, 1.0}) {
      const auto index = static_cast<std::size_t>(share * static_cast<double>(ordered.size() - 1));
      const std::vector<std::uint32_t> found =
          exact_quantile(context, grid, device_values, device_valid,
                         static_cast<std::uint32_t>(index + 1))
              .download();
      EXPECT_EQ(std::bit_cast<float>(found[0]), ordered[index]) << "rank " << index + 1;
    }
  }
}

}  // namespace
}  // namespace diacut
