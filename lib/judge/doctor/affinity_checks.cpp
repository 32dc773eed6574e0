// Affinities from a boundary map and from features, and their normalization.
#include <Eigen/Core>
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

/// The features of each pixel as a column: as they are, or divided by their length.
Eigen::MatrixXd measured(const FeatureProblem& problem, const AffinityParameters& parameters) {
  const auto rows = static_cast<Eigen::Index>(problem.grid.rows());
  const Eigen::Map<const Eigen::MatrixXf> planes(problem.features.data(), rows, problem.channels);
  Eigen::MatrixXd columns = planes.transpose().cast<double>();
  for (Eigen::Index i = 0; i < rows; ++i) {
    if (parameters.feature_measure == FeatureMeasure::kCosine) columns.col(i).normalize();
  }
  return columns;
}

}  // namespace

/// A share of a quantile of the distances of pixels that are a radius apart.
double reference_feature_scale(const FeatureProblem& problem,
                               const AffinityParameters& parameters) {
  const Eigen::MatrixXd features = measured(problem, parameters);
  std::vector<double> distances;
  for (const bool across : {true, false}) {
    const int step = parameters.radius * (across ? 1 : problem.grid.width);
    for (Eigen::Index i = step; i < features.cols(); ++i) {
      if (across && i % problem.grid.width < step) continue;
      if (problem.valid[i] == 0 || problem.valid[i - step] == 0) continue;
      distances.push_back((features.col(i) - features.col(i - step)).norm());
    }
  }
  const auto place = static_cast<std::ptrdiff_t>(0.999 * static_cast<double>(distances.size() - 1));
  std::nth_element(distances.begin(), distances.begin() + place, distances.end());
  return 0.15 * distances[static_cast<std::size_t>(place)];
}

/// d^2 / (2 scale^2) sums `channels` squares; each term and partial sum is rounded once, and with
/// unit lengths each feature a few times, an error of eps against 1, so of about eps d in d^2.
FeatureAffinity check_feature_affinity(Trial& trial, const FeatureProblem& problem,
                                       const AffinityParameters& parameters) {
  FeatureAffinity found = feature_affinity(trial.context(), problem.on_device(trial.context()),
                                           problem.source(), parameters);
  const Eigen::MatrixXd features = measured(problem, parameters);
  const DiaShape& shape = found.matrix.shape;
  const double inverse = 1 / (2 * found.scale * found.scale);
  // 0 where there is no pair.
  std::vector<double> expected =
      reference_affinity(problem.grid, problem.strength, problem.valid, parameters);
  std::vector<double> allowed;
  for (std::size_t at = 0; at < expected.size(); ++at) {
    double exponent = 0;
    if (expected[at] > 0) {
      const auto row = static_cast<Eigen::Index>(at % shape.pitch);
      const Eigen::Index col = row + shape.offsets[at / shape.pitch];
      exponent = (features.col(row) - features.col(col)).squaredNorm() * inverse;
      if (parameters.with_boundary) exponent -= std::log(expected[at]);
      expected[at] = std::exp(-exponent);
    }
    const double d = std::sqrt(exponent / inverse);
    const double roundings = (4.0 + problem.channels) * (1 + exponent) + 8 * (d + 1) * inverse;
    allowed.push_back(expected[at] * roundings * Trial::kEps + std::numeric_limits<float>::min());
  }
  trial.expect_within("affinity by features", found.matrix.values.download(), expected, allowed);
  return found;
}

namespace {

void check_formula(Trial& trial, AffinityFormula formula) {
  AffinityParameters parameters;
  parameters.formula = formula;
  check_affinity(trial, drawn_boundary(trial), parameters);
}

void check_features(Trial& trial, FeatureMeasure measure) {
  constexpr int kChannels = 20;  // More than are on the device at once.
  const BoundaryProblem boundary = drawn_boundary(trial);
  const FeatureProblem problem{boundary, kChannels, trial.normal(boundary.grid.rows() * kChannels)};
  AffinityParameters parameters;
  parameters.radius = 3;
  parameters.feature_measure = measure;
  parameters.with_boundary = measure == FeatureMeasure::kCosine;
  const double scale = reference_feature_scale(problem, parameters);
  const FeatureAffinity found = check_feature_affinity(trial, problem, parameters);
  trial.expect_one("scale of features", found.scale, scale, (32 * scale + 8) * Trial::kEps);
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
