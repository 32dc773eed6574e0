// Matrices of 16-bit weights whose main diagonal makes up for the rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "matrix/dia_matrix.hpp"
#include "reference_symmetric.hpp"

namespace diacut::testing {
namespace {

using Problem = testing::BlockProblem;

class CompressedMatrixTest : public BlockTest {};

TEST_F(CompressedMatrixTest, CompressedMatricesKeepTheirEigenvector) {
  unsigned seed = 900;
  for (const Grid& size : kBlockSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const Problem problem(size.width, size.height, 5, ++seed, {0});
    const CompressedProblem compressed(context_, problem);
    const std::vector<float>& s = problem.sqrt_degree;
    std::vector<double> magnitude;
    const std::vector<double> product =
        reference_matvec(compressed.rounded, {s.begin(), s.end()}, &magnitude);
    for (std::size_t i = 0; i < s.size(); ++i) {
      ASSERT_LE(std::abs(product[i] - s[i]), 2 * kEps * magnitude[i]) << i;
    }
  }
}

// The problems' matrices have no eigenvector in particular.
TEST_F(CompressedMatrixTest, CopiesKeepTheProductWithTheRoots) {
  unsigned seed = 950;
  for (const Grid& size : kBlockSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const Problem problem(size.width, size.height, 5, ++seed, {0});
    const NormalizedMatrix matrix = matrix_of(context_, problem);
    const NormalizedMatrix copy = matrix.compressed_copy(context_);
    ASSERT_EQ(matrix.form(), MatrixForm::kDia);
    ASSERT_EQ(copy.form(), MatrixForm::kCompressed);
    EXPECT_EQ(copy.sqrt_degree().download(), problem.sqrt_degree);

    const std::vector<float>& s = problem.sqrt_degree;
    const std::vector<double> roots(s.begin(), s.end());
    std::vector<double> magnitude;
    const std::vector<double> expected = reference_matvec(problem.matrix, roots, &magnitude);
    const ReferenceSymmetric rounded = reference_compress_rooted(
        problem.matrix, problem.grid, problem.stencil, MatvecStorage::kHalf, s, expected);
    const std::vector<double> product = reference_matvec(rounded, roots);
    const std::vector<float> diagonal = copy.compressed().diagonal.download();
    const std::size_t centre = problem.stencil.centre() * problem.pitch();
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (s[i] == 0) {
        ASSERT_EQ(diagonal[i], 0) << i;
        continue;
      }
      ASSERT_NEAR(product[i], expected[i], 1e-12 * magnitude[i]) << i;
      double lost = std::abs(double{problem.matrix.values[centre + i]});
      for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
        const auto j = static_cast<std::int64_t>(i) + problem.matrix.shape.offsets[d];
        if (d == problem.stencil.centre() || j < 0 || j >= static_cast<std::int64_t>(s.size()))
          continue;
        const std::size_t at = d * problem.pitch() + i;
        lost += std::abs(problem.matrix.values[at] - rounded.values[at]) *
                s[static_cast<std::size_t>(j)] / s[i];
      }
      const double roundings = 3.0 + static_cast<double>(problem.stencil.size());
      ASSERT_LE(std::abs(diagonal[i] - rounded.values[centre + i]), roundings * kEps * lost) << i;
    }
  }
}

}  // namespace
}  // namespace diacut::testing
