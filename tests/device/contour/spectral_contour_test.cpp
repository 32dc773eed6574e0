#include "contour/spectral_contour.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "contour/combined_contour.hpp"
#include "guarded.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

/// Eigenvectors as far as contours read them, and a boundary map, both on a grid and without its
/// padding.
struct Problem {
  Grid grid;
  Eigenvectors host;
  std::vector<float> boundary;  ///< Of the pixels.
  std::size_t pitch = 0;
  std::vector<float> basis;
  std::vector<float> sqrt_degree;
  std::vector<float> boundary_elements;
};

/// `count` vectors, the trivial one included; every seventh pixel has no data where `masked`.
/// Elements between the width and the stride hold NaN: no pixel may take anything from them.
Problem random_problem(const Grid& grid, int count, bool masked) {
  Problem problem;
  problem.grid = grid;
  problem.pitch = round_up(grid.rows(), 32) + 32;
  problem.host.width = grid.width;
  problem.host.height = grid.height;
  std::mt19937 bits(static_cast<unsigned>(grid.rows() + static_cast<std::size_t>(count)));
  std::uniform_real_distribution<float> unit(0, 1);
  const std::size_t pixels = grid.pixels();
  for (std::size_t i = 0; i < pixels; ++i) {
    const bool data = !masked || i % 7 != 3;
    problem.host.sqrt_degree.push_back(data ? 0.5F + 8 * unit(bits) : 0.0F);
    problem.boundary.push_back(data ? unit(bits) : 0.0F);
  }
  // The second eigenvalue is of a disconnected piece.
  for (int k = 0; k < count; ++k) {
    problem.host.values.push_back(k < 2 ? 0 : 1e-3 * k);
    std::vector<float> vector(pixels, 0.0F);
    for (std::size_t i = 0; i < pixels; ++i) {
      if (problem.host.sqrt_degree[i] > 0) vector[i] = 2 * unit(bits) - 1;
    }
    problem.host.vectors.push_back(vector);
  }
  const auto spread = [&](const std::vector<float>& values, float* to) {
    for (std::size_t i = 0; i < pixels; ++i) {
      const std::size_t y = i / static_cast<std::size_t>(grid.width);
      to[y * static_cast<std::size_t>(grid.stride) + i % static_cast<std::size_t>(grid.width)] =
          values[i];
    }
  };
  problem.basis.assign(static_cast<std::size_t>(count) * problem.pitch, NAN);
  for (std::size_t k = 0; k < problem.host.vectors.size(); ++k) {
    spread(problem.host.vectors[k], problem.basis.data() + k * problem.pitch);
  }
  problem.sqrt_degree.assign(grid.rows(), 0.0F);  // As normalize() leaves it.
  spread(problem.host.sqrt_degree, problem.sqrt_degree.data());
  problem.boundary_elements.assign(grid.rows(), NAN);
  spread(problem.boundary, problem.boundary_elements.data());
  return problem;
}

constexpr double kUnit = 0x1p-24;  // Half of a unit in the last place of 1.

/// What the spectral contour may be off by. A vector's quotients are off by 2.5 units in the last
/// place of the largest (that is what OpenCL grants to a division), as is the least of them, and by
/// twice that their extent; five more roundings scale them. A derivative takes fewer than 12
/// roundings on any path, of products whose weights add up to at most `mass`, a direction three
/// more and a factor of at most sqrt(2), and the sum over the vectors one each.
double spectral_tolerance(const Eigenvectors& vectors) {
  double mass = 0;
  double total = 0;
  for (int t = -3; t <= 3; ++t) {
    mass += std::abs(t) * std::exp(-0.5 * t * t);
    total += std::exp(-0.5 * t * t);
  }
  mass *= std::sqrt(2.0) / total;
  const auto count = static_cast<double>(vectors.vectors.size());
  double tolerance = 0;
  for (std::size_t k = 1; k < vectors.vectors.size(); ++k) {
    double low = INFINITY;
    double high = -INFINITY;
    for (std::size_t i = 0; i < vectors.sqrt_degree.size(); ++i) {
      if (!(vectors.sqrt_degree[i] > 0)) continue;
      const double y = static_cast<double>(vectors.vectors[k][i]) / vectors.sqrt_degree[i];
      low = std::min(low, y);
      high = std::max(high, y);
    }
    if (!(high > low)) continue;
    const double quotients = 20 * std::max(std::abs(low), std::abs(high)) / (high - low);
    tolerance +=
        spectral_weight(vectors.values[k]) * mass * (quotients + 5 + 12 + 3 + count) * kUnit;
  }
  return tolerance;
}

/// The map rises with the spectral contour, so it lies between what that gives with its tolerance
/// taken off and added; and is off itself by 16 units in the last place in the power, and by a few
/// roundings.
void expect_close(const Problem& problem, const ContourParameters& parameters,
                  const std::vector<float>& elements) {
  const std::vector<double> spectral = reference_spectral_contour(problem.host);
  const double tolerance = spectral_tolerance(problem.host);
  std::vector<double> least = spectral;
  std::vector<double> most = spectral;
  for (std::size_t i = 0; i < spectral.size(); ++i) {
    if (!(problem.host.sqrt_degree[i] > 0)) continue;
    least[i] = std::max(spectral[i] - tolerance, 0.0);
    most[i] = spectral[i] + tolerance;
  }
  const auto lower = reference_combined_contour(problem.boundary, least, parameters);
  const auto upper = reference_combined_contour(problem.boundary, most, parameters);
  const double rounding =
      kUnit * (parameters.cue_weight * 4 +
               parameters.spectral_weight * (32 + 4 + 4 * parameters.spectral_power));
  std::size_t wrong = 0;
  const auto width = static_cast<std::size_t>(problem.grid.width);
  for (std::size_t i = 0; i < spectral.size(); ++i) {
    const double found =
        elements[i / width * static_cast<std::size_t>(problem.grid.stride) + i % width];
    if (!(found >= lower[i] - rounding && found <= upper[i] + rounding) && ++wrong < 4) {
      ADD_FAILURE() << "pixel " << i % width << ", " << i / width << ": " << found << ", expected "
                    << lower[i] << " to " << upper[i] << " give or take " << rounding;
    }
  }
  EXPECT_EQ(wrong, 0u);
}

/// Two settings: nearly the spectral contour as it is, and the usual combination at a scale where
/// some pixels reach it and some do not.
std::vector<ContourParameters> settings() {
  ContourParameters plain;
  plain.cue_weight = 0;
  plain.spectral_weight = 1;
  plain.spectral_power = 1;
  plain.spectral_scale = 4096;
  ContourParameters usual;
  usual.spectral_scale = 20;
  return {plain, usual};
}

void check(const Grid& grid, int count, bool masked) {
  SCOPED_TRACE(::testing::Message()
               << grid.width << "x" << grid.height << ", stride " << grid.stride << ", " << count
               << " vectors, masked " << masked);
  const Problem problem = random_problem(grid, count, masked);
  for (const ContourParameters& parameters : settings()) {
    SCOPED_TRACE(::testing::Message() << "power " << parameters.spectral_power);
    std::vector<float> weights;
    for (std::size_t k = 1; k < problem.host.values.size(); ++k) {
      weights.push_back(static_cast<float>(spectral_weight(problem.host.values[k])));
    }
    Guarded<float> basis(context(), problem.basis);
    Guarded<float> sqrt_degree(context(), problem.sqrt_degree);
    Guarded<float> boundary(context(), problem.boundary_elements);
    Guarded<float> contour(context(), grid.rows());
    SpectralContour kernels(context(), grid, count - 1);
    kernels.launch({*basis, problem.pitch, problem.pitch, count - 1}, *sqrt_degree, weights,
                   *boundary,
                   {parameters.cue_weight, parameters.spectral_weight, parameters.spectral_scale,
                    parameters.spectral_power},
                   *contour);
    expect_close(problem, parameters, contour.values());
  }
}

TEST(TinySpectralContour, AwkwardSizes) {
  for (const auto& [width, height] : {std::pair(1, 1), {1, 5}, {5, 1}, {2, 2}, {7, 3}, {17, 9}}) {
    check({width, height, width}, 3, false);
    check({width, height, width + 3}, 2, true);
  }
}

TEST(TinySpectralContour, OfTheTrivialVectorAloneIsTheBoundaryMap) { check({9, 4, 9}, 1, false); }

TEST(SpectralContour, SizesAboutAWorkGroup) {
  for (const int width : {63, 64, 65, 511, 512, 513}) {
    check({width, 5, width}, 4, false);
    check({width, 5, width + 5}, 4, true);
  }
}

TEST(SpectralContour, ManyVectorsOfLargerImages) {
  check({131, 101, 131}, 17, false);
  check({101, 131, 106}, 17, true);
}

TEST(SpectralContour, FlatVectorsGiveNothing) {
  Problem problem = random_problem({40, 30, 40}, 3, true);
  for (std::vector<float>& vector : problem.host.vectors) {
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = -4 * problem.host.sqrt_degree[i];
  }
  Guarded<float> basis(context(), std::vector<float>(3 * problem.pitch, NAN));
  for (std::size_t k = 0; k < 3; ++k) {
    (*basis).upload(problem.host.vectors[k], k * problem.pitch);
  }
  Guarded<float> sqrt_degree(context(), problem.sqrt_degree);
  Guarded<float> boundary(context(), problem.boundary_elements);
  Guarded<float> contour(context(), problem.grid.rows());
  SpectralContour kernels(context(), {40, 30, 40}, 2);
  kernels.launch({*basis, problem.pitch, problem.pitch, 2}, *sqrt_degree, {100, 10}, *boundary,
                 {1, 1, 1, 0.5}, *contour);
  EXPECT_EQ(contour.values(), problem.boundary);
}

/// The stage: what it leaves out, and how it weighs.
TEST(CombinedContourOnTheDevice, IsTheReference) {
  const Problem problem = random_problem({97, 71, 97}, 6, true);
  DeviceEigenvectors vectors;
  vectors.rows = problem.grid.rows();
  vectors.pitch = problem.pitch;
  vectors.count = 6;
  vectors.values = problem.host.values;
  vectors.basis = context().allocate<float>(problem.basis.size(), "eigenvectors");
  vectors.basis.upload(problem.basis);
  auto sqrt_degree = context().allocate<float>(problem.grid.rows(), "degrees");
  sqrt_degree.upload(problem.sqrt_degree);
  auto boundary = context().allocate<float>(problem.grid.rows(), "boundary map");
  boundary.upload(problem.boundary_elements);
  for (const ContourParameters& parameters : settings()) {
    const std::uint64_t before = context().memory_in_use();
    const Buffer<float> contour =
        combined_contour(context(), problem.grid, vectors, sqrt_degree, boundary, parameters);
    EXPECT_EQ(context().memory_in_use() - before, problem.grid.rows() * sizeof(float));
    const std::vector<float> first = contour.download();
    expect_close(problem, parameters, first);
    EXPECT_EQ(combined_contour(context(), problem.grid, vectors, sqrt_degree, boundary, parameters)
                  .download(),
              first);
  }
}

}  // namespace
}  // namespace diacut::testing
