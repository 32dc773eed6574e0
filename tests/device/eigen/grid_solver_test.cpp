// The solver by itself: products and eigenvectors of weights of one's own.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "answers/checks.hpp"
#include "diacut/errors.hpp"
#include "diacut/solver.hpp"
#include "refusal.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

/// The weights of a problem's matrix, rows of one diagonal after the other.
GridWeights weights_of(const BlockProblem& problem) {
  GridWeights weights{problem.grid.width, problem.grid.height, problem.stencil.radius, {}};
  for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
    const auto first = problem.matrix.values.begin() + static_cast<long>(d * problem.pitch());
    weights.values.insert(weights.values.end(), first, first + static_cast<long>(problem.rows()));
  }
  return weights;
}

TEST(GridSolver, MultipliesByEveryKernel) {
  const BlockProblem problem(37, 23, 5, 1);
  const GridWeights weights = weights_of(problem);
  std::vector<float> x(37 * 23);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const std::vector<double> expected = expected_product(problem.matrix, x).values;
  GridSolver solver(test_device());
  for (const MatvecKind kind :
       {MatvecKind::kAuto, MatvecKind::kNaive, MatvecKind::kVectorized, MatvecKind::kUnrolled}) {
    const std::vector<float> found = solver.load(weights, kind).multiply(x);
    ASSERT_EQ(found.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-4) << i;
  }
  EXPECT_THROW(solver.load(weights, MatvecKind::kSymmetric), ConfigError);
}

TEST(GridSolver, FindsEigenvectorsOfTheNormalizedCut) {
  GridSolver solver(test_device());
  for (const auto& [radius, kind] :
       {std::pair(2, SolverKind::kMultilevel), std::pair(2, SolverKind::kLanczos),
        std::pair(1, SolverKind::kAuto), std::pair(1, SolverKind::kLanczos)}) {
    const BlockProblem problem(64, 48, radius, 1);
    solver.load(weights_of(problem));
    const Eigenvectors found = solver.eigenvectors({.solver = kind, .vectors = 5});
    ASSERT_TRUE(found.report.converged);
    EXPECT_EQ(found.report.solver, kind == SolverKind::kLanczos ? "lanczos" : "multilevel");
    ASSERT_EQ(found.vectors.size(), 5U);
    for (std::size_t k = 0; k < 5; ++k) {
      // (D - W) y = lambda D y, y = z / sqrt(D).
      std::vector<float> y = found.vectors[k];
      for (std::size_t i = 0; i < y.size(); ++i) y[i] /= found.sqrt_degree[i];
      const std::vector<double> wy = expected_product(problem.matrix, y).values;
      double residual = 0;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double root = found.sqrt_degree[i];
        const double r = root * y[i] * (1 - found.values[k]) - wy[i] / root;
        residual += r * r;
      }
      EXPECT_LT(std::sqrt(residual), 1.1e-4) << k;
    }
  }
}

TEST(GridSolver, RefusesNumbersOfVectorsThatAreNone) {
  GridSolver solver(test_device());
  EXPECT_THROW(solver.eigenvectors(), ConfigError);
  solver.load(weights_of({20, 10, 1, 1}));
  for (const int vectors : {0, -3, 201}) {
    expect_refused<ConfigError>([&] { solver.eigenvectors({.vectors = vectors}); },
                                "expected 1 to 200");
  }
}

TEST(GridSolver, RefusesWeightsByTheirPixel) {
  GridSolver solver(test_device());
  const auto message = [&](const GridWeights& weights) {
    return message_of<InputError>([&] {
      solver.load(weights);
      solver.eigenvectors();
    });
  };
  const GridWeights good = weights_of({20, 10, 1, 1});
  GridWeights bad = good;
  bad.values.pop_back();
  EXPECT_THAT(message(bad), HasSubstr("999 weights, expected 1000"));
  struct Case {
    std::size_t at;
    float weight;
    const char* told;
  };
  for (const auto& [at, weight, told] :
       {Case{3 * 200 + 25, 2, "pixel (6, 1) has the weight"},  // Of (5, 1) to its right.
        {19, 1, "(19, -1), which lies outside the grid"},      // Of (19, 0) to the one above.
        {2 * 200, NAN, "pixel (0, 0) has the weight nan"},     // To itself.
        {2 * 200, -1, "eigenpairs() of diacut/sparse.hpp takes negative ones"}}) {
    bad = good;
    bad.values[at] = weight;
    EXPECT_THAT(message(bad), HasSubstr(told));
  }
  bad = good;
  bad.width = 0;
  EXPECT_THAT(message(bad), HasSubstr("0 x 10 pixels"));
  bad = good;
  std::fill(bad.values.begin(), bad.values.end(), 0.0F);
  EXPECT_NE(message(bad), "");
}

}  // namespace
}  // namespace diacut::testing
