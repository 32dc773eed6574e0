// Layouts of the sparse formats by hand, and splits that divide a matrix among them. That each
// layout holds a matrix is tested by its products on a device.
#include "spmv/formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "device_profiles.hpp"
#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "sparse_matrices.hpp"
#include "spmv/generators.hpp"
#include "spmv/hybrid/hybrid.hpp"

namespace diacut::testing {
namespace {

/// A matrix whose entries are digits; dots are none.
CsrMatrix drawn_matrix(const std::vector<std::string>& rows) {
  std::vector<MatrixEntry> entries;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    for (std::uint32_t column = 0; column < rows[row].size(); ++column) {
      const char c = rows[row][column];
      if (c != '.') entries.push_back({row, column, static_cast<double>(c - '0')});
    }
  }
  return csr_from_entries(rows.size(), rows.front().size(), entries);
}

std::size_t longest_row(const CsrMatrix& matrix) {
  std::size_t longest = 0;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    longest = std::max(longest, matrix.row_length(row));
  }
  return longest;
}

TEST(MatrixDiagonals, BandsAreRunsCutWhereTooWide) {
  EXPECT_THAT(
      diagonal_bands({-3, -2, 0, 1, 2, 3, 9}, 3),
      ElementsAre(DiagonalBand{-3, 2}, DiagonalBand{0, 3}, DiagonalBand{3, 1}, DiagonalBand{9, 1}));
  EXPECT_TRUE(diagonal_bands({}, 3).empty());
}

TEST(SlicedMatrix, PadsSlicesAndPutsTheLongestFirst) {
  const CsrMatrix matrix = drawn_matrix({"12..",  //
                                         "..3.",  //
                                         "4.56"});
  const SlicedMatrix plain = sliced_matrix(matrix, {}, 6, {2, 1});
  EXPECT_THAT(plain.starts, ElementsAre(0, 4, 10));
  EXPECT_THAT(plain.columns,
              ElementsAre(0, 2, 1, kNoColumn, 0, kNoColumn, 2, kNoColumn, 3, kNoColumn));
  EXPECT_THAT(plain.values, ElementsAre(1, 3, 2, 0, 4, 0, 5, 0, 6, 0));
  EXPECT_TRUE(plain.order.empty());
  const SlicedMatrix sorted = sliced_matrix(matrix, {}, 6, {2, 4});
  EXPECT_THAT(sorted.order, ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(sorted.starts, ElementsAre(0, 6, 8));
  EXPECT_THAT(sorted.values, ElementsAre(4, 1, 5, 2, 6, 0, 3, 0));
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
  EXPECT_THAT(message_of<InputError>([&] { sliced_matrix(matrix, {}, matrix.nonzeros(), {}); }),
              HasSubstr("ELL would store 500000000000 elements"));
  EXPECT_THROW(diagonal_matrix(matrix), InputError);
}

using Take = HybridPart::Take;

HybridSplit best(const CsrMatrix& matrix, DeviceKind kind = DeviceKind::kGpu) {
  const std::vector<HybridSplit> splits =
      hybrid_splits(matrix, plausible_format_profile(kind), 4, {6000});
  EXPECT_FALSE(splits.empty());
  return splits.front();
}

std::string best_of(const std::string& name, double scale = 0.1) {
  return to_string(best(generate_matrix(name, scale, 1)));
}

TEST(HybridSplit, RegularMatricesGetTheFormatThatHoldsThemWithLeastBytes) {
  EXPECT_THAT(best_of("grid5"), AnyOf(StartsWith("dia/"), StartsWith("bdia/")));
  EXPECT_THAT(best_of("grid27"), AnyOf(StartsWith("dia/"), StartsWith("bdia/")));
  EXPECT_THAT(best_of("dense"), HasSubstr("8x8"));
  EXPECT_THAT(best_of("elements"), HasSubstr("3x3"));
  // 6x6 blocks: 3x3 fits them, and 2x2 nearly as well.
  EXPECT_THAT(best_of("shell"), AnyOf(HasSubstr("3x3"), HasSubstr("2x2")));
}

TEST(HybridSplit, DiagonalsAreTakenOutOfWhatElseThereIs) {
  const HybridSplit split = best(generate_matrix("quantum", 0.2, 1));
  ASSERT_GE(split.parts.size(), 2U) << to_string(split);
  EXPECT_EQ(split.parts[0].take, Take::kDiagonals);
  // The stencil's 37, and no diagonal of the clusters.
  EXPECT_EQ(split.parts[0].offsets.size(), 37U);
}

TEST(HybridSplit, IrregularMatricesGetNoPaddingToSpeakOf) {
  for (const char* name : {"web", "circuit", "economics"}) {
    const HybridSplit split = best(generate_matrix(name, 0.1, 1));
    for (const HybridPart& part : split.parts) {
      EXPECT_NE(part.implementation.format, Format::kBell) << name;
      EXPECT_NE(part.implementation.format, Format::kSbell) << name;
      EXPECT_LE(part.offsets.size(), 1U) << name;
    }
  }
}

TEST(HybridSplit, ASingleFormatIsAmongTheFirst) {
  for (const MatrixClass& each : matrix_classes()) {
    const CsrMatrix matrix = generate_matrix(each.name, 0.02, 2);
    const std::vector<HybridSplit> splits =
        hybrid_splits(matrix, plausible_format_profile(DeviceKind::kGpu), 3);
    ASSERT_GE(splits.size(), 3U);
    EXPECT_TRUE(std::any_of(splits.begin(), splits.begin() + 3, [](const HybridSplit& split) {
      return split.parts.size() == 1;
    })) << each.name;
  }
}

TEST(HybridSplit, WithoutAnythingForTheRestThereIsNoSplit) {
  FormatProfile profile = plausible_format_profile(DeviceKind::kGpu);
  std::erase_if(profile.rates, [](const FormatProfile::Rates& each) {
    return each.implementation.format == Format::kCsr || each.implementation.format == Format::kCoo;
  });
  EXPECT_TRUE(hybrid_splits(random_sparse(9, 9, 0.5, 1), profile, 4).empty());
}

HybridPart part_of(Take take, const char* name) {
  HybridPart part;
  part.take = take;
  part.implementation = implementation_named(name);
  return part;
}

TEST(SplitMatrix, PartsTakeWhatTheySay) {
  const CsrMatrix matrix = drawn_matrix({"11..1",  //
                                         "11...",  //
                                         "..1.1",  //
                                         "..1.1"});
  HybridSplit split;
  split.parts = {part_of(Take::kBlocks, "bcsr-2x2/scalar"), part_of(Take::kRest, "coo/group")};
  split.parts[0].block_share = 0.5;
  EXPECT_THAT(split_matrix(matrix, split)[0].starts, ElementsAre(0, 2, 4, 4, 4));
  split.parts[0].block_share = 0.4;
  EXPECT_THAT(split_matrix(matrix, split)[0].starts, ElementsAre(0, 2, 4, 6, 8));
  split.parts[0] = part_of(Take::kRowStarts, "ell/lanes1");
  split.parts[0].width = 1;
  EXPECT_THAT(split_matrix(matrix, split)[0].columns, ElementsAre(0, 0, 2, 2));
  split.parts[0] = part_of(Take::kDiagonals, "dia/row");
  split.parts[0].offsets = {0, 4};
  EXPECT_THAT(split_matrix(matrix, split)[0].columns, ElementsAre(0, 4, 1, 2));
}

TEST(Generators, HaveTheStructureOfTheirClass) {
  for (const MatrixClass& each : matrix_classes()) {
    const CsrMatrix matrix = generate_matrix(each.name, 0.02, 7);
    EXPECT_NO_THROW(check_csr(matrix)) << each.name;
    EXPECT_EQ(matrix, generate_matrix(each.name, 0.02, 7)) << each.name;
    EXPECT_NE(matrix.values, generate_matrix(each.name, 0.02, 8).values) << each.name;
  }
  const CsrMatrix dense = generate_matrix("dense", 0.01, 1);
  EXPECT_EQ(dense.nonzeros(), dense.rows * dense.cols);
  const CsrMatrix lattice = generate_matrix("lattice", 0.1, 1);
  EXPECT_EQ(lattice.nonzeros(), 39 * lattice.rows);
  EXPECT_EQ(count_blocks(lattice, {3, 3}) * 9, lattice.nonzeros());
  const CsrMatrix elements = generate_matrix("elements", 0.02, 1);
  EXPECT_EQ(count_blocks(elements, {3, 3}) * 9, elements.nonzeros());
  const CsrMatrix shell = generate_matrix("shell", 0.02, 1);
  EXPECT_EQ(count_blocks(shell, {6, 6}) * 36, shell.nonzeros());
  const CsrMatrix grid = generate_matrix("grid27", 0.02, 1);
  EXPECT_EQ(longest_row(grid), 27U);
  const CsrMatrix web = generate_matrix("web", 0.1, 1);
  EXPECT_GT(longest_row(web), 300 * web.nonzeros() / web.rows);
  const CsrMatrix programme = generate_matrix("programme", 0.02, 1);
  EXPECT_GT(programme.cols, 200 * programme.rows);
  EXPECT_THROW(generate_matrix("sparse", 1.0, 1), ConfigError);
  EXPECT_THROW(generate_matrix("dense", 0.0, 1), ConfigError);
}

}  // namespace
}  // namespace diacut::testing
