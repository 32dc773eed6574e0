// Affinities from a boundary map and from features, and their normalization.
#include <cmath>
#include <limits>
#include <span>

#include "affinity/affinity.hpp"
#include "affinity/feature_affinity.hpp"
#include "affinity/kept_affinity.hpp"
#include "doctor/checks.hpp"

namespace diacut {

namespace {

/// A boundary map on a grid; some pixels have no data.
struct Boundary {
  Grid grid{37, 23, 40};
  std::vector<float> strength = std::vector<float>(grid.rows(), 0.0F);
  std::vector<std::uint8_t> valid = std::vector<std::uint8_t>(grid.rows(), 0);

  /// Mostly weak strength with strong lines, as in a photograph.
  explicit Boundary(Trial& trial) {
    const std::vector<float> drawn = trial.uniform(grid.rows());
    for (std::size_t i = 0; i < grid.rows(); ++i) {
      if (i % 40 >= 37 || i % 29 == 3) continue;
      strength[i] = drawn[i] > 0.9F ? drawn[i] : 0.2F * drawn[i] * drawn[i];
      valid[i] = 1;
    }
  }

  BoundaryMap on_device(Trial& trial) const {
    BoundaryMap map;
    map.grid = grid;
    map.values = trial.uploaded(strength);
    map.valid = trial.uploaded(valid);
    return map;
  }
};

}  // namespace

void check_affinity(Trial& trial, const AffinityParameters& parameters) {
  const Boundary boundary(trial);
  const DiaMatrix matrix = affinity_matrix(trial.context(), boundary.on_device(trial), parameters);
  const std::vector<double> expected =
      reference_affinity(boundary.grid, boundary.strength, boundary.valid, parameters);
  // The exponent is at most 1 / scale plus a few roundings of it; exp() is good to 3 units in the
  // last place (OpenCL 1.2, table 7.1), and what is below the least normal float may become 0.
  std::vector<double> allowed;
  for (const double value : expected) {
    allowed.push_back(value * Trial::kEps * (4 + 8 / parameters.scale) +
                      (value > 0 ? std::numeric_limits<float>::min() : 0));
  }
  trial.expect_within("affinity", matrix.values.download(), expected, allowed);
}

void check_kept_affinity(Trial& trial, const AffinityParameters& parameters) {
  const Boundary boundary(trial);
  const BoundaryMap map = boundary.on_device(trial);
  const KeptAffinity found = kept_affinity(trial.context(), {&map, 1}, parameters);
  const ReferenceKeptAffinity expected =
      reference_kept_affinity(boundary.grid, boundary.strength, boundary.valid, parameters);
  const PlaneGrid& cells = found.interpolation.cells;
  // As check_affinity(), and sums of at most 81 weights under a square root.
  const auto expect = [&](const char* what, const Buffer<float>& device,
                          const std::vector<double>& host) {
    const std::vector<float> values = device.download();
    for (std::size_t plane = 0; plane < host.size(); plane += cells.pitch) {
      const auto own = std::span(host).subspan(plane, cells.elements());
      std::vector<double> allowed;
      for (const double value : own) {
        allowed.push_back(value * Trial::kEps * (100 + 8 / parameters.scale));
      }
      trial.expect_within(what, std::span(values).subspan(plane, cells.elements()), own, allowed);
    }
  };
  expect("affinity to a kept pixel", found.interpolation.weights, expected.weights);
  expect("sum of affinities", found.interpolation.roots, expected.roots);
}

void check_normalized_affinity(Trial& trial, const AffinityParameters& parameters) {
  const Boundary boundary(trial);
  DiaMatrix matrix = affinity_matrix(trial.context(), boundary.on_device(trial), parameters);
  const HostDiaMatrix before = download(matrix);
  const NormalizedMatrix found =
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
}

namespace {

void check_formula(Trial& trial, AffinityFormula formula) {
  AffinityParameters parameters;
  parameters.formula = formula;
  check_affinity(trial, parameters);
}

/// Features that are in main memory, in planes of the grid's elements.
class DrawnFeatures final : public FeatureSource {
 public:
  static constexpr int kChannels = 20;  ///< More than are on the device at once.

  DrawnFeatures(Trial& trial, std::size_t rows)
      : rows_(rows), planes_(trial.normal(rows * kChannels)) {}

  const std::vector<float>& planes() const { return planes_; }
  int channels() const override { return kChannels; }
  void load(int first, int count, std::size_t pitch, std::size_t offset,
            Buffer<float>& block) override {
    for (int c = 0; c < count; ++c) {
      block.upload(std::span(planes_).subspan(static_cast<std::size_t>(first + c) * rows_, rows_),
                   static_cast<std::size_t>(c) * pitch + offset);
    }
  }

 private:
  std::size_t rows_;
  std::vector<float> planes_;
};

void check_features(Trial& trial, FeatureMeasure measure) {
  const Boundary boundary(trial);
  AffinityParameters parameters;
  parameters.radius = 3;
  parameters.feature_measure = measure;
  parameters.with_boundary = measure == FeatureMeasure::kCosine;
  DrawnFeatures features(trial, boundary.grid.rows());
  const FeatureAffinity found =
      feature_affinity(trial.context(), boundary.on_device(trial), features, parameters);
  const double scale = reference_feature_scale(
      boundary.grid, features.planes(), DrawnFeatures::kChannels, boundary.valid, parameters);
  trial.expect_one("scale of features", found.scale, scale, 32 * Trial::kEps * scale);
  const std::vector<double> expected =
      reference_feature_affinity(boundary.grid, features.planes(), DrawnFeatures::kChannels,
                                 boundary.strength, boundary.valid, parameters, found.scale);
  // The exponent sums squares, each of which, and each partial sum, is rounded; with unit lengths
  // each feature is a few times, an error of eps against 1, so of about eps d in d^2.
  const double inverse = 1 / (2 * found.scale * found.scale);
  std::vector<double> allowed;
  for (const double value : expected) {
    const double exponent = value > 0 ? -std::log(value) : 0;
    const double d = std::sqrt(exponent / inverse);
    const double roundings =
        (4.0 + DrawnFeatures::kChannels) * (1 + exponent) + 8 * (d + 1) * inverse;
    allowed.push_back(value * roundings * Trial::kEps + std::numeric_limits<float>::min());
  }
  trial.expect_within("affinity by features", found.matrix.values.download(), expected, allowed);
}

}  // namespace

std::vector<DeviceCheck> affinity_checks() {
  return {
      {"affinities, logistic",
       [](Trial& trial) { check_formula(trial, AffinityFormula::kLogistic); }},
      {"affinities, exponential",
       [](Trial& trial) { check_formula(trial, AffinityFormula::kExponential); }},
      {"normalized affinities", [](Trial& trial) { check_normalized_affinity(trial, {}); }, true},
      {"affinities by features, by their angle",
       [](Trial& trial) { check_features(trial, FeatureMeasure::kCosine); }},
      {"affinities by features, by their distance",
       [](Trial& trial) { check_features(trial, FeatureMeasure::kGaussian); }}};
}

}  // namespace diacut
