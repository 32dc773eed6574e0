// Affinities: the known answers of lib/judge/doctor at awkward sizes.
#include "affinity/affinity.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "block_problem.hpp"
#include "doctor/checks.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

AffinityParameters affinity_parameters(int radius, AffinityFormula formula,
                                       double scale = AffinityParameters{}.scale) {
  AffinityParameters parameters;
  parameters.radius = radius;
  parameters.formula = formula;
  parameters.scale = scale;
  return parameters;
}

class Affinity : public GuardedTest {
 protected:
  /// Every pixel has data.
  BoundaryProblem random_boundary(int width, int height) {
    const Grid grid{width, height};
    return {grid, trial_.uniform(grid.rows())};
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
  for (const auto& [width, height] : sizes) {
    for (const int radius : {1, 2, 3, 5, 7, 10}) {
      for (const auto formula : {AffinityFormula::kLogistic, AffinityFormula::kExponential}) {
        expect_matches_reference(random_boundary(width, height),
                                 affinity_parameters(radius, formula));
      }
    }
  }
}

TEST_F(Affinity, MatchesTheReferenceAtOtherScales) {
  const BoundaryProblem host = random_boundary(40, 20);
  for (const double scale : {0.005, 0.02, 0.5, 3.0}) {
    for (const auto formula : {AffinityFormula::kLogistic, AffinityFormula::kExponential}) {
      expect_matches_reference(host, affinity_parameters(3, formula, scale));
    }
  }
}

// Small enough for a simulated device that watches every access.
class TinyAffinity : public Affinity {};

TEST_F(TinyAffinity, MatchesTheReference) {
  BoundaryProblem host = random_boundary(6, 5);
  host.hide(host.element(3, 2));
  for (const auto formula : {AffinityFormula::kLogistic, AffinityFormula::kExponential}) {
    expect_matches_reference(host, affinity_parameters(3, formula));
    expect_matches_reference(random_boundary(1, 3), affinity_parameters(2, formula));
  }
}

TEST_F(Affinity, PixelsWithoutDataHaveNoAffinity) {
  const AffinityParameters parameters = affinity_parameters(5, AffinityFormula::kLogistic);
  BoundaryProblem island = random_boundary(33, 21);
  for (int y = 0; y < 21; ++y) {
    for (int x = 0; x < 33; ++x) {
      const bool first = x < 9 && y < 8;
      const bool second = x > 20 && y > 12;
      const bool alone = x == 15 && y == 10;
      if (!first && !second && !alone) island.hide(island.element(x, y));
    }
  }
  expect_matches_reference(island, parameters);

  BoundaryProblem holes = random_boundary(33, 21);
  const std::vector<float> lots = trial_.uniform(holes.grid.rows());
  for (std::size_t i = 0; i < lots.size(); ++i) {
    if (lots[i] < 0.25F) holes.hide(i);
  }
  expect_matches_reference(holes, parameters);

  BoundaryProblem one = random_boundary(9, 7);
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 9; ++x) {
      if (x != 4 || y != 3) one.hide(one.element(x, y));
    }
  }
  expect_matches_reference(one, parameters);
  one.hide(one.element(4, 3));
  expect_matches_reference(one, parameters);
}

class Normalize : public Affinity, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) context_.disable_fp64();
    if (GetParam() && !context_.fp64()) GTEST_SKIP() << "no double precision on this device";
  }

  void expect_matches_reference(int width, int height, int radius) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
    BoundaryProblem problem = random_boundary(width, height);
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

}  // namespace
}  // namespace diacut::testing
