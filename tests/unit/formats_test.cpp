// Layouts of the sparse formats, by hand and against the definition of the product.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "diacut/errors.hpp"
#include "sparse_matrices.hpp"
#include "spmv/blocks.hpp"
#include "spmv/diagonals.hpp"

namespace diacut {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

/// 1 2 . .
/// . . 3 .
/// 4 . 5 6
CsrMatrix drawn() {
  return csr_from_entries(3, 4, {{0, 0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 0, 4}, {2, 2, 5}, {2, 3, 6}});
}

TEST(DiagonalMatrix, HoldsEachDiagonalByRow) {
  const DiagonalMatrix matrix = diagonal_matrix(drawn());
  EXPECT_THAT(matrix.offsets, ElementsAre(-2, 0, 1));
  ASSERT_EQ(matrix.pitch, 32U);
  EXPECT_EQ(matrix.values[0 * 32 + 2], 4.0F);
  EXPECT_EQ(matrix.values[1 * 32 + 0], 1.0F);
  EXPECT_EQ(matrix.values[1 * 32 + 2], 5.0F);
  EXPECT_EQ(matrix.values[2 * 32 + 1], 3.0F);
  EXPECT_EQ(matrix.values[1 * 32 + 3], 0.0F) << "beyond the last row";
}

TEST(DiagonalMatrix, LengthsOfDiagonals) {
  EXPECT_EQ(diagonal_length(3, 4, 0), 3U);
  EXPECT_EQ(diagonal_length(3, 4, 1), 3U);
  EXPECT_EQ(diagonal_length(3, 4, 3), 1U);
  EXPECT_EQ(diagonal_length(3, 4, 4), 0U);
  EXPECT_EQ(diagonal_length(3, 4, -2), 1U);
  EXPECT_EQ(diagonal_length(3, 4, -3), 0U);
}

TEST(DiagonalMatrix, BandsAreRunsCutWhereTooWide) {
  EXPECT_THAT(
      diagonal_bands({-3, -2, 0, 1, 2, 3, 9}, 3),
      ElementsAre(DiagonalBand{-3, 2}, DiagonalBand{0, 3}, DiagonalBand{3, 1}, DiagonalBand{9, 1}));
  EXPECT_TRUE(diagonal_bands({}, 3).empty());
}

TEST(BlockMatrix, HoldsBlocksByRows) {
  const BlockMatrix matrix = block_matrix(drawn(), {2, 2});
  EXPECT_THAT(matrix.starts, ElementsAre(0, 2, 4));
  EXPECT_THAT(matrix.columns, ElementsAre(0, 2, 0, 2));
  EXPECT_THAT(matrix.values, ElementsAre(1, 2, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 5, 6, 0, 0));
  EXPECT_EQ(count_blocks(drawn(), {2, 2}), 4U);
  EXPECT_EQ(count_blocks(drawn(), {3, 3}), 2U);
}

TEST(SlicedMatrix, PadsSlicesAndPutsTheLongestFirst) {
  const SlicedMatrix plain = sliced_matrix(drawn(), {2, 1});
  EXPECT_THAT(plain.starts, ElementsAre(0, 4, 10));
  EXPECT_THAT(plain.columns,
              ElementsAre(0, 2, 1, kNoColumn, 0, kNoColumn, 2, kNoColumn, 3, kNoColumn));
  EXPECT_THAT(plain.values, ElementsAre(1, 3, 2, 0, 4, 0, 5, 0, 6, 0));
  EXPECT_TRUE(plain.order.empty());
  const SlicedMatrix sorted = sliced_matrix(drawn(), {2, 4});
  EXPECT_THAT(sorted.order, ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(sorted.starts, ElementsAre(0, 6, 8));
  EXPECT_THAT(sorted.values, ElementsAre(4, 1, 5, 2, 6, 0, 3, 0));
}

TEST(Formats, EveryLayoutHoldsTheMatrix) {
  FormatLimits unlimited;
  unlimited.fill = 1e9;
  for (const testing::NamedMatrix& each : testing::tiny_matrices()) {
    SCOPED_TRACE(each.name);
    const CsrMatrix& matrix = each.matrix;
    const std::vector<float> floats = testing::random_floats(matrix.cols, 1);
    const std::vector<double> x(floats.begin(), floats.end());
    const std::vector<double> expected = reference_product(matrix, x);
    // Some layouts add in another order, in double.
    const auto equal = Pointwise(DoubleNear(1e-13), expected);
    const DiagonalMatrix diagonals = diagonal_matrix(matrix, unlimited);
    EXPECT_THAT(reference_product(diagonals, x), equal);
    EXPECT_THAT(reference_product(diagonals, diagonal_bands(diagonals.offsets, 3), x), equal);
    EXPECT_THAT(reference_product(BlockView(matrix), x), equal);
    EXPECT_THAT(
        reference_product(matrix.rows, entry_rows(matrix), matrix.columns, matrix.values, x),
        equal);
    for (const BlockSize& block :
         {BlockSize{1, 1}, BlockSize{1, 4}, BlockSize{3, 2}, BlockSize{8, 8}}) {
      const BlockMatrix blocks = block_matrix(matrix, block, unlimited);
      EXPECT_EQ(blocks.columns.size(), count_blocks(matrix, block));
      EXPECT_THAT(reference_product(BlockView(blocks), x), equal);
      for (const SliceForm& form : {SliceForm{0, 1}, SliceForm{4, 1}, SliceForm{8, 16}}) {
        EXPECT_THAT(reference_product(sliced_matrix(blocks, form, unlimited), x), equal);
      }
    }
  }
}

TEST(FormatLimits, CountInMoreThan64Bits) {
  EXPECT_NO_THROW(check_fill(65536, 0, "ELL", {}));
  EXPECT_THROW(check_fill(65537, 0, "ELL", {}), InputError);
  EXPECT_NO_THROW(check_fill(8e6, 1'000'000, "ELL", {}));
  EXPECT_THROW(check_fill(0x1p70, 1'000'000, "ELL", {}), InputError);
  FormatLimits limits;
  limits.fill = std::numeric_limits<double>::infinity();
  EXPECT_THROW(check_fill(0x1p40, 1'000'000, "ELL", limits), InputError);
}

TEST(FormatLimits, MillionsOfShortRowsBesideALongOneAreRefusedUnmade) {
  // ELL would hold 5 x 10^11 elements, far beyond 2^31.
  CsrMatrix matrix;
  matrix.rows = 5'000'000;
  matrix.cols = 100'000;
  matrix.starts.assign(matrix.rows + 1, matrix.cols);
  matrix.starts[0] = 0;
  for (std::uint32_t c = 0; c < matrix.cols; ++c) matrix.columns.push_back(c);
  matrix.values.assign(matrix.cols, 1.0F);
  try {
    sliced_matrix(matrix, {});
    FAIL() << "made";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("ELL would store 500000000000 elements"));
  }
  EXPECT_THROW(diagonal_matrix(matrix), InputError);
}

}  // namespace
}  // namespace diacut
