// Matrices of 16-bit weights whose main diagonal makes up for the rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut {
namespace {

using testing::BlockSize;
using testing::BlockTest;
using testing::CompressedProblem;
using testing::kBlockSizes;
using testing::kEps;
using Problem = testing::BlockProblem;

class CompressedMatrixTest : public BlockTest {};

TEST_F(CompressedMatrixTest, CompressedMatricesKeepTheirEigenvector) {
  unsigned seed = 900;
  for (const BlockSize& size : kBlockSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const Problem problem(size.width, size.height, size.padding, 5, ++seed, {0});
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

}  // namespace
}  // namespace diacut
