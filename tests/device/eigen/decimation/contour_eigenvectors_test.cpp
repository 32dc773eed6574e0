#include "eigen/decimation/contour_eigenvectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "affinity/kept_affinity.hpp"
#include "diacut/segmenter.hpp"
#include "doctor/checks.hpp"
#include "eigen_checks.hpp"
#include "right.hpp"
#include "support.hpp"

namespace diacut {
namespace {

class ContourVectors : public ::testing::Test {
 protected:
  ContourEigenvectors solve(const std::vector<BoundaryProblem>& problems) {
    std::vector<DeviceBoundary> maps;
    for (const BoundaryProblem& each : problems) maps.push_back(each.on_device(context_));
    const KeptAffinity kept = kept_affinity(context_, maps, AffinityParameters());
    return contour_eigenvectors(context_, kept.interpolation, maps.front().grid, Watch());
  }

  Context context_{testing::test_device()};
};

TEST_F(ContourVectors, AreThoseOfTheKeptPixelsMatrix) {
  // 20x20 pixels are solved densely; of 37x31 the vectors are filtered, which finds the five that
  // part the image into six.
  testing::expect_right(context_, [](Trial& trial) {
    check_decimation(trial, 5, {{20, 20}, kContourVectors, 0.01, 1e-3});
    check_decimation(trial, 5, {{37, 31}, 5, 0.01, 0.05});
  });
}

TEST_F(ContourVectors, OfABatchAreThoseOfEachImageAlone) {
  const Grid grid{97, 61};
  Trial trial(context_);
  std::vector<BoundaryProblem> both = {drawn_six_parts(trial, grid), drawn_six_parts(trial, grid)};
  for (BoundaryProblem& each : both) {
    std::fill(each.valid.begin() + 97 * 20, each.valid.begin() + 97 * 24, std::uint8_t{0});
  }
  const ContourEigenvectors together = solve(both);
  const std::vector<float> vectors = together.vectors.download();
  for (std::size_t k = 0; k < 2; ++k) {
    const ContourEigenvectors alone = solve({both[k]});
    EXPECT_EQ(alone.images.front().values, together.images[k].values);
    EXPECT_EQ(alone.images.front().least, together.images[k].least);
    const std::vector<float> own = alone.vectors.download();
    for (std::size_t v = 0; v < kContourVectors; ++v) {
      for (std::size_t i = 0; i < grid.rows(); ++i) {
        ASSERT_EQ(own[v * alone.pitch + i],
                  vectors[(k * kContourVectors + v) * together.pitch + i]);
      }
    }
  }
}

TEST_F(ContourVectors, AreFewerWhereThereAreFewKeptPixels) {
  for (const auto& [width, height, count] :
       {std::tuple(1, 1, 0), std::tuple(3, 3, 3), std::tuple(2, 9, 4)}) {
    const Grid grid{width, height};
    BoundaryProblem problem(grid, std::vector<float>(grid.rows(), 0.0F));
    std::fill(problem.strength.begin(), problem.strength.end(), 0.1F);
    const ContourEigenvectors found = solve({problem});
    EXPECT_EQ(found.images.front().values.size(), static_cast<std::size_t>(count))
        << width << "x" << height;
    const std::vector<float> vectors = found.vectors.download();
    for (std::size_t k = 0; k < kContourVectors; ++k) {
      for (std::size_t i = 0; i < grid.rows(); ++i) {
        ASSERT_TRUE(std::isfinite(vectors[k * found.pitch + i]));
      }
    }
  }
}

TEST_F(ContourVectors, OfAnImageWithoutDataAreNone) {
  const Grid grid{40, 30};
  BoundaryProblem nothing(grid, std::vector<float>(grid.rows(), 0.0F));
  std::fill(nothing.valid.begin(), nothing.valid.end(), std::uint8_t{0});
  EXPECT_TRUE(solve({nothing}).images.front().values.empty());
}

TEST(ContourVectorsOfPhotographs, MakeTheSpectralContourOfExactOnes) {
  const Image image = read_image(std::string(DIACUT_SOURCE_DIR) + "/images/cat.jpg");
  Parameters parameters;
  parameters.boundary.weights = "fast";
  parameters.contour = {SpectralUse::kDecimated, 0, 1, 1, 300};
  const auto contours = [&] {
    return Segmenter(parameters, testing::test_device()).segment(image).contours;
  };
  const std::vector<float> decimated = contours();
  parameters.contour.spectral = SpectralUse::kFull;
  parameters.eigen.tolerance = 1e-6;
  const std::vector<float> full = contours();
  ASSERT_EQ(decimated.size(), full.size());
  EXPECT_GT(testing::correlation(decimated, full), 0.99);
}

}  // namespace
}  // namespace diacut
