// Matrices of 16-bit weights whose main diagonal makes up for the rounding.
#include <gtest/gtest.h>

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
    trial_.expect("product with the roots", s, product, magnitude, 2);
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

    const ReferenceSymmetric reference = reference_compress(
        problem.matrix, problem.grid, problem.stencil, MatvecStorage::kHalf, nullptr);
    HostDiaMatrix rounded{reference.shape, {reference.values.begin(), reference.values.end()}};
    // What the main diagonal makes up for, and what it was.
    HostDiaMatrix lost = problem.matrix;
    for (std::size_t at = 0; at < lost.values.size(); ++at) lost.values[at] -= rounded.values[at];
    const std::vector<float> diagonal = copy.compressed().diagonal.download();
    const std::vector<double> roots(problem.sqrt_degree.begin(), problem.sqrt_degree.end());
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const std::size_t at = problem.stencil.centre() * problem.pitch() + i;
      lost.values[at] = problem.matrix.values[at];
      rounded.values[at] = diagonal[i];
      EXPECT_TRUE(roots[i] > 0 || diagonal[i] == 0) << i;
    }
    const std::vector<double> expected = reference_matvec(problem.matrix, roots);
    const std::vector<double> product = reference_matvec(rounded, roots);
    std::vector<double> magnitude;
    reference_matvec(lost, roots, &magnitude);
    const double roundings = 3.0 + static_cast<double>(problem.stencil.size());
    for (std::size_t i = 0; i < roots.size(); ++i) {
      ASSERT_NEAR(product[i], expected[i], roundings * kEps * magnitude[i]) << i;
    }
  }
}

}  // namespace
}  // namespace diacut::testing
