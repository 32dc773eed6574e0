// Eigenvectors of matrices that are compressed to 16 bits on the way.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "diacut/errors.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen_checks.hpp"
#include "eigen_problem.hpp"

namespace diacut::testing {
namespace {

class EigensolverCompressed : public EigensolverTest {};

TEST_F(EigensolverCompressed, CompressedMatricesHaveEigenvectorsOfTheirOwn) {
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
      const DeviceEigenvectors found = solved(problem, parameters, true);
      EXPECT_EQ(found.report.solver, solver == SolverKind::kLanczos ? "lanczos" : "multilevel");
      ASSERT_EQ(found.count, 17);
      // Weights off by at most 2^-11 move eigenvalues of I - A by that share at most.
      const DeviceEigenvectors whole = solve(context_, problem, parameters);
      for (int k = 1; k < 17; ++k) {
        EXPECT_NEAR(found.values[k], whole.values[k], std::ldexp(whole.values[k], -11) + 2e-6);
      }
    }
  }
}

TEST_F(EigensolverCompressed, CompressedMatricesTakeThePlaceOfWholeOnes) {
  const EigenProblem problem(150, 130, 5);
  EigenParameters parameters;
  for (const SolverKind solver : {SolverKind::kMultilevel, SolverKind::kLanczos}) {
    SCOPED_TRACE(static_cast<int>(solver));
    parameters.solver = solver;
    NormalizedMatrix matrix = matrix_of(context_, problem);
    const std::uint64_t whole = matrix.shape().stored() * sizeof(float);
    const std::uint64_t before = context_.memory_in_use();
    const SolverParameters compressed{parameters, {}, MatrixForm::kCompressed};
    std::vector<DeviceEigenvectors> all = eigenvectors(context_, matrix, compressed);
    matrix.free_weights();
    const DeviceEigenvectors& found = all.front();
    EXPECT_LE(context_.memory_in_use(),
              before - whole + found.basis.bytes() + problem.grid.rows() * sizeof(float));
    EXPECT_TRUE(found.report.converged);
  }
}

TEST_F(EigensolverCompressed, ManyVectorsComeByMultilevelToo) {
  const EigenProblem problem(90, 70, 5);
  EigenParameters parameters;
  parameters.vectors = 60;
  for (const bool compressed : {false, true}) {
    SCOPED_TRACE(compressed);
    const DeviceEigenvectors found = solved(problem, parameters, compressed);
    EXPECT_EQ(found.report.solver, "multilevel");
    // The next grid, 12x9, has too few elements for so many vectors.
    EXPECT_EQ(found.report.levels, 3);
    ASSERT_EQ(found.count, 60);
  }
}

TEST_F(EigensolverCompressed, FewPixelsWithDataAreSolvedDensely) {
  for (const int shown : {0, 6}) {
    std::vector<std::uint8_t> hidden(std::size_t{70} * 60, 1);
    for (int y = 0; y < 60; ++y) {
      for (int x = 0; x < shown; ++x) hidden[y * 70 + x] = 0;
    }
    const EigenProblem problem(70, 60, 5, 0.1, hidden);
    for (const MatrixForm form : {MatrixForm::kDia, MatrixForm::kCompressed}) {
      SCOPED_TRACE(::testing::Message() << shown << " columns, form " << static_cast<int>(form));
      if (shown == 0) {
        EXPECT_THROW(solve(context_, problem, {}, form), InputError);
        continue;
      }
      const DeviceEigenvectors found = solve(context_, problem, {}, form);
      EXPECT_EQ(found.report.solver, "dense");
      expect_sound(problem, found, 1e-4);
    }
  }
}

}  // namespace
}  // namespace diacut::testing
