#include "eigen/eigensolver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "eigen_checks.hpp"
#include "eigen_problem.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

/// Which elements of an image are hidden: those where `hide(x, y)` holds.
template <class Hide>
std::vector<std::uint8_t> hidden_where(int width, int height, const Hide& hide) {
  std::vector<std::uint8_t> hidden;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) hidden.push_back(hide(x, y) ? 1 : 0);
  }
  return hidden;
}

using Eigensolver = EigensolverTest;

TEST_F(Eigensolver, FindsWhatADenseSolverFinds) {
  const std::vector<std::uint8_t> hole = hidden_where(
      31, 27, [](int x, int y) { return (x - 20) * (x - 20) + (y - 9) * (y - 9) < 40; });
  struct Case {
    int width, height, radius;
    std::vector<std::uint8_t> hidden;
    SolverKind solver = SolverKind::kAuto;
    int filter_degree = 0;
  };
  using enum SolverKind;
  const Case cases[] = {{41, 33, 5, {}},
                        {30, 23, 3, {}},
                        {29, 24, 2, {}},
                        {1, 601, 5, {}},
                        {603, 1, 5, {}},
                        {31, 27, 5, hole},
                        {30, 23, 3, {}, kLanczos},
                        {30, 23, 3, {}, kLanczos, 1},
                        {30, 23, 3, {}, kLanczos, 4}};
  for (const Case& each : cases) {
    SCOPED_TRACE(::testing::Message()
                 << each.width << "x" << each.height << " radius " << each.radius
                 << (each.hidden.empty() ? "" : ", masked") << ", degree " << each.filter_degree);
    const EigenProblem problem(each.width, each.height, each.radius, 0.1, each.hidden);
    const DeviceEigenvectors found = solved(problem, {.solver = each.solver,
                                                      .vectors = 9,
                                                      .tolerance = 1e-5,
                                                      .filter_degree = each.filter_degree});
    if (each.solver == kAuto) {
      EXPECT_EQ(found.report.solver, "multilevel");
      EXPECT_GT(found.report.levels, 1);
      EXPECT_GT(found.report.passes, 0);
      EXPECT_LT(found.report.passes, found.report.products);
    }
    ASSERT_EQ(found.count, 9);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(problem.dense());
    const Eigen::VectorXd values = exact.eigenvalues().reverse();
    for (int k = 0; k < 9; ++k) {
      // A Rayleigh quotient is off by the square of the residual over the gap, which is wider.
      EXPECT_NEAR(found.values[at_size(k)], 1 - values(k), 2e-6) << k;
    }
    // Davis and Kahan 1970.
    EXPECT_LT(subspace_sine(exact.eigenvectors().rightCols(9), host_vectors(found)),
              3 * 1e-5 / (values(8) - values(9)) + 1e-5);
  }
}

// A stencil of discs of several strides: coarser grids have other stencils.
TEST_F(Eigensolver, StridesGoThroughTheMultilevelSolver) {
  for (const std::vector<int>& strides : {std::vector<int>{1, 2, 4}, {1, 3}}) {
    const EigenProblem problem(97, 61, 5, 0.1, {}, strides);
    EigenParameters parameters{.solver = SolverKind::kLanczos, .vectors = 7, .tolerance = 1e-5};
    const DeviceEigenvectors exact = solved(problem, parameters);
    parameters.solver = SolverKind::kMultilevel;
    const DeviceEigenvectors found = solved(problem, parameters);
    EXPECT_EQ(found.report.solver, "multilevel");
    // The first four are the quadrants; those that follow are closer to each other.
    EXPECT_LT(subspace_sine(host_vectors(exact).leftCols(4), host_vectors(found).leftCols(4)),
              1e-3);
    for (std::size_t k = 0; k < 7; ++k) {
      EXPECT_NEAR(found.values[k], exact.values[k], 1e-6) << k;
    }
  }
}

/// What each of the project's own solvers does.
class EachEigensolver : public EigensolverTest, public ::testing::WithParamInterface<SolverKind> {
 protected:
  DeviceEigenvectors found_by_it(const EigenProblem& problem) {
    DeviceEigenvectors found = solved(problem, parameters_);
    EXPECT_EQ(found.report.solver, GetParam() == SolverKind::kLanczos ? "lanczos" : "multilevel");
    return found;
  }

  EigenParameters parameters_{.solver = GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Solvers, EachEigensolver,
                         ::testing::Values(SolverKind::kMultilevel, SolverKind::kLanczos),
                         [](const auto& each) {
                           return std::string(each.param == SolverKind::kLanczos ? "Lanczos"
                                                                                 : "Multilevel");
                         });

TEST_P(EachEigensolver, WorksWithoutDoublePrecision) {
  const EigenProblem problem(48, 31, 4);
  parameters_.vectors = 7;
  const DeviceEigenvectors with = found_by_it(problem);
  context_.disable_fp64();
  const DeviceEigenvectors without = found_by_it(problem);
  for (int k = 0; k < 7; ++k) EXPECT_NEAR(with.values[k], without.values[k], 1e-7);
}

TEST_P(EachEigensolver, FindsEveryCopyOfADegenerateEigenvalue) {
  // Squares of equal grey that no affinity connects: each has a vector of the eigenvalue 0, and
  // every other one comes in copies too. Of 50 squares not all vectors are asked for.
  struct Squares {
    int width, height, radius, period, side, copies;
  };
  for (const Squares& each : {Squares{59, 44, 3, 15, 10, 12}, {119, 59, 4, 12, 7, 17}}) {
    SCOPED_TRACE(each.width);
    const EigenProblem problem(each.width, each.height, each.radius, 0.0,
                               hidden_where(each.width, each.height, [&](int x, int y) {
                                 return x % each.period >= each.side ||
                                        y % each.period >= each.side;
                               }));
    const DeviceEigenvectors found = found_by_it(problem);
    ASSERT_EQ(found.count, 17);
    for (int k = 0; k < each.copies; ++k) EXPECT_NEAR(found.values[k], 0, 1e-6) << k;
    for (int k = each.copies; k < 17; ++k) EXPECT_GT(found.values[k], 1e-4) << k;
  }
}

TEST_F(Eigensolver, TinyImagesHaveAsManyVectorsAsPixels) {
  for (const auto& [width, height, vectors] : {std::tuple(1, 1, 17),
                                               {1, 7, 17},
                                               {7, 1, 17},
                                               {2, 2, 17},
                                               {3, 5, 17},
                                               {20, 19, 17},
                                               {21, 13, 300}}) {
    const EigenProblem problem(width, height, 5);
    const DeviceEigenvectors found = solve(context_, problem, {.vectors = vectors});
    EXPECT_EQ(found.count, std::min(vectors, width * height));
    EXPECT_TRUE(found.report.converged);
    expect_sound(problem, found, 1e-6);
  }
}

TEST_F(Eigensolver, SaysWhenItDoesNotConverge) {
  const EigenProblem problem(97, 61, 5);
  EigenParameters parameters;
  parameters.max_products = 60;
  parameters.tolerance = 1e-6;  // Not to be reached in one iteration of the multilevel solver.
  for (SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos, SolverKind::kSpectra}) {
    parameters.solver = solver;
    const DeviceEigenvectors found = solve(context_, problem, parameters);
    EXPECT_FALSE(found.report.converged);
    EXPECT_GE(found.count, 1);
    EXPECT_EQ(found.values.size(), static_cast<std::size_t>(found.count));
  }
}

TEST_F(Eigensolver, MultilevelFindsTheEigenspacesOfASquare) {
  // Eigenvalues in pairs, by symmetry.
  const CosineProblem square(40, 40, disc_stencil(5));
  const DeviceEigenvectors found = solved(square, {});
  EXPECT_EQ(found.report.solver, "multilevel");
  ASSERT_EQ(found.count, 17);
  for (std::size_t k = 0; k < 17; ++k) EXPECT_NEAR(found.values[k], square.values[k], 1e-4) << k;
  EXPECT_NEAR(found.values[1], found.values[2], 1e-6);
}

TEST_F(Eigensolver, WhatCannotBeCoarsenedGoesToLanczos) {
  const EigenProblem short_hops(40, 31, 1);
  for (const bool compressed : {false, true}) {
    EXPECT_EQ(solved(short_hops, {}, compressed).report.solver, "lanczos");
  }
  // A pixel of its own, in no kept column.
  const EigenProblem island(48, 40, 4, 0.1, hidden_where(48, 40, [](int x, int y) {
                              return x >= 40 && !(x == 45 && y == 21);
                            }));
  const DeviceEigenvectors found = solved(island, {});
  EXPECT_EQ(found.report.solver, "lanczos");
  EXPECT_NEAR(found.values[1], 0, 1e-6);  // The pixel's own.
  EXPECT_GT(found.values[2], 1e-6);
}

TEST_F(Eigensolver, WeightsThatUnderflowLeaveARightAnswer) {
  // A column of pixels whose affinities to all others are too small for a float.
  EigenProblem problem(45, 37, 5);
  const Eigen::VectorXd roots =
      Eigen::Map<const Eigen::VectorXf>(problem.sqrt_degree.data(), 45 * 37).cast<double>();
  Eigen::MatrixXd weights = roots.asDiagonal() * problem.dense() * roots.asDiagonal();
  for (int i = 0; i < weights.rows(); ++i) {
    for (int j = 0; j < weights.cols(); ++j) {
      if ((i % 45 == 21) != (j % 45 == 21)) weights(i, j) = 0;
    }
  }
  const Eigen::VectorXd degrees = weights.rowwise().sum();
  for (int i = 0; i < weights.rows(); ++i) {
    problem.sqrt_degree[at_size(i)] = static_cast<float>(std::sqrt(degrees(i)));
    for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
      const auto j = static_cast<int>(i + problem.matrix.shape.offsets[d]);
      float& entry = problem.entry(d, at_size(i));
      if (entry != 0) {
        entry = static_cast<float>(weights(i, j) / std::sqrt(degrees(i) * degrees(j)));
      }
    }
  }
  const DeviceEigenvectors found = solved(problem, {});
  EXPECT_EQ(found.report.solver, "lanczos");  // No kept pixel is near an odd column of its own.
  // Two pieces: the column, and both sides, which reach each other across it.
  EXPECT_NEAR(found.values[1], 0, 1e-6);
  EXPECT_GT(found.values[2], 1e-6);
}

TEST_F(Eigensolver, ReportsNameTheProductThatRan) {
  const EigenProblem problem(64, 50, 5);
  const auto ran = [&](SolverKind solver, MatrixForm form) {
    NormalizedMatrix matrix = matrix_of(context_, problem);
    SolverParameters parameters{{}, {MatvecKind::kNaive, MatvecStorage::kAuto, {}}, form};
    parameters.eigen.solver = solver;
    return eigenvectors(context_, matrix, parameters).front().report.matvec;
  };
  EXPECT_EQ(ran(SolverKind::kMultilevel, MatrixForm::kDia), "block");
  EXPECT_EQ(ran(SolverKind::kMultilevel, MatrixForm::kCompressed), "block half");
  EXPECT_EQ(ran(SolverKind::kLanczos, MatrixForm::kDia), "naive");
  EXPECT_EQ(ran(SolverKind::kLanczos, MatrixForm::kCompressed), "symmetric half");
}

TEST_F(Eigensolver, ABatchHasOneResultForEachImageOrNone) {
  SolverParameters parameters;
  const Grid image{64, 50};
  const Stencil stencil = disc_stencil(5);
  const Batch batch = batch_for(image, 2, stencil, parameters.eigen).value();
  std::vector<std::uint8_t> hidden(batch.grid().rows(), 0);
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    hidden[i] = i % batch.segment() >= image.rows();
  }
  const EigenProblem problem(64, 2 * batch.height, 5, 0.1, hidden);
  auto sqrt_degree = context_.allocate<float>(problem.sqrt_degree.size(), "a vector");
  sqrt_degree.upload(problem.sqrt_degree);
  NormalizedMatrix matrix(batch, stencil, upload(context_, problem.matrix).values,
                          std::move(sqrt_degree));
  const std::vector<DeviceEigenvectors> found = eigenvectors(context_, matrix, parameters);
  ASSERT_EQ(found.size(), 2U);
  for (const DeviceEigenvectors& each : found) {
    EXPECT_TRUE(each.report.converged);
    EXPECT_EQ(each.rows, image.rows());
    ASSERT_EQ(each.count, 17);
    EXPECT_EQ(each.values.front(), 0);
  }
  // Each image is a part of the scene with noise of its own.
  EXPECT_NE(found[0].basis.download(), found[1].basis.download());
  const Eigenvectors second = to_host(found[1], matrix, 1);
  EXPECT_EQ(second.sqrt_degree.front(), problem.sqrt_degree[batch.segment()]);
  parameters.eigen.max_products = 60;
  parameters.eigen.tolerance = 1e-6;
  EXPECT_TRUE(eigenvectors(context_, matrix, parameters).empty());
}

TEST_F(Eigensolver, ADeviceThatRunsOutOfMemoryHalfWayIsADeviceError) {
  const EigenProblem problem(90, 70, 5);
  NormalizedMatrix matrix = matrix_of(context_, problem);
  const auto run = [&] { return std::move(eigenvectors(context_, matrix, {}).front()); };
  context_.reset_memory_peak();
  const std::uint64_t before = context_.memory_in_use();
  const DeviceEigenvectors whole = run();
  const std::uint64_t need = context_.memory_peak() - before;
  for (const double share : {0.02, 0.3, 0.6, 0.9, 0.999}) {
    context_.limit_memory(context_.memory_in_use() +
                          static_cast<std::uint64_t>(share * static_cast<double>(need)));
    EXPECT_THROW(run(), DeviceError) << share;
  }
  context_.limit_memory(0);
  EXPECT_EQ(run().basis.download(), whole.basis.download());  // And the device still works.
}

TEST_F(Eigensolver, RefusesNaN) {
  EigenProblem problem(64, 50, 2);
  problem.matrix.values[6 * problem.matrix.shape.pitch + 1000] = NAN;
  EXPECT_THROW(solve(context_, problem, {}), NumericalError);
}

TEST_F(Eigensolver, StopsWhenAsked) {
  const EigenProblem problem(64, 50, 5);
  NormalizedMatrix matrix = matrix_of(context_, problem);
  CancelToken cancel;
  Watch watch;
  watch.cancel = &cancel;
  watch.progress = [&](std::string_view, double share) {
    if (share > 0) cancel.cancel();
  };
  EXPECT_THROW(eigenvectors(context_, matrix, {}, watch), CancelledError);
}

}  // namespace
}  // namespace diacut::testing
