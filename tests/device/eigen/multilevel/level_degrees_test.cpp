// Norms of the degrees on every level by Eigen, in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/multilevel/coarsen.hpp"

namespace diacut::testing {
namespace {

class LevelDegreesTest : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, LevelDegreesTest, ::testing::Bool(), precision_name);

TEST_P(LevelDegreesTest, DegreesOfAllLevelsAgreeWithPlainLoops) {
  constexpr int kLevels = 4;
  constexpr int kImages = 3;
  for (const Grid& size : kBlockSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const std::size_t pitch = at_size(size.width * (size.height + 2));
    std::vector<float> all = trial_.normal(kImages * pitch);
    // Elements between the images must not be read. Of the middle image a third has data, of the
    // last image nothing.
    for (std::size_t at = 0; at < all.size(); ++at) {
      const std::size_t image = at / pitch;
      if (image == 2 || (image == 1 && at % 3 != 0)) all[at] = 0;
      if (at % pitch >= size.rows()) all[at] = NAN;
    }
    LevelDegrees found =
        level_degrees(context_, {size, kImages, size.height + 2}, trial_.uploaded(all), kLevels);
    const std::vector<float> scales = found.scales.download();
    const std::vector<std::uint32_t> counts = found.counts.take();
    ASSERT_EQ(scales.size(), at_size(kLevels * kImages));
    ASSERT_EQ(counts.size(), scales.size());
    for (int image = 0; image < kImages; ++image) {
      const Rows own = rows_of(all, size.width).middleRows(image * (size.height + 2), size.height);
      for (int level = 0; level < kLevels; ++level) {
        SCOPED_TRACE(::testing::Message() << "image " << image << " level " << level);
        const int step = 1 << level;
        const Rows kept =
            own(Eigen::seq(0, size.height - 1, step), Eigen::seq(0, size.width - 1, step));
        const std::size_t at = at_size(level * kImages + image);
        EXPECT_EQ(counts[at], (kept.array() > 0).count());
        // The nearest float, or its neighbour where the sum is between two.
        const double scale = 1 / kept.norm();
        if (std::isinf(scale)) {
          EXPECT_EQ(scales[at], INFINITY);
        } else {
          EXPECT_NEAR(scales[at], scale, 0.51 * kEps * scale);
        }
      }
    }
    // An image has the same sums alone and in a batch.
    const std::vector<float> second(all.begin() + static_cast<std::ptrdiff_t>(pitch),
                                    all.begin() + static_cast<std::ptrdiff_t>(2 * pitch));
    const LevelDegrees alone =
        level_degrees(context_, Batch(size), trial_.uploaded(second), kLevels);
    const std::vector<float> alone_scales = alone.scales.download();
    for (int level = 0; level < kLevels; ++level) {
      EXPECT_EQ(alone_scales[at_size(level)], scales[at_size(level * kImages + 1)]);
    }
  }
}

}  // namespace
}  // namespace diacut::testing
