// Affinities: the known answers of lib/judge/doctor at awkward sizes, and what holds for any map.
#include "affinity/affinity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "doctor/checks.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

/// Every pixel has data.
BoundaryProblem random_boundary(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  const Grid grid{width, height};
  std::vector<float> drawn(grid.rows());
  for (float& each : drawn) each = uniform(random);
  return {grid, drawn};
}

AffinityParameters affinity_parameters(int radius, AffinityFormula formula,
                                       double scale = AffinityParameters{}.scale) {
  AffinityParameters parameters;
  parameters.radius = radius;
  parameters.formula = formula;
  parameters.scale = scale;
  return parameters;
}

/// To the bit.
void expect_symmetric(const HostDiaMatrix& matrix) {
  const auto rows = static_cast<std::int64_t>(matrix.shape.rows);
  for (std::size_t d = 0; d < matrix.shape.diagonals(); ++d) {
    const std::size_t opposite = matrix.shape.diagonals() - 1 - d;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t col = row + matrix.shape.offsets[d];
      const float value = matrix.values[d * matrix.shape.pitch + row];
      const bool inside = col >= 0 && col < rows;
      ASSERT_EQ(value, inside ? matrix.values[opposite * matrix.shape.pitch + col] : 0.0f);
    }
  }
}

class Affinity : public GuardedTest {
 protected:
  HostDiaMatrix affinity(const BoundaryProblem& problem, const AffinityParameters& parameters) {
    return download(affinity_matrix(context_, problem.on_device(context_), parameters));
  }
  NormalizedMatrix normalized(const BoundaryProblem& problem,
                              const AffinityParameters& parameters) {
    const DeviceBoundary boundary = problem.on_device(context_);
    return normalize(context_, Batch(boundary.grid),
                     affinity_matrix(context_, boundary, parameters), parameters);
  }

  void expect_matches_reference(const BoundaryProblem& problem,
                                const AffinityParameters& parameters) {
    SCOPED_TRACE(::testing::Message()
                 << problem.grid.width << "x" << problem.grid.height << " radius "
                 << parameters.radius << " formula " << static_cast<int>(parameters.formula)
                 << " scale " << parameters.scale);
    expect_right([&](Trial& trial) {
      const HostDiaMatrix matrix = check_affinity(trial, problem, parameters);
      EXPECT_EQ(matrix.shape, dia_shape(problem.grid, disc_stencil(parameters.radius)));
      expect_symmetric(matrix);
    });
  }
};

TEST_F(Affinity, MatchesTheReferenceAtAwkwardSizes) {
  const int sizes[][2] = {{1, 1},   {1, 2},    {2, 1},  {2, 2},   {1, 17},
                          {17, 1},  {3, 40},   {63, 3}, {64, 4},  {65, 5},
                          {37, 23}, {128, 11}, {5, 5},  {10, 10}, {11, 12}};
  unsigned seed = 0;
  for (const auto& [width, height] : sizes) {
    for (const int radius : {1, 2, 3, 5, 7, 10}) {
      for (const auto formula : {AffinityFormula::kLogistic, AffinityFormula::kExponential}) {
        expect_matches_reference(random_boundary(width, height, ++seed),
                                 affinity_parameters(radius, formula));
      }
    }
  }
}

TEST_F(Affinity, MatchesTheReferenceAtOtherScales) {
  const BoundaryProblem host = random_boundary(40, 20, 5);
  for (const double scale : {0.005, 0.02, 0.5, 3.0}) {
    for (const auto formula : {AffinityFormula::kLogistic, AffinityFormula::kExponential}) {
      expect_matches_reference(host, affinity_parameters(3, formula, scale));
    }
  }
}

// Small enough for a simulated device that watches every access.
class TinyAffinity : public Affinity {};

TEST_F(TinyAffinity, MatchesTheReference) {
  BoundaryProblem host = random_boundary(6, 5, 51);
  host.hide(host.element(3, 2));
  for (const auto formula : {AffinityFormula::kLogistic, AffinityFormula::kExponential}) {
    expect_matches_reference(host, affinity_parameters(3, formula));
    expect_matches_reference(random_boundary(1, 3, 52), affinity_parameters(2, formula));
  }
}

TEST_F(Affinity, PixelsWithoutDataHaveNoAffinity) {
  const AffinityParameters parameters = affinity_parameters(5, AffinityFormula::kLogistic);
  BoundaryProblem island = random_boundary(33, 21, 11);
  for (int y = 0; y < 21; ++y) {
    for (int x = 0; x < 33; ++x) {
      const bool first = x < 9 && y < 8;
      const bool second = x > 20 && y > 12;
      const bool alone = x == 15 && y == 10;
      if (!first && !second && !alone) island.hide(island.element(x, y));
    }
  }
  expect_matches_reference(island, parameters);

  BoundaryProblem holes = random_boundary(33, 21, 12);
  std::mt19937 random(13);
  for (int i = 0; i < 200; ++i) {
    holes.hide(holes.element(static_cast<int>(random() % 33), static_cast<int>(random() % 21)));
  }
  expect_matches_reference(holes, parameters);

  BoundaryProblem one = random_boundary(9, 7, 14);
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 9; ++x) {
      if (x != 4 || y != 3) one.hide(one.element(x, y));
    }
  }
  expect_matches_reference(one, parameters);
  const HostDiaMatrix matrix = affinity(one, parameters);
  double sum = 0;
  for (const float value : matrix.values) sum += value;
  EXPECT_EQ(sum, 1.0);
  EXPECT_EQ(matrix.values[40 * matrix.shape.pitch + one.element(4, 3)], 1.0f);

  one.hide(one.element(4, 3));
  expect_matches_reference(one, parameters);
}

// A wall between two halves: known without the reference.
TEST_F(Affinity, AWallSeparatesItsSides) {
  BoundaryProblem wall = random_boundary(21, 9, 1);
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 21; ++x) wall.strength[wall.element(x, y)] = x == 10 ? 0.5f : 0.0f;
  }
  const AffinityParameters parameters = affinity_parameters(5, AffinityFormula::kExponential);
  const HostDiaMatrix matrix = affinity(wall, parameters);
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

class Normalize : public Affinity, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) context_.disable_fp64();
    if (GetParam() && !context_.fp64()) GTEST_SKIP() << "no double precision on this device";
  }

  void expect_matches_reference(int width, int height, int radius) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
    BoundaryProblem problem = random_boundary(width, height, 17);
    for (int x = 0; width * height > 20 && x < width / 2; ++x) {
      problem.hide(problem.element(x, height / 2));
    }
    expect_right([&](Trial& trial) {
      const NormalizedMatrix result = check_normalized_affinity(
          trial, problem, affinity_parameters(radius, AffinityFormula::kLogistic));
      EXPECT_EQ(result.grid(), problem.grid);
      EXPECT_EQ(result.stencil().radius, radius);
      expect_symmetric(download(result.dia()));
    });
  }
};

class TinyNormalize : public Normalize {};

const auto kFormName = [](const auto& form) { return form.param ? "Double" : "Compensated"; };
INSTANTIATE_TEST_SUITE_P(BothSums, Normalize, ::testing::Bool(), kFormName);
INSTANTIATE_TEST_SUITE_P(BothSums, TinyNormalize, ::testing::Bool(), kFormName);

TEST_P(Normalize, MatchesTheReferenceAndStaysSymmetric) {
  expect_matches_reference(1, 1, 5);
  expect_matches_reference(1, 9, 5);
  expect_matches_reference(9, 1, 2);
  expect_matches_reference(2, 2, 1);
  expect_matches_reference(37, 23, 5);
  expect_matches_reference(64, 7, 10);
  expect_matches_reference(65, 9, 1);
}

TEST_P(TinyNormalize, MatchesTheReferenceAndStaysSymmetric) { expect_matches_reference(6, 5, 3); }

// A D^1/2 1 = D^1/2 1, the eigenvector that is known beforehand.
TEST_P(Normalize, TheRootOfTheDegreesIsAnEigenvector) {
  const NormalizedMatrix result =
      normalized(random_boundary(97, 61, 23), affinity_parameters(5, AffinityFormula::kLogistic));
  const std::vector<float> root = result.sqrt_degree().download();
  const std::vector<double> z(root.begin(), root.end());
  const std::vector<double> product = reference_matvec(download(result.dia()), z);
  for (std::size_t row = 0; row < z.size(); ++row) ASSERT_NEAR(product[row], z[row], 2e-6 * z[row]);
}

}  // namespace
}  // namespace diacut::testing
