// Contours from eigenvectors: the known answer of lib/judge/doctor at awkward sizes.

#include <gtest/gtest.h>

#include <vector>

#include "contour/combined_contour.hpp"
#include "doctor/checks.hpp"
#include "right.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

/// With two settings: nearly the spectral contour as it is, and the usual combination at a scale
/// where some pixels reach it and some do not.
void check(const Grid& grid, int vectors, bool masked) {
  ContourParameters plain;
  plain.boundary_weight = 0;
  plain.spectral_weight = 1;
  plain.spectral_power = 1;
  plain.spectral_scale = 4096;
  ContourParameters usual;
  usual.spectral_scale = 20;
  for (const ContourParameters& parameters : {plain, usual}) {
    SCOPED_TRACE(::testing::Message()
                 << grid.width << "x" << grid.height << ", " << vectors << " vectors, masked "
                 << masked << ", power " << parameters.spectral_power);
    expect_right(context(), [&](Trial& trial) {
      check_combined_contour(trial, {grid, vectors, masked, true}, parameters);
    });
  }
}

TEST(TinySpectralContour, AwkwardSizes) {
  for (const auto& [width, height] : {std::pair(1, 1), {1, 5}, {5, 1}, {2, 2}, {7, 3}, {17, 9}}) {
    check({width, height}, 3, false);
    check({width, height}, 2, true);
  }
}

TEST(TinySpectralContour, OfTheTrivialVectorAloneIsTheBoundaryMap) { check({9, 4}, 1, false); }

TEST(SpectralContour, SizesAboutAWorkGroup) {
  for (const int width : {63, 64, 65, 511, 512, 513}) {
    check({width, 5}, 4, false);
    check({width, 5}, 4, true);
  }
}

TEST(SpectralContour, ManyVectorsOfLargerImages) {
  check({131, 101}, 17, false);
  check({101, 131}, 17, true);
}

/// The stage: vectors that are flat add nothing; it holds nothing but the contour, and gives the
/// same again.
TEST(CombinedContourOnTheDevice, LeavesOutFlatVectors) {
  const Grid grid{40, 30};
  Trial trial(context());
  DeviceEigenvectors vectors;
  vectors.rows = grid.rows();
  vectors.pitch = round_up(grid.rows(), 32);
  vectors.count = 3;
  vectors.values = {0, 1e-4, 1e-2};
  vectors.basis = trial.empty(3 * vectors.pitch);
  std::vector<float> degrees = trial.uniform(grid.rows());
  std::vector<float> map = trial.uniform(grid.rows());
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    degrees[i] = i % 7 == 3 ? 0 : 0.5F + 8 * degrees[i];
    if (degrees[i] == 0) map[i] = 0;
  }
  std::vector<float> flat = degrees;
  for (float& value : flat) value *= -4;
  for (std::size_t k = 0; k < 3; ++k) vectors.basis.upload(flat, k * vectors.pitch);
  const Buffer<float> sqrt_degree = trial.uploaded(degrees);
  const Buffer<float> boundary = trial.uploaded(map);
  ContourParameters parameters;
  parameters.boundary_weight = 1;
  parameters.spectral_weight = 1;
  const auto contour = [&] {
    const std::uint64_t before = context().memory_in_use();
    const Buffer<float> made =
        combined_contour(context(), grid, vectors, sqrt_degree, boundary, parameters);
    EXPECT_EQ(context().memory_in_use() - before, grid.rows() * sizeof(float));
    return made.download();
  };
  EXPECT_EQ(contour(), map);
  // Not flat.
  vectors.basis.upload(trial.uniform(grid.rows()), vectors.pitch);
  const std::vector<float> other = contour();
  EXPECT_NE(other, map);
  EXPECT_EQ(contour(), other);
}

}  // namespace
}  // namespace diacut::testing
