// The product of a matrix with a block of vectors against plain loops in double.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"
#include "matrix/block.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut::testing {
namespace {

using Problem = testing::BlockProblem;

class BlockProductTest : public BlockTest {};

TEST_F(BlockProductTest, ProductAgreesWithPlainLoops) {
  unsigned seed = 1;
  for (const int radius : {1, 3, 5}) {
    std::optional<BlockProduct> product;
    for (const int columns : widths(24)) {
      for (const BlockSize& size : kBlockSizes) {
        SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << " radius "
                                          << radius << " columns " << columns);
        const Problem problem(size.width, size.height, size.padding, radius, ++seed);
        if (!product) product.emplace(context_, problem.stencil, 24);
        const std::size_t count = problem.rows() * at_size(columns);
        const std::vector<float> x = random_values(count, ++seed);
        const std::vector<float> other = random_values(count, ++seed);
        Guarded<float> in(context_, x);
        Guarded<float> added(context_, other);
        Guarded<float> plain(context_, count);
        Guarded<float> fused(context_, count);
        const NormalizedMatrix matrix = matrix_of(context_, problem);
        product->launch(matrix, *in, *in, *plain, 1, 0, 0, columns);
        product->launch(matrix, *in, *added, *fused, 0.5F, -2.0F, 3.0F, columns);
        product->launch(matrix, *in, *added, *added, 0.5F, -2.0F, 3.0F, columns);
        const std::vector<float> got = plain.values();
        const std::vector<float> got_fused = fused.values();
        EXPECT_EQ(got_fused, added.values());  // In place.
        std::vector<double> expected(count);
        std::vector<double> magnitude(count);
        std::vector<double> expected_fused(count);
        std::vector<double> magnitude_fused(count);
        for (int c = 0; c < columns; ++c) {
          std::vector<double> sums;
          const std::vector<double> result =
              reference_matvec(problem.matrix, column_of(x, columns, c), &sums);
          for (std::size_t i = 0; i < problem.rows(); ++i) {
            const std::size_t at = i * at_size(columns) + at_size(c);
            expected[at] = result[i];
            magnitude[at] = sums[i];
            expected_fused[at] = 0.5 * result[i] - 2.0 * x[at] + 3.0 * other[at];
            magnitude_fused[at] = 0.5 * sums[i] + 2.0 * std::abs(x[at]) + 3.0 * std::abs(other[at]);
          }
        }
        const double roundings = 4.0 + static_cast<double>(problem.stencil.size());
        expect_near(got, expected, magnitude, roundings);
        expect_near(got_fused, expected_fused, magnitude_fused, roundings);
      }
    }
  }
}

TEST_F(BlockProductTest, ProductWithACompressedMatrixAgreesWithPlainLoops) {
  unsigned seed = 700;
  for (const int radius : {1, 3, 5}) {
    std::optional<BlockProduct> product;
    for (const int columns : widths(24)) {
      for (const BlockSize& size : kBlockSizes) {
        SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << " radius "
                                          << radius << " columns " << columns);
        const Problem problem(size.width, size.height, size.padding, radius, ++seed, {0});
        const CompressedProblem compressed(context_, problem);
        if (!product) {
          product.emplace(context_, problem.stencil, 24, MatrixForm::kCompressed);
        }
        const std::size_t count = problem.rows() * at_size(columns);
        const std::vector<float> x = random_values(count, ++seed);
        Guarded<float> in(context_, x);
        Guarded<float> added(context_, random_values(count, ++seed));
        const std::vector<float> other = added.values();
        product->launch(compressed.matrix, *in, *added, *added, 0.5F, -2.0F, 3.0F, columns);
        const std::vector<float> found = added.values();
        std::vector<double> expected(count);
        std::vector<double> magnitude(count);
        for (int c = 0; c < columns; ++c) {
          std::vector<double> sums;
          const std::vector<double> result =
              reference_matvec(compressed.rounded, column_of(x, columns, c), &sums);
          for (std::size_t i = 0; i < problem.rows(); ++i) {
            const std::size_t at = i * at_size(columns) + at_size(c);
            expected[at] = 0.5 * result[i] - 2.0 * x[at] + 3.0 * other[at];
            magnitude[at] = 0.5 * sums[i] + 2.0 * std::abs(x[at]) + 3.0 * std::abs(other[at]);
          }
        }
        expect_near(found, expected, magnitude, 4.0 + static_cast<double>(problem.stencil.size()));
      }
    }
  }
}

// As many elements as one work-item, several, or none by itself computes (block_product.cpp).
TEST_F(BlockProductTest, KernelsOfGpusAgreeWithPlainLoopsAtEachSize) {
  context_.treat_as(DeviceKind::kGpu);
  constexpr int kColumns = 4;
  unsigned seed = 1400;
  for (const BlockSize& size : {BlockSize{31, 37, 4}, {251, 249, 1}, {701, 587, 2}}) {
    const Problem problem(size.width, size.height, size.padding, 5, ++seed, {0});
    const CompressedProblem compressed(context_, problem);
    const NormalizedMatrix whole = matrix_of(context_, problem);
    const std::size_t count = problem.rows() * kColumns;
    const std::vector<float> x = random_values(count, ++seed);
    Guarded<float> in(context_, x);
    for (const MatrixForm form : {MatrixForm::kDia, MatrixForm::kCompressed}) {
      SCOPED_TRACE(::testing::Message()
                   << size.width << "x" << size.height << ", form " << static_cast<int>(form));
      const bool dia = form == MatrixForm::kDia;
      BlockProduct product(context_, problem.stencil, kColumns, form);
      Guarded<float> out(context_, count);
      product.launch(dia ? whole : compressed.matrix, *in, *out);
      std::vector<double> expected(count);
      std::vector<double> magnitude(count);
      for (int c = 0; c < kColumns; ++c) {
        std::vector<double> sums;
        const std::vector<double> result = reference_matvec(
            dia ? problem.matrix : compressed.rounded, column_of(x, kColumns, c), &sums);
        for (std::size_t i = 0; i < problem.rows(); ++i) {
          expected[i * kColumns + at_size(c)] = result[i];
          magnitude[i * kColumns + at_size(c)] = sums[i];
        }
      }
      expect_near(out.values(), expected, magnitude,
                  4.0 + static_cast<double>(problem.stencil.size()));
    }
  }
}

TEST_F(BlockProductTest, ProductDoesNotReadOtherWithoutGamma) {
  const Problem problem(23, 19, 0, 5, 3);
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
