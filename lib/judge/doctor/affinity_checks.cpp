// Affinities from a boundary map and from features, and their normalization.
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "affinity/affinity.hpp"
#include "affinity/feature_affinity.hpp"
#include "doctor/checks.hpp"

namespace diacut {

BoundaryProblem drawn_boundary(Trial& trial) {
  constexpr Grid kGrid{37, 23};
  BoundaryProblem problem(kGrid, trial.uniform(kGrid.rows()));
  for (std::size_t i = 3; i < kGrid.rows(); i += 29) problem.hide(i);
  return problem;
}

HostDiaMatrix check_affinity(Trial& trial, const BoundaryProblem& boundary,
                             const AffinityParameters& parameters) {
  HostDiaMatrix matrix =
      download(affinity_matrix(trial.context(), boundary.on_device(trial.context()), parameters));
  const std::vector<double> expected =
      reference_affinity(boundary.grid, boundary.strength, boundary.valid, parameters);
  // The exponent is at most 1 / scale plus a few roundings of it; exp() is good to 3 units in the
  // last place (OpenCL 1.2, table 7.1), and what is below the least normal float may become 0.
  std::vector<double> allowed;
  for (const double value : expected) {
    allowed.push_back(value * Trial::kEps * (4 + 8 / parameters.scale) +
                      (value > 0 ? std::numeric_limits<float>::min() : 0));
  }
  trial.expect_within("affinity", matrix.values, expected, allowed);
  return matrix;
}

Eigen::MatrixXd reference_kept_rows(const BoundaryProblem& boundary,
                                    const AffinityParameters& parameters) {
  const Grid& grid = boundary.grid;
  const Grid kept = coarser(grid).image;
  const std::vector<double> w =
      reference_affinity(grid, boundary.strength, boundary.valid, parameters);
  const Stencil stencil = affinity_stencil(parameters);
  const DiaShape shape = dia_shape(grid, stencil);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(grid.rows()),
                                               static_cast<Eigen::Index>(kept.rows()));
  for (std::size_t k = 0; k < kept.rows(); ++k) {
    const int x = 2 * static_cast<int>(k % at_size(kept.width));
    const int y = 2 * static_cast<int>(k / at_size(kept.width));
    for (std::size_t d = 0; d < stencil.size(); ++d) {
      const auto [dx, dy] = stencil.entries[d];
      const bool inside = x + dx >= 0 && x + dx < grid.width && y + dy >= 0 && y + dy < grid.height;
      if (!inside) continue;
      rows(static_cast<Eigen::Index>(boundary.element(x + dx, y + dy)),
           static_cast<Eigen::Index>(k)) = w[d * shape.pitch + boundary.element(x, y)];
    }
  }
  return rows;
}

void check_kept_affinity(Trial& trial, const BoundaryProblem& boundary,
                         const AffinityParameters& parameters) {
  const Grid& grid = boundary.grid;
  const KeptAffinity found =
      kept_affinity(trial.context(), grid, boundary.on_device(trial.context()), parameters);
  const Eigen::MatrixXd w = reference_kept_rows(boundary, parameters);
  const Eigen::VectorXd pixels = w.rowwise().sum().cwiseSqrt();
  const Eigen::VectorXd kept = w.colwise().sum().cwiseSqrt();
  const auto inverse = [](const Eigen::VectorXd& of) -> Eigen::VectorXd {
    return (of.array() > 0).select(of.array().inverse(), 0.0);
  };
  const Eigen::MatrixXd r = inverse(pixels).asDiagonal() * w * inverse(kept).asDiagonal();
  const Eigen::MatrixXd a = r.transpose() * r;
  // As check_affinity(), and sums of at most 81 weights under square roots; a product has two such
  // factors, and as many terms.
  const double roundings = 100 + 8 / parameters.scale;
  const auto values = [](const Eigen::VectorXd& of) {
    return std::vector<double>(of.begin(), of.end());
  };
  trial.expect("square root of a pixel's degree", found.sqrt_degree.download(), values(pixels),
               values(pixels), roundings);
  trial.expect("square root of a kept pixel's degree", found.matrix.sqrt_degree().download(),
               values(kept), values(kept), roundings);
  const Grid small = found.rows.kept.image;
  const Stencil& stencil = found.rows.stencil;
  const std::size_t pitch = found.rows.pitch();
  const std::vector<float> rows = found.rows.values.download();
  const std::vector<float> matrix = found.matrix.dia().values.download();
  std::array<std::vector<float>, 2> device;
  std::array<std::vector<double>, 2> host;
  for (std::size_t k = 0; k < small.rows(); ++k) {
    const int x = static_cast<int>(k % at_size(small.width));
    const int y = static_cast<int>(k / at_size(small.width));
    for (std::size_t d = 0; d < stencil.size(); ++d) {
      const auto [dx, dy] = stencil.entries[d];
      const auto entry = [&](const Eigen::MatrixXd& of, const Grid& to, int to_x, int to_y) {
        if (to_x < 0 || to_x >= to.width || to_y < 0 || to_y >= to.height) return 0.0;
        return of(to_y * to.width + to_x, static_cast<Eigen::Index>(k));
      };
      device[0].push_back(rows[d * pitch + k]);
      host[0].push_back(entry(r, grid, 2 * x + dx, 2 * y + dy));
      device[1].push_back(matrix[d * pitch + k]);
      host[1].push_back(entry(a, small, x + dx, y + dy));
    }
  }
  trial.expect("affinity to a kept pixel", device[0], host[0], host[0], 2 * roundings);
  trial.expect("affinity of kept pixels", device[1], host[1], host[1], 4 * roundings + 81);
}

NormalizedMatrix check_normalized_affinity(Trial& trial, const BoundaryProblem& boundary,
                                           const AffinityParameters& parameters) {
  DiaMatrix matrix =
      affinity_matrix(trial.context(), boundary.on_device(trial.context()), parameters);
  const HostDiaMatrix before = download(matrix);
  NormalizedMatrix found =
      normalize(trial.context(), Batch(boundary.grid), std::move(matrix), parameters);
  std::vector<double> root(before.shape.rows, 0.0);
  for (std::size_t d = 0; d < before.shape.diagonals(); ++d) {
    for (std::size_t row = 0; row < before.shape.rows; ++row) {
      root[row] += before.values[d * before.shape.pitch + row];
    }
  }
  for (double& each : root) each = std::sqrt(each);
  // Degrees are summed in double, or compensated.
  trial.expect("square root of a degree", found.sqrt_degree().download(), root, root, 2);
  std::vector<double> expected(before.values.size(), 0.0);
  for (std::size_t d = 0; d < before.shape.diagonals(); ++d) {
    for (std::size_t row = 0; row < before.shape.rows; ++row) {
      const double value = before.values[d * before.shape.pitch + row];
      if (value == 0) continue;
      const auto column =
          static_cast<std::size_t>(static_cast<std::int64_t>(row) + before.shape.offsets[d]);
      expected[d * before.shape.pitch + row] = value / (root[row] * root[column]);
    }
  }
  trial.expect("normalized affinity", found.dia().values.download(), expected, expected, 8);
  return found;
}

namespace {

void check_formula(Trial& trial, AffinityFormula formula) {
  AffinityParameters parameters;
  parameters.formula = formula;
  check_affinity(trial, drawn_boundary(trial), parameters);
}

/// Waves over the picture: the squared distance of the features of two pixels depends on their
/// offset alone.
struct Waves {
  static constexpr int kWaves = 10;
  static constexpr int kChannels = 2 * kWaves;  ///< More than are on the device at once.

  static double phase(int wave, double dx, double dy) {
    return 0.02 * (wave + 1) * dx + 0.03 * (kWaves - wave) * dy;
  }
  /// With unit lengths, or as they are.
  static double squared_distance(const StencilOffset& offset, bool unit) {
    double sum = 0;
    for (int wave = 0; wave < kWaves; ++wave) {
      sum += 2 - 2 * std::cos(phase(wave, offset.dx, offset.dy));
    }
    return unit ? sum / kWaves : sum;
  }

  static std::vector<float> plane(const Grid& grid, int channel) {
    std::vector<float> plane;
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) {
        const double at = phase(channel / 2, x, y);
        plane.push_back(static_cast<float>(channel % 2 == 0 ? std::cos(at) : std::sin(at)));
      }
    }
    return plane;
  }
};

void check_features(Trial& trial, FeatureMeasure measure) {
  const BoundaryProblem boundary = drawn_boundary(trial);
  AffinityParameters parameters;
  parameters.radius = 3;
  parameters.feature_measure = measure;
  parameters.with_boundary = measure == FeatureMeasure::kCosine;
  const bool unit = measure == FeatureMeasure::kCosine;
  const FeatureSource features{
      Waves::kChannels,
      [&](int first, int count, std::size_t pitch, std::size_t offset, Buffer<float>& block) {
        for (int c = 0; c < count; ++c) {
          block.upload(Waves::plane(boundary.grid, first + c), c * pitch + offset);
        }
      }};
  const FeatureAffinity found =
      feature_affinity(trial.context(), boundary.on_device(trial.context()), features, parameters);
  // 0.15 of the larger distance of pixels three apart.
  const double scale = 0.15 * std::sqrt(std::max(Waves::squared_distance({3, 0}, unit),
                                                 Waves::squared_distance({0, 3}, unit)));
  // Features of about 1 are off by half a rounding each, and so are their differences.
  trial.expect_one("scale of features", found.scale, scale, (32 * scale + 8) * Trial::kEps);
  const Stencil stencil = affinity_stencil(parameters);
  const std::size_t pitch = found.matrix.shape.pitch;
  std::vector<double> expected =
      reference_affinity(boundary.grid, boundary.strength, boundary.valid, parameters);
  std::vector<double> allowed;
  const double inverse = 1 / (2 * found.scale * found.scale);
  for (std::size_t at = 0; at < expected.size(); ++at) {
    const double square = Waves::squared_distance(stencil.entries[at / pitch], unit);
    const double alone = std::exp(-square * inverse);
    if (expected[at] > 0) expected[at] = parameters.with_boundary ? expected[at] * alone : alone;
    // The exponent sums squares, each of which, and each partial sum, is rounded; and features
    // themselves are, so that a distance d is off by about eps sqrt(channels).
    const double roundings = (4.0 + Waves::kChannels) * (1 + square * inverse) +
                             8 * (4 * std::sqrt(square) + 1) * inverse;
    allowed.push_back(expected[at] * roundings * Trial::kEps + std::numeric_limits<float>::min());
  }
  trial.expect_within("affinity by features", found.matrix.values.download(), expected, allowed);
}

}  // namespace

std::vector<DeviceCheck> affinity_checks() {
  return {{"affinities, logistic",
           [](Trial& trial) { check_formula(trial, AffinityFormula::kLogistic); }},
          {"affinities, exponential",
           [](Trial& trial) { check_formula(trial, AffinityFormula::kExponential); }},
          {"affinities to every other pixel",
           [](Trial& trial) {
             const BoundaryProblem boundary = drawn_boundary(trial);
             check_kept_affinity(trial, boundary, {});
           }},
          {"normalized affinities",
           [](Trial& trial) { check_normalized_affinity(trial, drawn_boundary(trial), {}); }},
          {"affinities by features, by their angle",
           [](Trial& trial) { check_features(trial, FeatureMeasure::kCosine); }},
          {"affinities by features, by their distance",
           [](Trial& trial) { check_features(trial, FeatureMeasure::kGaussian); }}};
}

}  // namespace diacut
