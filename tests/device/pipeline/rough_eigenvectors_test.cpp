// Rough eigenvectors, which contours are made from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "affinity/affinity.hpp"
#include "contour/combined_contour.hpp"
#include "diacut/segmenter.hpp"
#include "doctor/checks.hpp"
#include "eigen/multilevel/coarse_levels.hpp"
#include "eigen_checks.hpp"
#include "right.hpp"
#include "support.hpp"
#include "two_discs.hpp"

namespace diacut {
namespace {

class FilteredVectors : public ::testing::Test {
 protected:
  /// Of every other row and column.
  std::vector<DeviceEigenvectors> solve(const DeviceBoundary& map, const Batch& batch) {
    KeptAffinity kept = kept_affinity(context_, batch, map, AffinityParameters());
    SolverParameters solver;
    solver.eigen.vectors = kContourVectors;
    solver.solved = 600;
    return eigenvectors(context_, kept.matrix, solver, Watch());
  }

  Context context_{testing::test_device()};
};

TEST_F(FilteredVectors, AreThoseOfTheKeptPixelsMatrix) {
  // 20x20 pixels are solved densely; of larger images the vectors are filtered, which finds the
  // five that part the image into six.
  testing::expect_right(context_, [](Trial& trial) {
    check_rough_eigenvectors(trial, 5, {{20, 20}, kContourVectors - 1, 0.01, 1e-3});
    check_rough_eigenvectors(trial, 5, {{47, 39}, 5, 0.01, 0.05});
  });
}

TEST_F(FilteredVectors, OfABatchAreThoseOfEachImageAlone) {
  const Grid grid{97, 61};
  Trial trial(context_);
  std::vector<BoundaryProblem> both = {drawn_six_parts(trial, grid), drawn_six_parts(trial, grid)};
  std::vector<DeviceBoundary> maps;
  for (BoundaryProblem& each : both) {
    std::fill(each.valid.begin() + 97 * 20, each.valid.begin() + 97 * 24, std::uint8_t{0});
    maps.push_back(each.on_device(context_));
  }
  const Batch batch(grid, 2, CoarseLevels::batched_height(grid, affinity_stencil({})));
  const auto together = solve(batched(context_, maps, batch), batch);
  ASSERT_EQ(together.size(), 2u);
  EXPECT_NE(together[0].values, together[1].values);
  for (std::size_t k = 0; k < 2; ++k) {
    const auto alone = solve(maps[k], grid);
    EXPECT_EQ(alone.front().report.solver, "filtered");
    EXPECT_EQ(alone.front().values, together[k].values);
    EXPECT_EQ(alone.front().basis.download(), together[k].basis.download());
  }
}

TEST_F(FilteredVectors, AreFewerWhereThereAreFewKeptPixels) {
  for (const auto& [width, height, count] :
       {std::tuple(1, 1, 1), std::tuple(3, 3, 4), std::tuple(2, 9, 5)}) {
    const Grid grid{width, height};
    BoundaryProblem problem(grid, std::vector<float>(grid.rows(), 0.0F));
    std::fill(problem.strength.begin(), problem.strength.end(), 0.1F);
    const auto found = solve(problem.on_device(context_), grid);
    EXPECT_EQ(found.front().count, count) << width << "x" << height;
    for (const float each : found.front().basis.download()) ASSERT_TRUE(std::isfinite(each));
  }
}

TEST_F(FilteredVectors, OfAnImageWithoutDataAreNone) {
  const Grid grid{40, 30};
  BoundaryProblem nothing(grid, std::vector<float>(grid.rows(), 0.0F));
  std::fill(nothing.valid.begin(), nothing.valid.end(), std::uint8_t{0});
  EXPECT_EQ(solve(nothing.on_device(context_), grid).front().count, 0);
}

TEST(FilteredVectorsOfPhotographs, MakeTheSpectralContourOfExactOnes) {
  const Image image = read_image(std::string(DIACUT_SOURCE_DIR) + "/images/cat.jpg");
  Parameters parameters;
  parameters.boundary.weights = "fast";
  parameters.contour = {SpectralUse::kDecimated, 0, 1, 1, 300};
  const auto contours = [&] {
    return testing::keeping_eigenvectors(parameters).segment(image).contours;
  };
  const std::vector<float> rough = contours();
  parameters.contour.spectral = SpectralUse::kFull;
  parameters.eigen.tolerance = 1e-6;
  const std::vector<float> full = contours();
  ASSERT_EQ(rough.size(), full.size());
  EXPECT_GT(testing::correlation(rough, full), 0.99);
}

}  // namespace
}  // namespace diacut
