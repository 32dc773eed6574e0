#include "eigen/eigensolver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <tuple>

#include "eigen_problem.hpp"
#include "matrix/symmetric_dia.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using testing::DeviceEigenProblem;
using testing::EigenProblem;
using testing::test_device;

Eigen::MatrixXd host_vectors(const DeviceEigenvectors& found) {
  const std::vector<float> basis = found.basis.download();
  Eigen::MatrixXd vectors(static_cast<Eigen::Index>(found.rows), found.count);
  for (int k = 0; k < found.count; ++k) {
    for (std::size_t i = 0; i < found.rows; ++i) {
      vectors(static_cast<Eigen::Index>(i), k) =
          basis[static_cast<std::size_t>(k) * found.pitch + i];
    }
  }
  return vectors;
}

Eigen::MatrixXd dense_matrix(const EigenProblem& problem) {
  const auto rows = problem.dense();
  const auto n = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd a(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) a(i, j) = rows[i][j];
  }
  return a;
}

/// The largest sine of an angle between the spaces that two sets of orthonormal columns span.
double subspace_sine(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const Eigen::MatrixXd rest = b - a * (a.transpose() * b);
  return Eigen::JacobiSVD<Eigen::MatrixXd>(rest).singularValues()(0);
}

/// What every result must satisfy, whoever computed it.
void expect_sound(const EigenProblem& problem, const DeviceEigenvectors& found, double tolerance) {
  const Eigen::MatrixXd z = host_vectors(found);
  ASSERT_EQ(found.values.size(), static_cast<std::size_t>(found.count));
  ASSERT_EQ(found.report.residuals.size(), static_cast<std::size_t>(found.count));
  EXPECT_LT((z.transpose() * z - Eigen::MatrixXd::Identity(found.count, found.count))
                .cwiseAbs()
                .maxCoeff(),
            1e-5);
  EXPECT_TRUE(std::is_sorted(found.values.begin(), found.values.end()));
  for (int k = 0; k < found.count; ++k) {
    std::vector<double> x(z.col(k).data(), z.col(k).data() + z.rows());
    const std::vector<double> ax = reference_matvec(problem.matrix, x);
    const Eigen::Map<const Eigen::VectorXd> product(ax.data(), z.rows());
    const double rho = z.col(k).dot(product);
    const double residual = (product - rho * z.col(k)).norm();
    EXPECT_LE(residual, tolerance) << "vector " << k;
    EXPECT_NEAR(found.report.residuals[k], residual, 2e-6) << "vector " << k;
    EXPECT_NEAR(found.values[k], 1 - rho, 1e-6) << "vector " << k;
    Eigen::Index peak = 0;
    z.col(k).cwiseAbs().maxCoeff(&peak);
    EXPECT_GT(z(peak, k), 0) << "vector " << k;
    for (std::size_t i = 0; i < found.rows; ++i) {
      if (problem.sqrt_degree[i] == 0) {
        EXPECT_EQ(z(static_cast<Eigen::Index>(i), k), 0);
      }
    }
  }
  EXPECT_EQ(found.values[0], 0);
}

DeviceEigenvectors solve(Context& context, const EigenProblem& problem,
                         const EigenParameters& parameters) {
  DeviceEigenProblem device(context, problem);
  return eigenvectors(context, device.op, device.matrix, problem.grid, disc_stencil(problem.radius),
                      device.sqrt_degree, parameters);
}

TEST(Eigensolver, LanczosFindsWhatADenseSolverFinds) {
  Context context(test_device());
  const EigenProblem problem(30, 23, 3);
  EigenParameters parameters;
  parameters.vectors = 9;
  parameters.tolerance = 1e-5;
  parameters.solver = SolverKind::kLanczos;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(dense_matrix(problem));
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
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(dense_matrix(problem));
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
  const std::vector<std::vector<double>> pattern = flat.dense();
  std::vector<double> degree(pattern.size(), 0.0);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    for (const double value : pattern[i]) degree[i] += value > 0 ? 1 : 0;
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
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(dense_matrix(flat));
  const Eigen::VectorXd& values = exact.eigenvalues();
  EXPECT_NEAR(values(values.size() - 2), values(values.size() - 3), 1e-6);  // As said above.
  ASSERT_EQ(found.count, 17);
  for (int k = 0; k < 17; ++k) {
    EXPECT_NEAR(found.values[k], 1 - values(values.size() - 1 - k), 1e-4) << k;
  }
}

/// A problem whose matrix is that of another one, compressed.
EigenProblem rounded(EigenProblem problem) {
  const ReferenceSymmetric reference =
      reference_compress_rooted(problem.matrix, problem.grid, disc_stencil(problem.radius),
                                MatvecStorage::kHalf, problem.sqrt_degree);
  problem.matrix.values = {reference.values.begin(), reference.values.end()};
  return problem;
}

DeviceEigenvectors solve_compressed(Context& context, const EigenProblem& problem,
                                    const EigenParameters& parameters) {
  DeviceEigenProblem device(context, problem);
  return eigenvectors_compressed(context, std::move(device.matrix), problem.grid,
                                 disc_stencil(problem.radius), device.sqrt_degree, parameters);
}

TEST(Eigensolver, CompressedMatricesHaveEigenvectorsOfTheirOwn) {
  Context context(test_device());
  std::vector<std::uint8_t> hidden(std::size_t{97} * 61, 0);
  for (std::size_t i = std::size_t{30} * 97; i < 30 * 97 + 40; ++i) hidden[i] = 1;
  for (const auto& [width, height, mask] :
       {std::tuple(97, 61, false), std::tuple(97, 61, true), std::tuple(64, 128, false)}) {
    const EigenProblem problem(width, height, 5, 0.1, mask ? hidden : std::vector<std::uint8_t>());
    for (const SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos}) {
      SCOPED_TRACE(::testing::Message() << width << "x" << height << ", mask " << mask
                                        << ", solver " << static_cast<int>(solver));
      EigenParameters parameters;
      parameters.tolerance = 1e-5;
      parameters.solver = solver;
      const DeviceEigenvectors found = solve_compressed(context, problem, parameters);
      EXPECT_TRUE(found.report.converged);
      EXPECT_EQ(found.report.solver, solver == SolverKind::kLanczos ? "lanczos" : "multilevel");
      ASSERT_EQ(found.count, 17);
      expect_sound(rounded(problem), found, 1.1e-5);
      // Weights off by at most 2^-11 move eigenvalues of I - A by that share at most.
      const DeviceEigenvectors whole = solve(context, problem, parameters);
      for (int k = 1; k < 17; ++k) {
        EXPECT_NEAR(found.values[k], whole.values[k], std::ldexp(whole.values[k], -11) + 2e-6);
      }
    }
  }
}

TEST(Eigensolver, CompressedMatricesThatCannotBeCoarsenedGoToLanczos) {
  Context context(test_device());
  const EigenProblem problem(60, 40, 1);
  EigenParameters parameters;
  parameters.solver = SolverKind::kMultilevel;
  const DeviceEigenvectors found = solve_compressed(context, problem, parameters);
  EXPECT_TRUE(found.report.converged);
  EXPECT_EQ(found.report.solver, "lanczos");
  expect_sound(rounded(problem), found, 1.1e-4);
}

TEST(Eigensolver, CompressedMatricesTakeThePlaceOfWholeOnes) {
  Context context(test_device());
  const EigenProblem problem(150, 130, 5);
  const Stencil stencil = disc_stencil(5);
  EigenParameters parameters;
  for (const SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos}) {
    SCOPED_TRACE(static_cast<int>(solver));
    parameters.solver = solver;
    DeviceEigenProblem device(context, problem);
    const std::uint64_t whole = device.matrix.shape.stored() * sizeof(float);
    const std::uint64_t before = context.memory_in_use();
    context.reset_memory_peak();
    const DeviceEigenvectors found = eigenvectors_compressed(
        context, std::move(device.matrix), problem.grid, stencil, device.sqrt_degree, parameters);
    MemoryBudget compression;
    MemoryBudget after;
    budget_eigen_compressed(compression, after, problem.grid, stencil, parameters);
    MemoryBudget left;
    budget_eigenvectors(left, Batch(problem.grid), parameters);
    EXPECT_LE(context.memory_peak(),
              std::max(before + compression.total(), before - whole + after.total()));
    EXPECT_LE(context.memory_in_use(), before - whole + left.total());
    EXPECT_TRUE(found.report.converged);
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

TEST(Eigensolver, ManyVectorsComeByMultilevelToo) {
  Context context(test_device());
  const EigenProblem problem(90, 70, 5);
  EigenParameters parameters;
  parameters.vectors = 60;
  for (const bool compressed : {false, true}) {
    SCOPED_TRACE(compressed);
    const DeviceEigenvectors found = compressed ? solve_compressed(context, problem, parameters)
                                                : solve(context, problem, parameters);
    EXPECT_EQ(found.report.solver, "multilevel");
    // The next grid, 12x9, has too few elements for so many vectors.
    EXPECT_EQ(found.report.levels, 3);
    EXPECT_TRUE(found.report.converged);
    ASSERT_EQ(found.count, 60);
    expect_sound(compressed ? rounded(problem) : problem, found, 1.1e-4);
  }
}

TEST(Eigensolver, FewPixelsWithDataAreSolvedDensely) {
  Context context(test_device());
  for (const int shown : {0, 6}) {
    std::vector<std::uint8_t> hidden(std::size_t{70} * 60, 1);
    for (int y = 0; y < 60; ++y) {
      for (int x = 0; x < shown; ++x) hidden[y * 70 + x] = 0;
    }
    const EigenProblem problem(70, 60, 5, 0.1, hidden);
    for (const bool compressed : {false, true}) {
      SCOPED_TRACE(::testing::Message() << shown << " columns, compressed " << compressed);
      const auto run = [&] {
        return compressed ? solve_compressed(context, problem, {}) : solve(context, problem, {});
      };
      if (shown == 0) {
        EXPECT_THROW(run(), InputError);
        continue;
      }
      const DeviceEigenvectors found = run();
      EXPECT_EQ(found.report.solver, "dense");
      expect_sound(problem, found, 1e-4);
    }
  }
}

TEST(Eigensolver, ADeviceThatRunsOutOfMemoryHalfWayIsADeviceError) {
  const EigenProblem problem(90, 70, 5);
  Context context(test_device());
  DeviceEigenProblem device(context, problem);
  const auto run = [&] {
    return eigenvectors(context, device.op, device.matrix, problem.grid,
                        disc_stencil(problem.radius), device.sqrt_degree, {});
  };
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
  DeviceEigenProblem device(context, problem);
  CancelToken cancel;
  Watch watch;
  watch.cancel = &cancel;
  watch.progress = [&](std::string_view, double share) {
    if (share > 0) cancel.cancel();
  };
  EXPECT_THROW(eigenvectors(context, device.op, device.matrix, problem.grid,
                            disc_stencil(problem.radius), device.sqrt_degree, {}, watch),
               CancelledError);
}

}  // namespace
}  // namespace diacut
