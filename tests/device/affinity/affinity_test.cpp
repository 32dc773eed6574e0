#include "affinity/affinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>
#include <utility>

#include "affinity/affinity_kernels.hpp"
#include "guarded.hpp"
#include "support.hpp"

namespace diacut {
namespace {

struct HostBoundary {
  Grid grid;
  std::vector<float> strength;
  std::vector<std::uint8_t> valid;

  std::size_t element(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.stride) +
           static_cast<std::size_t>(x);
  }
};

// Mostly weak strength with strong lines, as in a photograph; every pixel has data.
HostBoundary random_boundary(int width, int height, int stride, unsigned seed) {
  HostBoundary result{{width, height, stride}, {}, {}};
  result.strength.assign(result.grid.rows(), 0.0f);
  result.valid.assign(result.grid.rows(), 0);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float u = uniform(random);
      result.strength[result.element(x, y)] = u > 0.9f ? u : 0.2f * u * u;
      result.valid[result.element(x, y)] = 1;
    }
  }
  return result;
}

void mask_out(HostBoundary& boundary, int x, int y) {
  boundary.strength[boundary.element(x, y)] = 0.0f;
  boundary.valid[boundary.element(x, y)] = 0;
}

BoundaryMap upload(Context& context, const HostBoundary& host) {
  BoundaryMap map;
  map.grid = host.grid;
  map.values = context.allocate<float>(host.strength.size(), "strength");
  map.valid = context.allocate<std::uint8_t>(host.valid.size(), "valid");
  map.values.upload(host.strength);
  map.valid.upload(host.valid);
  return map;
}

AffinityParameters affinity_parameters(int radius, AffinityFormula formula,
                                       double scale = AffinityParameters{}.scale) {
  AffinityParameters parameters;
  parameters.radius = radius;
  parameters.formula = formula;
  parameters.scale = scale;
  return parameters;
}

// Device against reference, every stored element; and symmetric to the bit.
void expect_matches_reference(Context& context, const HostBoundary& host,
                              const AffinityParameters& parameters) {
  SCOPED_TRACE(::testing::Message()
               << host.grid.width << "x" << host.grid.height << " stride " << host.grid.stride
               << " radius " << parameters.radius << " formula "
               << static_cast<int>(parameters.formula) << " scale " << parameters.scale);
  const std::vector<double> expected =
      reference_affinity(host.grid, host.strength, host.valid, parameters);
  const HostDiaMatrix matrix =
      download(affinity_matrix(context, upload(context, host), parameters));
  ASSERT_EQ(matrix.values.size(), expected.size());
  ASSERT_EQ(matrix.shape, dia_shape(host.grid, disc_stencil(parameters.radius)));

  // The exponent is at most 1 / scale plus a few roundings of it; exp() is good to 3 units in the
  // last place (OpenCL 1.2, table 7.1), and what is below the least normal float may become 0.
  constexpr double kEps = std::numeric_limits<float>::epsilon();
  const double relative = kEps * (4 + 8 / parameters.scale);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size() && wrong < 5; ++i) {
    const double allowed =
        expected[i] * relative + (expected[i] > 0 ? std::numeric_limits<float>::min() : 0);
    if (!(std::abs(matrix.values[i] - expected[i]) <= allowed)) {
      ADD_FAILURE() << "diagonal " << i / matrix.shape.pitch << " row " << i % matrix.shape.pitch
                    << ": " << matrix.values[i] << ", expected " << expected[i];
      ++wrong;
    }
  }

  const auto rows = static_cast<std::int64_t>(matrix.shape.rows);
  for (std::size_t d = 0; d < matrix.shape.diagonals(); ++d) {
    const std::size_t opposite = matrix.shape.diagonals() - 1 - d;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t col = row + matrix.shape.offsets[d];
      const float value = matrix.values[d * matrix.shape.pitch + row];
      if (col < 0 || col >= rows) {
        ASSERT_EQ(value, 0.0f);
      } else {
        ASSERT_EQ(value, matrix.values[opposite * matrix.shape.pitch + col]);
      }
    }
  }
}

class Affinity : public ::testing::Test {
 protected:
  Context context_{testing::test_device()};
};

TEST_F(Affinity, MatchesTheReferenceAtAwkwardSizes) {
  const int sizes[][2] = {{1, 1},   {1, 2},    {2, 1},  {2, 2},   {1, 17},
                          {17, 1},  {3, 40},   {63, 3}, {64, 4},  {65, 5},
                          {37, 23}, {128, 11}, {5, 5},  {10, 10}, {11, 12}};
  unsigned seed = 0;
  for (const auto& [width, height] : sizes) {
    for (const int radius : {1, 2, 5, 10}) {
      for (const auto formula : {AffinityFormula::kLogistic, AffinityFormula::kExponential}) {
        expect_matches_reference(context_, random_boundary(width, height, width, ++seed),
                                 affinity_parameters(radius, formula));
      }
    }
  }
}

TEST_F(Affinity, MatchesTheReferenceForEveryRadius) {
  for (int radius = 1; radius <= 10; ++radius) {
    expect_matches_reference(context_, random_boundary(31, 29, 31, 7),
                             affinity_parameters(radius, AffinityFormula::kLogistic));
  }
}

TEST_F(Affinity, MatchesTheReferenceWithAPaddedStride) {
  for (const int padding : {1, 3, 5, 64}) {
    for (const int width : {1, 2, 7, 63, 64, 70}) {
      expect_matches_reference(context_, random_boundary(width, 13, width + padding, 3),
                               affinity_parameters(5, AffinityFormula::kLogistic));
    }
  }
}

TEST_F(Affinity, MatchesTheReferenceAtOtherScales) {
  const HostBoundary host = random_boundary(40, 20, 40, 5);
  for (const double scale : {0.005, 0.02, 0.5, 3.0}) {
    for (const auto formula : {AffinityFormula::kLogistic, AffinityFormula::kExponential}) {
      expect_matches_reference(context_, host, affinity_parameters(3, formula, scale));
    }
  }
}

// Small enough for a simulated device that watches every access.
class TinyAffinity : public Affinity {};

TEST_F(TinyAffinity, MatchesTheReference) {
  HostBoundary host = random_boundary(6, 5, 8, 51);
  mask_out(host, 3, 2);
  for (const auto formula : {AffinityFormula::kLogistic, AffinityFormula::kExponential}) {
    expect_matches_reference(context_, host, affinity_parameters(3, formula));
    expect_matches_reference(context_, random_boundary(1, 3, 1, 52),
                             affinity_parameters(2, formula));
  }
}

TEST_F(Affinity, PixelsWithoutDataHaveNoAffinity) {
  const AffinityParameters parameters = affinity_parameters(5, AffinityFormula::kLogistic);
  HostBoundary island = random_boundary(33, 21, 36, 11);
  for (int y = 0; y < 21; ++y) {
    for (int x = 0; x < 33; ++x) {
      const bool first = x < 9 && y < 8;
      const bool second = x > 20 && y > 12;
      const bool alone = x == 15 && y == 10;
      if (!first && !second && !alone) mask_out(island, x, y);
    }
  }
  expect_matches_reference(context_, island, parameters);

  HostBoundary holes = random_boundary(33, 21, 33, 12);
  std::mt19937 random(13);
  for (int i = 0; i < 200; ++i) {
    mask_out(holes, static_cast<int>(random() % 33), static_cast<int>(random() % 21));
  }
  expect_matches_reference(context_, holes, parameters);

  HostBoundary one = random_boundary(9, 7, 9, 14);
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 9; ++x) {
      if (x != 4 || y != 3) mask_out(one, x, y);
    }
  }
  expect_matches_reference(context_, one, parameters);
  const HostDiaMatrix matrix =
      download(affinity_matrix(context_, upload(context_, one), parameters));
  double sum = 0;
  for (const float value : matrix.values) sum += value;
  EXPECT_EQ(sum, 1.0);
  EXPECT_EQ(matrix.values[40 * matrix.shape.pitch + one.element(4, 3)], 1.0f);

  mask_out(one, 4, 3);
  expect_matches_reference(context_, one, parameters);
}

TEST_F(Affinity, NoBoundaryGivesOneEverywhere) {
  HostBoundary flat = random_boundary(20, 15, 20, 1);
  std::fill(flat.strength.begin(), flat.strength.end(), 0.0f);
  const HostDiaMatrix matrix = download(affinity_matrix(
      context_, upload(context_, flat), affinity_parameters(4, AffinityFormula::kExponential)));
  const Stencil stencil = disc_stencil(4);
  for (std::size_t k = 0; k < stencil.size(); ++k) {
    for (int y = 0; y < 15; ++y) {
      for (int x = 0; x < 20; ++x) {
        const int to_x = x + stencil.entries[k].dx;
        const int to_y = y + stencil.entries[k].dy;
        const bool inside = to_x >= 0 && to_x < 20 && to_y >= 0 && to_y < 15;
        ASSERT_EQ(matrix.values[k * matrix.shape.pitch + flat.element(x, y)], inside ? 1.0f : 0.0f);
      }
    }
  }
}

// A wall between two halves: known without the reference.
TEST_F(Affinity, AWallSeparatesItsSides) {
  HostBoundary wall = random_boundary(21, 9, 21, 1);
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 21; ++x) wall.strength[wall.element(x, y)] = x == 10 ? 0.5f : 0.0f;
  }
  const AffinityParameters parameters = affinity_parameters(5, AffinityFormula::kExponential);
  const HostDiaMatrix matrix =
      download(affinity_matrix(context_, upload(context_, wall), parameters));
  const Stencil stencil = disc_stencil(5);
  for (std::size_t k = 0; k < stencil.size(); ++k) {
    if (k == stencil.centre()) continue;
    const auto [dx, dy] = stencil.entries[k];
    for (int x = 5; x < 16; ++x) {
      if (4 + dy < 0 || 4 + dy >= 9) continue;
      const bool crosses = (x <= 10 && x + dx >= 10) || (x >= 10 && x + dx <= 10);
      EXPECT_NEAR(matrix.values[k * matrix.shape.pitch + wall.element(x, 4)],
                  crosses ? std::exp(-5.0) : 1.0, 1e-6);
    }
  }
}

TEST_F(Affinity, TwoRunsGiveTheSameBytes) {
  const HostBoundary host = random_boundary(37, 11, 40, 2);
  const AffinityParameters parameters = affinity_parameters(5, AffinityFormula::kLogistic);
  const auto run = [&] {
    const BoundaryMap boundary = upload(context_, host);
    const NormalizedMatrix result =
        normalize(context_, Batch(boundary.grid), affinity_matrix(context_, boundary, parameters),
                  parameters);
    return std::pair(result.dia().values.download(), result.sqrt_degree().download());
  };
  const auto first = run();
  const auto again = run();
  EXPECT_EQ(
      0, std::memcmp(first.first.data(), again.first.data(), first.first.size() * sizeof(float)));
  EXPECT_EQ(0, std::memcmp(first.second.data(), again.second.data(),
                           first.second.size() * sizeof(float)));
}

// The kernels write every element of the matrix, also those that stand for no pair and those from
// the rows to the pitch, and nothing beyond; what they read lies within their buffers.
TEST_F(Affinity, KernelsWriteEveryElementAndStayWithinTheirBuffers) {
  for (const auto& [width, height, stride, radius] : {std::tuple{1, 1, 1, 1},
                                                      {1, 9, 1, 5},
                                                      {1, 9, 3, 2},
                                                      {9, 1, 9, 10},
                                                      {2, 2, 2, 2},
                                                      {37, 11, 40, 5},
                                                      {64, 8, 64, 3},
                                                      {65, 9, 65, 5},
                                                      {33, 31, 33, 5}}) {
    SCOPED_TRACE(::testing::Message()
                 << width << "x" << height << " stride " << stride << " radius " << radius);
    const HostBoundary host = random_boundary(width, height, stride, 19);
    const Stencil stencil = disc_stencil(radius);
    const DiaShape shape = dia_shape(host.grid, stencil);
    std::vector<ContourLine> lines;
    for (std::size_t k = stencil.centre() + 1; k < stencil.size(); ++k) {
      lines.push_back({k, bresenham(stencil.entries[k])});
    }
    testing::Guarded<float> boundary(context_, host.strength);
    testing::Guarded<std::uint8_t> valid(context_, host.valid);
    testing::Guarded<float> padded(context_, InterveningContour::padded_size(host.grid, radius));
    testing::Guarded<float> values(context_, shape.stored());
    auto offsets = context_.allocate<std::int64_t>(shape.offsets.size(), "offsets");
    offsets.upload(shape.offsets);

    InterveningContour contour(context_, host.grid, shape.pitch, stencil, lines);
    contour.launch(*boundary, *valid, *padded, *values);
    testing::expect_numbers(padded.values());
    AffinityWeigh(context_, stencil.size(), {false, 10.0f, 0.0f, 0.0f})
        .launch(*values, offsets, shape.rows, shape.pitch);
    const std::vector<float> weights = values.values();
    testing::expect_numbers(weights);

    testing::Guarded<float> root(context_, shape.rows);
    testing::Guarded<float> inverse(context_, shape.rows);
    launch_affinity_normalize(context_, *values, offsets, shape.rows, shape.pitch, *root, *inverse);
    testing::expect_numbers(values.values());
    testing::expect_numbers(root.values());
    testing::expect_numbers(inverse.values());
  }
}

class Normalize : public ::testing::TestWithParam<bool> {
 protected:
  Normalize() : context_(testing::test_device()) {
    if (!GetParam()) context_.disable_fp64();
  }
  void SetUp() override {
    if (GetParam() && !context_.fp64()) GTEST_SKIP() << "no double precision on this device";
  }

  void expect_matches_reference(int width, int height, int stride, int radius) {
    SCOPED_TRACE(::testing::Message()
                 << width << "x" << height << " stride " << stride << " radius " << radius);
    HostBoundary host = random_boundary(width, height, stride, 17);
    if (width * height > 20) {
      for (int x = 0; x < width / 2; ++x) mask_out(host, x, height / 2);
    }
    const AffinityParameters parameters = affinity_parameters(radius, AffinityFormula::kLogistic);
    const BoundaryMap boundary = upload(context_, host);
    DiaMatrix affinity = affinity_matrix(context_, boundary, parameters);
    const HostDiaMatrix w = download(affinity);
    const NormalizedMatrix result =
        normalize(context_, Batch(boundary.grid), std::move(affinity), parameters);
    EXPECT_EQ(result.grid(), host.grid);
    EXPECT_EQ(result.stencil().radius, radius);
    const HostDiaMatrix a = download(result.dia());
    const std::vector<float> root = result.sqrt_degree().download();
    ASSERT_EQ(root.size(), host.grid.rows());

    const std::vector<double> degree = reference_matvec(w, std::vector<double>(root.size(), 1.0));
    constexpr double kEps = std::numeric_limits<float>::epsilon();
    for (std::size_t row = 0; row < root.size(); ++row) {
      // sqrt() is good to 3 units in the last place; the sum, rounded once, adds a quarter.
      ASSERT_NEAR(root[row], std::sqrt(degree[row]), 4 * kEps * std::sqrt(degree[row]));
    }
    const auto rows = static_cast<std::int64_t>(a.shape.rows);
    for (std::size_t d = 0; d < a.shape.diagonals(); ++d) {
      const std::size_t opposite = a.shape.diagonals() - 1 - d;
      for (std::int64_t row = 0; row < static_cast<std::int64_t>(a.shape.pitch); ++row) {
        const std::int64_t col = row + a.shape.offsets[d];
        const float value = a.values[d * a.shape.pitch + row];
        if (row >= rows || col < 0 || col >= rows || !host.valid[row] || !host.valid[col]) {
          ASSERT_EQ(value, 0.0f);
          continue;
        }
        const double expected =
            w.values[d * w.shape.pitch + row] / std::sqrt(degree[row] * degree[col]);
        // Two roots, two inverses (2.5 units) and two products.
        ASSERT_NEAR(value, expected, 16 * kEps * expected);
        ASSERT_EQ(value, a.values[opposite * a.shape.pitch + col]);
      }
    }
  }

  Context context_;
};

class TinyNormalize : public Normalize {};

const auto kFormName = [](const auto& form) { return form.param ? "Double" : "Compensated"; };
INSTANTIATE_TEST_SUITE_P(BothSums, Normalize, ::testing::Bool(), kFormName);
INSTANTIATE_TEST_SUITE_P(BothSums, TinyNormalize, ::testing::Bool(), kFormName);

TEST_P(Normalize, MatchesTheReferenceAndStaysSymmetric) {
  expect_matches_reference(1, 1, 1, 5);
  expect_matches_reference(1, 9, 1, 5);
  expect_matches_reference(9, 1, 9, 2);
  expect_matches_reference(2, 2, 2, 1);
  expect_matches_reference(37, 23, 37, 5);
  expect_matches_reference(64, 7, 70, 10);
  expect_matches_reference(65, 9, 65, 1);
}

TEST_P(TinyNormalize, MatchesTheReferenceAndStaysSymmetric) {
  expect_matches_reference(6, 5, 8, 3);
}

// A D^1/2 1 = D^1/2 1, the eigenvector that is known beforehand.
TEST_P(Normalize, TheRootOfTheDegreesIsAnEigenvector) {
  const HostBoundary host = random_boundary(97, 61, 97, 23);
  const AffinityParameters parameters = affinity_parameters(5, AffinityFormula::kLogistic);
  const BoundaryMap boundary = upload(context_, host);
  const NormalizedMatrix result = normalize(
      context_, Batch(boundary.grid), affinity_matrix(context_, boundary, parameters), parameters);
  const std::vector<float> root = result.sqrt_degree().download();
  const std::vector<double> z(root.begin(), root.end());
  const std::vector<double> product = reference_matvec(download(result.dia()), z);
  for (std::size_t row = 0; row < z.size(); ++row) ASSERT_NEAR(product[row], z[row], 2e-6 * z[row]);
}

}  // namespace
}  // namespace diacut
