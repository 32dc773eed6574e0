
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "contour/combined_contour.hpp"
#include "guarded.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

std::vector<float> random_strengths(std::size_t count) {
  std::mt19937 bits(static_cast<unsigned>(count));
  std::uniform_real_distribution<float> unit(0, 1);
  std::vector<float> values(count);
  for (float& value : values) value = unit(bits);
  values.front() = 1;
  values.back() = 0;
  return values;
}

TEST(CueContour, WeighsEveryElementAndStaysAtMostOne) {
  for (const int count : {1, 7, 1000}) {
    const Grid grid{count, 1, count};
    const std::vector<float> values = random_strengths(grid.rows());
    for (const float weight : {0.8F, 1.0F, 3.0F}) {
      ContourParameters parameters;
      parameters.cue_weight = weight;
      const Guarded<float> boundary(context(), values);
      const std::vector<float> found =
          cue_contour(context(), grid, *boundary, parameters).download();
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i], std::min(weight * values[i], 1.0F)) << i;
      }
    }
  }
  EXPECT_FALSE(context().overrun());
}

TEST(CueContour, IsTheCombinedContourWithoutASpectralOne) {
  const Grid grid{37, 23, 48};
  const std::vector<float> values = random_strengths(grid.rows());
  ContourParameters parameters;
  auto boundary = context().allocate<float>(grid.rows(), "boundary map");
  boundary.upload(values);
  const std::vector<float> found = cue_contour(context(), grid, boundary, parameters).download();
  ASSERT_EQ(found.size(), grid.rows());
  const std::vector<double> expected =
      reference_combined_contour(values, std::vector<double>(values.size(), 0.0), parameters);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

}  // namespace
}  // namespace diacut::testing
