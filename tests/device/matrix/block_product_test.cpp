// The product of a matrix with a block of vectors against plain loops in double.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"
#include "matrix/block.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut::testing {
namespace {

using Problem = testing::BlockProblem;

class BlockProductTest : public BlockTest {
 protected:
  /// Expects A x, and 0.5 A x - 2 x + 3 other out of place and in place, to be those of plain
  /// loops.
  void expect_products(BlockProduct& product, const HostDiaMatrix& host,
                       const NormalizedMatrix& matrix, int columns, unsigned seed) {
    SCOPED_TRACE(::testing::Message() << matrix.grid().width << "x" << matrix.grid().height
                                      << " radius " << matrix.stencil().radius << ", columns "
                                      << columns << ", form " << static_cast<int>(matrix.form()));
    const std::size_t count = matrix.rows() * at_size(columns);
    const std::vector<float> x = random_values(count, seed);
    const std::vector<float> other = random_values(count, seed + 10'000);
    Guarded<float> in(context_, x);
    Guarded<float> added(context_, other);
    Guarded<float> plain(context_, count);
    Guarded<float> fused(context_, count);
    product.launch(matrix, *in, *in, *plain, 1, 0, 0, columns);
    product.launch(matrix, *in, *added, *fused, 0.5F, -2.0F, 3.0F, columns);
    product.launch(matrix, *in, *added, *added, 0.5F, -2.0F, 3.0F, columns);
    const std::vector<float> got_fused = fused.values();
    EXPECT_EQ(got_fused, added.values());  // In place.
    TermSums expected(count);
    TermSums expected_fused(count);
    for (int c = 0; c < columns; ++c) {
      std::vector<double> sums;
      const std::vector<double> result = reference_matvec(host, column_of(x, columns, c), &sums);
      for (std::size_t i = 0; i < matrix.rows(); ++i) {
        const std::size_t at = i * at_size(columns) + at_size(c);
        expected.values[at] = result[i];
        expected.magnitudes[at] = sums[i];
        expected_fused.values[at] = 0.5 * result[i] - 2.0 * x[at] + 3.0 * other[at];
        expected_fused.magnitudes[at] =
            0.5 * sums[i] + 2.0 * std::abs(x[at]) + 3.0 * std::abs(other[at]);
      }
    }
    const double roundings = 4.0 + static_cast<double>(matrix.stencil().size());
    expect_near(plain.values(), expected.values, expected.magnitudes, roundings);
    expect_near(got_fused, expected_fused.values, expected_fused.magnitudes, roundings);
  }
};

TEST_F(BlockProductTest, ProductsAgreeWithPlainLoops) {
  unsigned seed = 1;
  for (const MatrixForm form : {MatrixForm::kDia, MatrixForm::kCompressed}) {
    for (const int radius : {1, 3, 5}) {
      BlockProduct product(context_, disc_stencil(radius), 24, form);
      for (const int columns : widths(24)) {
        for (const Grid& size : kBlockSizes) {
          const Problem problem(size.width, size.height, radius, ++seed, {0});
          if (form == MatrixForm::kDia) {
            expect_products(product, problem.matrix, matrix_of(context_, problem), columns, seed);
          } else {
            const CompressedProblem compressed(context_, problem);
            expect_products(product, compressed.rounded, compressed.matrix, columns, seed);
          }
        }
      }
    }
  }
}

// As many elements as one work-item, several, or none by itself computes (block_product.cpp).
TEST_F(BlockProductTest, KernelsOfGpusAgreeWithPlainLoopsAtEachSize) {
  context_.treat_as(DeviceKind::kGpu);
  constexpr int kColumns = 4;
  unsigned seed = 1400;
  for (const Grid& size : {Grid{31, 37}, {251, 249}, {701, 587}}) {
    const Problem problem(size.width, size.height, 5, ++seed, {0});
    BlockProduct whole(context_, problem.stencil, kColumns);
    expect_products(whole, problem.matrix, matrix_of(context_, problem), kColumns, seed);
    const CompressedProblem compressed(context_, problem);
    BlockProduct half(context_, problem.stencil, kColumns, MatrixForm::kCompressed);
    expect_products(half, compressed.rounded, compressed.matrix, kColumns, seed);
  }
}

TEST_F(BlockProductTest, ProductDoesNotReadOtherWithoutGamma) {
  const Problem problem(23, 19, 5, 3);
  BlockProduct product(context_, problem.stencil, 8);
  const std::vector<float> x = random_values(problem.rows() * 8, 4);
  Guarded<float> in(context_, x);
  Guarded<float> nothing(context_, problem.rows() * 8);  // NaN
  Guarded<float> out(context_, problem.rows() * 8);
  product.launch(matrix_of(context_, problem), *in, *nothing, *out, 1, 1, 0, 8);
  expect_numbers(out.values());
}

}  // namespace
}  // namespace diacut::testing
