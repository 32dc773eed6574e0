// Contours from eigenvectors and boundary maps, and their orientation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "contour/boundary_orientation.hpp"
#include "contour/combined_contour.hpp"
#include "doctor/checks.hpp"

namespace diacut {

namespace {

constexpr double kUnit = 0x1p-24;  ///< Half of a unit in the last place of 1.

/// Eigenvectors as far as contours read them, the trivial one first.
Eigenvectors drawn_vectors(Trial& trial, const ContourProblem& problem) {
  Eigenvectors vectors;
  vectors.width = problem.grid.width;
  vectors.height = problem.grid.height;
  const std::size_t pixels = problem.grid.rows();
  vectors.sqrt_degree = trial.uniform(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    const bool hidden = problem.masked && i % 7 == 3;
    vectors.sqrt_degree[i] = hidden ? 0.0F : 0.5F + 8 * vectors.sqrt_degree[i];
  }
  for (int k = 0; k < problem.vectors; ++k) {
    vectors.values.push_back(problem.two_pieces && k == 1 ? 0 : 1e-3 * k);
    vectors.vectors.push_back(trial.uniform(pixels));
    for (std::size_t i = 0; i < pixels; ++i) {
      float& value = vectors.vectors.back()[i];
      value = vectors.sqrt_degree[i] > 0 ? 2 * value - 1 : 0.0F;
    }
  }
  return vectors;
}

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
  mass *= std::numbers::sqrt2 / total;
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
    tolerance += spectral_weight(vectors.values[k]) * mass *
                 (quotients + 5 + 12 + 3 + static_cast<double>(vectors.vectors.size())) * kUnit;
  }
  return tolerance;
}

}  // namespace

/// The map rises with the spectral contour, so it lies between what that gives with its tolerance
/// taken off and added; and is off itself by 16 units in the last place in the power, and by a few
/// roundings.
void check_combined_contour(Trial& trial, const ContourProblem& problem,
                            const ContourParameters& parameters) {
  const Grid& grid = problem.grid;
  const Eigenvectors host = drawn_vectors(trial, problem);
  std::vector<float> boundary = trial.uniform(grid.rows());
  for (std::size_t i = 0; i < boundary.size(); ++i) {
    if (host.sqrt_degree[i] == 0) boundary[i] = 0;
  }
  DeviceEigenvectors vectors;
  vectors.rows = grid.rows();
  vectors.pitch = round_up(grid.rows(), 32) + 32;
  vectors.count = problem.vectors;
  vectors.values = host.values;
  vectors.basis = trial.empty(host.vectors.size() * vectors.pitch);
  for (std::size_t k = 0; k < host.vectors.size(); ++k) {
    vectors.basis.upload(host.vectors[k], k * vectors.pitch);
  }
  const std::vector<float> found =
      combined_contour(trial.context(), grid, vectors, trial.uploaded(host.sqrt_degree),
                       trial.uploaded(boundary), parameters)
          .download();
  std::vector<double> least = reference_spectral_contour(host);
  std::vector<double> most = least;
  const double tolerance = spectral_tolerance(host);
  for (std::size_t i = 0; i < least.size(); ++i) {
    if (!(host.sqrt_degree[i] > 0)) continue;
    least[i] = std::max(least[i] - tolerance, 0.0);
    most[i] += tolerance;
  }
  const auto lower = reference_combined_contour(boundary, least, parameters);
  const auto upper = reference_combined_contour(boundary, most, parameters);
  const double rounding =
      kUnit * (parameters.boundary_weight * 4 +
               parameters.spectral_weight * (32 + 4 + 4 * parameters.spectral_power));
  std::vector<double> expected;
  std::vector<double> allowed;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    expected.push_back((lower[i] + upper[i]) / 2);
    allowed.push_back((upper[i] - lower[i]) / 2 + rounding);
  }
  trial.expect_within("contour", found, expected, allowed);
}

void check_contours(Trial& trial) {
  ContourParameters parameters;
  parameters.spectral_scale = 20;
  check_combined_contour(trial, {}, parameters);
}

void check_boundary_contours(Trial& trial) {
  const std::vector<float> boundary = trial.uniform(kContourGrid.rows());
  ContourParameters parameters;
  parameters.boundary_weight = 3;
  const Buffer<float> found =
      boundary_contour(trial.context(), kContourGrid, trial.uploaded(boundary), parameters);
  std::vector<double> expected;
  for (const float value : boundary) expected.push_back(std::min(3.0 * value, 1.0));
  trial.expect_near("contour of a boundary map", found.download(), expected, 2 * Trial::kEps);
}

void check_orientations(Trial& trial, const Grid& grid) {
  std::vector<float> map = trial.uniform(grid.rows());
  for (float& value : map) value = value < 0.25F ? 0.0F : value;
  const Buffer<float> found = boundary_orientation(trial.context(), grid, trial.uploaded(map));
  expect_orientations(trial, map, grid, found.download());
}

/// Each second derivative is a sum of 13 products of 13: fewer than 30 roundings on any path, that
/// of the weights included, of terms that add up to at most 4 / 25, the most that two differences
/// of the triangle have of weight. The angle of an eigenvector is that of the vector (xx - yy, 2
/// xy) halved, which is off by the derivatives' errors, four of them at most, and a sine by 8 units
/// in the last place of atan2.
void expect_orientations(Trial& trial, const std::vector<float>& map, const Grid& grid,
                         const std::vector<float>& found) {
  const Curvature curvature = reference_curvature(map, grid.width, grid.height);
  const double each = 30 * kUnit * 4 / 25;
  for (std::size_t i = 0; i < map.size(); ++i) {
    const double sum = curvature.xx[i] + curvature.yy[i];
    const double sign = sum < 0 ? -1 : 1;
    const double a = sign * (curvature.xx[i] - curvature.yy[i]);
    const double b = sign * 2 * curvature.xy[i];
    const double angle = found[i];
    Trial::require(angle >= 0 && angle < std::numbers::pi,
                   fmt::format("orientation: number {} is {:.9g}, expected 0 to pi", i, angle));
    const double allowed = 4 * each + 16 * kUnit * std::hypot(a, b);
    trial.expect_one("orientation, sine", a * std::sin(2 * angle) - b * std::cos(2 * angle), 0,
                     allowed);
    // Where the sum may have either sign, either direction will do.
    const double along = a * std::cos(2 * angle) + b * std::sin(2 * angle);
    Trial::require(std::abs(sum) <= 2 * each || along >= -allowed,
                   fmt::format("orientation: number {} is turned by a right angle", i));
  }
}

std::vector<DeviceCheck> contour_checks() {
  return {
      {"rough eigenvectors", [](Trial& trial) { check_rough_eigenvectors(trial, 5); }},
      {"contours from eigenvectors", check_contours},
      {"contours from boundary maps", check_boundary_contours},
      {"orientation of boundaries", [](Trial& trial) { check_orientations(trial, kContourGrid); }}};
}

}  // namespace diacut
