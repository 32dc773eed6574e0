// The product of a matrix with a block of vectors against its definition in double.
#include <gtest/gtest.h>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "matrix/block.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut::testing {
namespace {

using Problem = testing::BlockProblem;

class BlockProductTest : public BlockTest {
 protected:
  /// Expects A x, and 0.5 A x - 2 x + 3 other out of place and in place, to be those of the
  /// definition. What is multiplied by 0 is not read.
  void expect_products(BlockProduct& product, const HostDiaMatrix& host,
                       const NormalizedMatrix& matrix, int columns) {
    SCOPED_TRACE(::testing::Message() << matrix.grid().width << "x" << matrix.grid().height
                                      << " radius " << matrix.stencil().radius << ", columns "
                                      << columns << ", form " << static_cast<int>(matrix.form()));
    expect_right([&](Trial& trial) {
      const DrawnBlock x(trial, matrix.rows(), columns);
      DrawnBlock other(trial, matrix.rows(), columns);
      const Buffer<float> nothing = trial.empty(x.values.size());
      Buffer<float> plain = trial.empty(x.values.size());
      Buffer<float> fused = trial.empty(x.values.size());
      product.launch(matrix, x.device, nothing, plain, 1, 0, 0, columns);
      product.launch(matrix, x.device, other.device, fused, 0.5F, -2.0F, 3.0F, columns);
      product.launch(matrix, x.device, other.device, other.device, 0.5F, -2.0F, 3.0F, columns);
      EXPECT_EQ(fused.download(), other.device.download());  // In place.
      const BlockSums expected(host, x.rows);
      const double roundings = 4.0 + static_cast<double>(matrix.stencil().size());
      expect_block(trial, "product", plain, expected.values, expected.magnitudes, roundings);
      expect_block(trial, "step", fused, 0.5 * expected.values - 2 * x.rows + 3 * other.rows,
                   0.5 * expected.magnitudes + 2 * x.rows.cwiseAbs() + 3 * other.rows.cwiseAbs(),
                   roundings);
    });
  }

  /// For the problem's matrix as it is, or compressed.
  void expect_products(const Problem& problem, MatrixForm form, BlockProduct& product,
                       int columns) {
    if (form == MatrixForm::kDia) {
      return expect_products(product, problem.matrix, matrix_of(context_, problem), columns);
    }
    const CompressedProblem compressed(context_, problem);
    expect_products(product, compressed.rounded, compressed.matrix, columns);
  }
};

TEST_F(BlockProductTest, ProductsAgreeWithTheDefinition) {
  unsigned seed = 1;
  for (const MatrixForm form : {MatrixForm::kDia, MatrixForm::kCompressed}) {
    for (const int radius : {1, 3, 5}) {
      BlockProduct product(context_, disc_stencil(radius), 24, form);
      for (const int columns : widths(24)) {
        for (const Grid& size : kBlockSizes) {
          expect_products({size.width, size.height, radius, ++seed, {0}}, form, product, columns);
        }
      }
    }
  }
}

// As many elements as one work-item, several, or none by itself computes (block_product.cpp).
TEST_F(BlockProductTest, KernelsOfGpusAgreeWithTheDefinitionAtEachSize) {
  context_.treat_as(DeviceKind::kGpu);
  constexpr int kColumns = 4;
  for (const Grid& size : {Grid{31, 37}, {251, 249}, {701, 587}}) {
    const Problem problem(size.width, size.height, 5, 1400, {0});
    for (const MatrixForm form : {MatrixForm::kDia, MatrixForm::kCompressed}) {
      BlockProduct product(context_, problem.stencil, kColumns, form);
      expect_products(problem, form, product, kColumns);
    }
  }
}

}  // namespace
}  // namespace diacut::testing
