#include "eigen/eigensolver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <tuple>
#include <utility>

#include "eigen_checks.hpp"
#include "eigen_problem.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

TEST(Eigensolver, LanczosFindsWhatADenseSolverFinds) {
  Context context(test_device());
  const EigenProblem problem(30, 23, 3);
  EigenParameters parameters;
  parameters.vectors = 9;
  parameters.tolerance = 1e-5;
  parameters.solver = SolverKind::kLanczos;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(problem.dense());
  for (int degree : {0, 1, 4}) {
    parameters.filter_degree = degree;
    const DeviceEigenvectors found = solve(context, problem, parameters);
    EXPECT_TRUE(found.report.converged);
    ASSERT_EQ(found.count, 9);
    expect_sound(problem, found, 1e-5);
    for (int k = 0; k < 9; ++k) {
      const double lambda = 1 - exact.eigenvalues()(exact.eigenvalues().size() - 1 - k);
      EXPECT_NEAR(found.values[k], lambda, 2e-6) << "degree " << degree << " vector " << k;
    }
    EXPECT_LT(subspace_sine(exact.eigenvectors().rightCols(9), host_vectors(found)), 1e-2);
  }
}

// A stencil of discs of several strides: coarser grids have other stencils.
TEST(Eigensolver, StridesGoThroughTheMultilevelSolver) {
  Context context(test_device());
  for (const std::vector<int>& strides : {std::vector<int>{1, 2, 4}, {1, 3}}) {
    const EigenProblem problem(97, 61, 5, 0.1, {}, strides);
    EigenParameters parameters;
    parameters.vectors = 7;
    parameters.tolerance = 1e-5;
    parameters.solver = SolverKind::kLanczos;
    const DeviceEigenvectors exact = solve(context, problem, parameters);
    ASSERT_TRUE(exact.report.converged);
    expect_sound(problem, exact, 1e-5);
    parameters.solver = SolverKind::kMultilevel;
    const DeviceEigenvectors found = solve(context, problem, parameters);
    EXPECT_EQ(found.report.solver, "multilevel");
    EXPECT_TRUE(found.report.converged);
    expect_sound(problem, found, 1e-5);
    // The first four are the quadrants; those that follow are closer to each other.
    EXPECT_LT(subspace_sine(host_vectors(exact).leftCols(4), host_vectors(found).leftCols(4)),
              1e-3);
    for (std::size_t k = 0; k < 7; ++k) {
      EXPECT_NEAR(found.values[k], exact.values[k], 1e-6) << k;
    }
  }
}

TEST(Eigensolver, LanczosAndSpectraAgree) {
  Context context(test_device());
  const EigenProblem problem(97, 61, 5);
  EigenParameters parameters;
  parameters.tolerance = 1e-5;
  parameters.solver = SolverKind::kLanczos;
  const DeviceEigenvectors ours = solve(context, problem, parameters);
  parameters.solver = SolverKind::kSpectra;
  const DeviceEigenvectors theirs = solve(context, problem, parameters);
  EXPECT_TRUE(ours.report.converged);
  EXPECT_TRUE(theirs.report.converged);
  ASSERT_EQ(ours.count, 17);
  ASSERT_EQ(theirs.count, 17);
  expect_sound(problem, ours, 1e-5);
  expect_sound(problem, theirs, 1e-5);
  for (int k = 0; k < 17; ++k) EXPECT_NEAR(ours.values[k], theirs.values[k], 1e-6);
  EXPECT_LT(subspace_sine(host_vectors(theirs), host_vectors(ours)), 2e-2);
}

TEST(Eigensolver, WorksWithoutDoublePrecision) {
  Context context(test_device());
  const EigenProblem problem(48, 31, 4);
  for (const SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos}) {
    Context compensated(test_device());
    compensated.disable_fp64();
    EigenParameters parameters;
    parameters.solver = solver;
    parameters.vectors = 7;
    const DeviceEigenvectors with = solve(context, problem, parameters);
    const DeviceEigenvectors without = solve(compensated, problem, parameters);
    EXPECT_EQ(without.report.solver, with.report.solver);
    EXPECT_TRUE(without.report.converged);
    expect_sound(problem, without, 1e-4);
    for (int k = 0; k < 7; ++k) EXPECT_NEAR(with.values[k], without.values[k], 1e-7);
  }
}

TEST(Eigensolver, ElementsWithoutDataStayZero) {
  Context context(test_device());
  std::vector<std::uint8_t> hidden(std::size_t{60} * 40, 0);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 60; ++x) hidden[y * 60 + x] = x < 7 || (x - 30) * (x - 30) + y * y < 90;
  }
  const EigenProblem problem(60, 40, 5, 0.1, hidden);
  for (const SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos}) {
    EigenParameters parameters;
    parameters.solver = solver;
    const DeviceEigenvectors found = solve(context, problem, parameters);
    EXPECT_EQ(found.report.solver, solver == SolverKind::kMultilevel ? "multilevel" : "lanczos");
    EXPECT_TRUE(found.report.converged);
    expect_sound(problem, found, 1e-4);
  }
}

TEST(Eigensolver, TinyImagesHaveAsManyVectorsAsPixels) {
  Context context(test_device());
  for (const auto& [width, height] : {std::pair(1, 1), {1, 7}, {7, 1}, {2, 2}, {3, 5}, {20, 19}}) {
    const EigenProblem problem(width, height, 5);
    const DeviceEigenvectors found = solve(context, problem, {});
    EXPECT_EQ(found.count, std::min(17, width * height));
    EXPECT_TRUE(found.report.converged);
    expect_sound(problem, found, 1e-6);
  }
}

TEST(Eigensolver, FindsEveryCopyOfADegenerateEigenvalue) {
  // 12 squares of equal grey that no affinity connects: the eigenvalue 0 has 12 vectors, and every
  // other one comes in copies too.
  Context context(test_device());
  std::vector<std::uint8_t> hidden(std::size_t{59} * 44, 1);
  for (int y = 0; y < 44; ++y) {
    for (int x = 0; x < 59; ++x) hidden[y * 59 + x] = x % 15 >= 10 || y % 15 >= 10;
  }
  const EigenProblem problem(59, 44, 3, 0.0, hidden);
  for (const SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos}) {
    EigenParameters parameters;
    parameters.solver = solver;
    const DeviceEigenvectors found = solve(context, problem, parameters);
    EXPECT_EQ(found.report.solver, solver == SolverKind::kMultilevel ? "multilevel" : "lanczos");
    EXPECT_TRUE(found.report.converged);
    expect_sound(problem, found, 1e-4);
    ASSERT_EQ(found.count, 17);
    for (int k = 0; k < 12; ++k) EXPECT_NEAR(found.values[k], 0, 1e-6) << k;
    for (int k = 12; k < 17; ++k) EXPECT_GT(found.values[k], 1e-4) << k;
  }
}

TEST(Eigensolver, SaysWhenItDoesNotConverge) {
  Context context(test_device());
  const EigenProblem problem(97, 61, 5);
  EigenParameters parameters;
  parameters.max_products = 60;
  parameters.tolerance = 1e-6;  // Not to be reached in one iteration of the multilevel solver.
  for (SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos, SolverKind::kSpectra}) {
    parameters.solver = solver;
    const DeviceEigenvectors found = solve(context, problem, parameters);
    EXPECT_FALSE(found.report.converged);
    EXPECT_GE(found.count, 1);
    EXPECT_EQ(found.values.size(), static_cast<std::size_t>(found.count));
  }
}

TEST(Eigensolver, SameBytesTwice) {
  Context context(test_device());
  const EigenProblem problem(64, 50, 5);
  for (const SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos}) {
    EigenParameters parameters;
    parameters.solver = solver;
    EXPECT_EQ(solve(context, problem, parameters).basis.download(),
              solve(context, problem, parameters).basis.download());
  }
}

TEST(Eigensolver, MultilevelFindsWhatADenseSolverFinds) {
  Context context(test_device());
  std::vector<std::uint8_t> hole(std::size_t{31} * 27, 0);
  for (int y = 0; y < 27; ++y) {
    for (int x = 0; x < 31; ++x) hole[y * 31 + x] = (x - 20) * (x - 20) + (y - 9) * (y - 9) < 40;
  }
  struct Case {
    int width, height, radius;
    std::vector<std::uint8_t> hidden;
  };
  const Case cases[] = {{41, 33, 5, {}}, {30, 23, 3, {}}, {29, 24, 2, {}},
                        {1, 601, 5, {}}, {603, 1, 5, {}}, {31, 27, 5, hole}};
  for (const Case& each : cases) {
    SCOPED_TRACE(::testing::Message() << each.width << "x" << each.height << " radius "
                                      << each.radius << (each.hidden.empty() ? "" : ", masked"));
    const EigenProblem problem(each.width, each.height, each.radius, 0.1, each.hidden);
    EigenParameters parameters;
    parameters.vectors = 9;
    parameters.tolerance = 1e-5;
    const DeviceEigenvectors found = solve(context, problem, parameters);
    EXPECT_EQ(found.report.solver, "multilevel");
    EXPECT_GT(found.report.levels, 1);
    EXPECT_GT(found.report.passes, 0);
    EXPECT_LT(found.report.passes, found.report.products);
    EXPECT_TRUE(found.report.converged);
    ASSERT_EQ(found.count, 9);
    expect_sound(problem, found, 1e-5);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(problem.dense());
    const Eigen::VectorXd& values = exact.eigenvalues();
    for (int k = 0; k < 9; ++k) {
      // A Rayleigh quotient is off by the square of the residual over the gap, which is wider.
      EXPECT_NEAR(found.values[k], 1 - values(values.size() - 1 - k), 2e-6) << k;
    }
    // Davis and Kahan 1970.
    const double gap = values(values.size() - 9) - values(values.size() - 10);
    EXPECT_LT(subspace_sine(exact.eigenvectors().rightCols(9), host_vectors(found)),
              3 * 1e-5 / gap + 1e-5);
  }
}

TEST(Eigensolver, MultilevelFindsTheEigenspacesOfAFlatImage) {
  // A square of one grey: eigenvalues in pairs, by symmetry.
  Context context(test_device());
  EigenProblem flat(40, 40, 5, 0.0);
  std::vector<double> degree;
  const Eigen::MatrixXd dense = flat.dense();
  for (const auto& row : dense.rowwise()) {
    degree.push_back(static_cast<double>((row.array() > 0).count()));
  }
  for (std::size_t d = 0; d < flat.matrix.shape.diagonals(); ++d) {
    for (std::size_t i = 0; i < flat.matrix.shape.rows; ++i) {
      float& value = flat.matrix.values[d * flat.matrix.shape.pitch + i];
      const auto j =
          static_cast<std::size_t>(static_cast<std::int64_t>(i) + flat.matrix.shape.offsets[d]);
      if (value > 0) value = static_cast<float>(1 / std::sqrt(degree[i] * degree[j]));
    }
  }
  for (std::size_t i = 0; i < degree.size(); ++i) {
    flat.sqrt_degree[i] = static_cast<float>(std::sqrt(degree[i]));
  }
  const DeviceEigenvectors found = solve(context, flat, {});
  EXPECT_EQ(found.report.solver, "multilevel");
  EXPECT_TRUE(found.report.converged);
  expect_sound(flat, found, 1e-4);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(flat.dense());
  const Eigen::VectorXd& values = exact.eigenvalues();
  EXPECT_NEAR(values(values.size() - 2), values(values.size() - 3), 1e-6);  // As said above.
  ASSERT_EQ(found.count, 17);
  for (int k = 0; k < 17; ++k) {
    EXPECT_NEAR(found.values[k], 1 - values(values.size() - 1 - k), 1e-4) << k;
  }
}

TEST(Eigensolver, FiftyEqualSquaresGiveVectorsThatAreConstantOnEach) {
  // More copies of the eigenvalue 0 than vectors are asked for.
  Context context(test_device());
  std::vector<std::uint8_t> hidden(std::size_t{119} * 59, 1);
  for (int y = 0; y < 59; ++y) {
    for (int x = 0; x < 119; ++x) hidden[y * 119 + x] = x % 12 >= 7 || y % 12 >= 7;
  }
  const EigenProblem problem(119, 59, 4, 0.0, hidden);
  for (const SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos}) {
    EigenParameters parameters;
    parameters.solver = solver;
    const DeviceEigenvectors found = solve(context, problem, parameters);
    EXPECT_TRUE(found.report.converged);
    expect_sound(problem, found, 1e-4);
    ASSERT_EQ(found.count, 17);
    for (int k = 0; k < 17; ++k) EXPECT_NEAR(found.values[k], 0, 1e-6) << k;
  }
}

TEST(Eigensolver, WhatCannotBeCoarsenedGoesToLanczos) {
  Context context(test_device());
  const EigenProblem short_hops(40, 31, 1);
  std::vector<std::uint8_t> hidden(std::size_t{48} * 40, 0);
  for (int y = 0; y < 40; ++y) {
    for (int x = 40; x < 48; ++x) hidden[y * 48 + x] = !(x == 45 && y == 21);
  }
  const EigenProblem island(48, 40, 4, 0.1, hidden);  // A pixel of its own, in no kept column.
  for (const EigenProblem* problem : {&short_hops, &island}) {
    const DeviceEigenvectors found = solve(context, *problem, {});
    EXPECT_EQ(found.report.solver, "lanczos");
    EXPECT_TRUE(found.report.converged);
    expect_sound(*problem, found, 1e-4);
  }
  const DeviceEigenvectors found = solve(context, island, {});
  EXPECT_NEAR(found.values[1], 0, 1e-6);  // The pixel's own.
  EXPECT_GT(found.values[2], 1e-6);
}

TEST(Eigensolver, WeightsThatUnderflowLeaveARightAnswer) {
  // A column of pixels whose affinities to all others are too small for a float.
  Context context(test_device());
  EigenProblem problem(45, 37, 5);
  const DiaShape& shape = problem.matrix.shape;
  std::vector<double> degree(shape.rows, 0.0);
  for (const bool normalize : {false, true}) {
    for (std::size_t d = 0; d < shape.diagonals(); ++d) {
      for (std::size_t i = 0; i < shape.rows; ++i) {
        const std::int64_t col = static_cast<std::int64_t>(i) + shape.offsets[d];
        if (col < 0 || col >= static_cast<std::int64_t>(shape.rows)) continue;
        const auto j = static_cast<std::size_t>(col);
        float& value = problem.matrix.values[d * shape.pitch + i];
        if (normalize) {
          value = static_cast<float>(value / std::sqrt(degree[i] * degree[j]));
        } else {
          value *= problem.sqrt_degree[i] * problem.sqrt_degree[j];
          if ((i % 45 == 21) != (j % 45 == 21)) value = 0;
          degree[i] += value;
        }
      }
    }
  }
  for (std::size_t i = 0; i < shape.rows; ++i) {
    problem.sqrt_degree[i] = static_cast<float>(std::sqrt(degree[i]));
  }
  const DeviceEigenvectors found = solve(context, problem, {});
  EXPECT_EQ(found.report.solver, "lanczos");  // No kept pixel is near an odd column of its own.
  EXPECT_TRUE(found.report.converged);
  expect_sound(problem, found, 1e-4);
  // Two pieces: the column, and both sides, which reach each other across it.
  EXPECT_NEAR(found.values[1], 0, 1e-6);
  EXPECT_GT(found.values[2], 1e-6);
}

TEST(Eigensolver, MoreVectorsThanPixelsGiveAsManyAsPixels) {
  Context context(test_device());
  const EigenProblem problem(21, 13, 5);
  EigenParameters parameters;
  parameters.vectors = 300;
  const DeviceEigenvectors found = solve(context, problem, parameters);
  EXPECT_EQ(found.count, 21 * 13);
  EXPECT_TRUE(found.report.converged);
}

TEST(Eigensolver, ReportsNameTheProductThatRan) {
  Context context(test_device());
  const EigenProblem problem(64, 50, 5);
  const auto ran = [&](SolverKind solver, MatrixForm form) {
    NormalizedMatrix matrix = matrix_of(context, problem);
    SolverParameters parameters{{}, {MatvecKind::kNaive, MatvecStorage::kAuto, {}}, form};
    parameters.eigen.solver = solver;
    return eigenvectors(context, matrix, parameters).front().report.matvec;
  };
  EXPECT_EQ(ran(SolverKind::kMultilevel, MatrixForm::kDia), "block");
  EXPECT_EQ(ran(SolverKind::kMultilevel, MatrixForm::kCompressed), "block half");
  EXPECT_EQ(ran(SolverKind::kLanczos, MatrixForm::kDia), "naive");
  EXPECT_EQ(ran(SolverKind::kLanczos, MatrixForm::kCompressed), "symmetric half");
}

TEST(Eigensolver, ABatchHasOneResultForEachImageOrNone) {
  Context context(test_device());
  SolverParameters parameters;
  const Grid image{64, 50, 64};
  const Stencil stencil = disc_stencil(5);
  const Batch batch = batch_for(image, 2, stencil, parameters.eigen).value();
  std::vector<std::uint8_t> hidden(batch.grid().rows(), 0);
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    hidden[i] = i % batch.segment() >= image.rows();
  }
  const EigenProblem problem(64, 2 * batch.height, 5, 0.1, hidden);
  auto sqrt_degree = context.allocate<float>(problem.sqrt_degree.size(), "a vector");
  sqrt_degree.upload(problem.sqrt_degree);
  NormalizedMatrix matrix(batch, stencil, upload(context, problem.matrix).values,
                          std::move(sqrt_degree));
  const std::vector<DeviceEigenvectors> found = eigenvectors(context, matrix, parameters);
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
  EXPECT_TRUE(eigenvectors(context, matrix, parameters).empty());
}

TEST(Eigensolver, ADeviceThatRunsOutOfMemoryHalfWayIsADeviceError) {
  const EigenProblem problem(90, 70, 5);
  Context context(test_device());
  NormalizedMatrix matrix = matrix_of(context, problem);
  const auto run = [&] { return std::move(eigenvectors(context, matrix, {}).front()); };
  context.reset_memory_peak();
  const std::uint64_t before = context.memory_in_use();
  const DeviceEigenvectors whole = run();
  const std::uint64_t need = context.memory_peak() - before;
  for (const double share : {0.02, 0.3, 0.6, 0.9, 0.999}) {
    context.limit_memory(context.memory_in_use() +
                         static_cast<std::uint64_t>(share * static_cast<double>(need)));
    EXPECT_THROW(run(), DeviceError) << share;
  }
  context.limit_memory(0);
  EXPECT_EQ(run().basis.download(), whole.basis.download());  // And the device still works.
}

TEST(Eigensolver, RefusesNaN) {
  Context context(test_device());
  EigenProblem problem(64, 50, 2);
  problem.matrix.values[6 * problem.matrix.shape.pitch + 1000] = NAN;
  EXPECT_THROW(solve(context, problem, {}), NumericalError);
}

TEST(Eigensolver, StopsWhenAsked) {
  Context context(test_device());
  const EigenProblem problem(64, 50, 5);
  NormalizedMatrix matrix = matrix_of(context, problem);
  CancelToken cancel;
  Watch watch;
  watch.cancel = &cancel;
  watch.progress = [&](std::string_view, double share) {
    if (share > 0) cancel.cancel();
  };
  EXPECT_THROW(eigenvectors(context, matrix, {}, watch), CancelledError);
}

}  // namespace
}  // namespace diacut::testing
