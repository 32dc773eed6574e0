// Matrices of 16-bit weights whose main diagonal makes up for the rounding.
#include <gtest/gtest.h>

#include <vector>

#include "answers/checks.hpp"
#include "block_problem.hpp"
#include "block_test.hpp"
#include "matrix/dia_matrix.hpp"

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
    trial_.expect("product with the roots", s, expected_product(compressed.rounded, s), 2);
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

    HostDiaMatrix rounded = rounded_matrix(problem);
    // What the main diagonal makes up for, and what it was.
    HostDiaMatrix lost = problem.matrix;
    for (std::size_t at = 0; at < lost.values.size(); ++at) lost.values[at] -= rounded.values[at];
    const std::vector<float> diagonal = copy.compressed().diagonal.download();
    const std::vector<float>& roots = problem.sqrt_degree;
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const std::size_t at = problem.stencil.centre() * problem.pitch() + i;
      lost.values[at] = problem.matrix.values[at];
      rounded.values[at] = diagonal[i];
      EXPECT_TRUE(roots[i] > 0 || diagonal[i] == 0) << i;
    }
    const TermSums expected = expected_product(problem.matrix, roots);
    const TermSums product = expected_product(rounded, roots);
    const TermSums allowed = expected_product(lost, roots);
    const double roundings = 3.0 + static_cast<double>(problem.stencil.size());
    for (std::size_t i = 0; i < roots.size(); ++i) {
      ASSERT_NEAR(product.values[i], expected.values[i], roundings * kEps * allowed.magnitudes[i])
          << i;
    }
  }
}

}  // namespace
}  // namespace diacut::testing
