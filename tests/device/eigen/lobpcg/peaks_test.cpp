// The largest entries of columns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "guarded.hpp"

namespace diacut::testing {
namespace {

class PeaksTest : public BlockTest {};

TEST_F(PeaksTest, AreTheFirstOfEquals) {
  constexpr int kColumns = 8;
  constexpr std::size_t kSegments = 2;
  for (const std::size_t each : {1U, 65U, 10007U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + 3};
    Workspace workspace(context_, kColumns, segments.pitch,
                        std::make_shared<const ActiveSegments>(context_, kSegments));
    Peaks peaks(workspace);
    // Few values, the largest ones late.
    std::vector<float> x = random_values(kSegments * segments.pitch * kColumns, 17);
    for (std::size_t at = 0; at < x.size(); ++at) {
      const std::size_t row = at / kColumns % segments.pitch;
      x[at] = row < each ? std::round(std::clamp(x[at], -1.0F, 1.0F)) : NAN;
      if (row < each && row >= each / 3 * 2) x[at] *= 2;
    }
    Guarded<float> in(context_, x);
    Guarded<float> spare(context_, x.size());
    const std::vector<float> found = peaks.compute(*in, segments, *spare);
    ASSERT_EQ(found.size(), kSegments * kColumns);
    for (std::size_t k = 0; k < kSegments; ++k) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        float peak = 0;
        for (std::size_t i = 0; i < each; ++i) {
          const float value = x[(k * segments.pitch + i) * kColumns + c];
          if (std::abs(value) > std::abs(peak)) peak = value;
        }
        EXPECT_EQ(found[k * kColumns + c], peak) << k << ", " << c;
      }
    }
  }
}

}  // namespace
}  // namespace diacut::testing
