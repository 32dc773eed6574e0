// Affinities from a boundary map and from features, and their normalization.
#include <algorithm>
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

/// Waves over the picture: the squared distance of the features of two pixels depends on their
/// offset alone.
class Waves final : public FeatureSource {
 public:
  static constexpr int kWaves = 10;
  static constexpr int kChannels = 2 * kWaves;  ///< More than are on the device at once.

  explicit Waves(const Grid& grid) : grid_(grid) {}

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

  int channels() const override { return kChannels; }
  void load(int first, int count, std::size_t pitch, std::size_t offset,
            Buffer<float>& block) override {
    for (int c = 0; c < count; ++c) {
      std::vector<float> plane;
      for (int y = 0; y < grid_.height; ++y) {
        for (int x = 0; x < grid_.stride; ++x) {
          const double at = phase((first + c) / 2, x, y);
          plane.push_back(static_cast<float>((first + c) % 2 == 0 ? std::cos(at) : std::sin(at)));
        }
      }
      block.upload(plane, static_cast<std::size_t>(c) * pitch + offset);
    }
  }

 private:
  Grid grid_;
};

void check_features(Trial& trial, FeatureMeasure measure) {
  const Boundary boundary(trial);
  AffinityParameters parameters;
  parameters.radius = 3;
  parameters.feature_measure = measure;
  parameters.with_boundary = measure == FeatureMeasure::kCosine;
  const bool unit = measure == FeatureMeasure::kCosine;
  Waves features(boundary.grid);
  const FeatureAffinity found =
      feature_affinity(trial.context(), boundary.on_device(trial), features, parameters);
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
           [](Trial& trial) { check_kept_affinity(trial, AffinityParameters()); }},
          {"normalized affinities", [](Trial& trial) { check_normalized_affinity(trial, {}); }},
          {"affinities by features, by their angle",
           [](Trial& trial) { check_features(trial, FeatureMeasure::kCosine); }},
          {"affinities by features, by their distance",
           [](Trial& trial) { check_features(trial, FeatureMeasure::kGaussian); }}};
}

}  // namespace diacut
