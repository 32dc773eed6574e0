#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "device_profiles.hpp"
#include "diacut/errors.hpp"
#include "sparse_matrices.hpp"
#include "spmv/generators.hpp"
#include "spmv/hybrid/choice.hpp"
#include "spmv/hybrid/plan.hpp"

namespace diacut {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Take = HybridPart::Take;

HybridPlan best(const CsrMatrix& matrix, DeviceKind kind = DeviceKind::kGpu) {
  const std::vector<HybridPlan> plans =
      plan_hybrids(matrix, testing::plausible_format_profile(kind), 4, {6000});
  EXPECT_FALSE(plans.empty());
  return plans.front();
}

std::string best_of(const std::string& name, double scale = 0.1) {
  return to_string(best(generate_matrix(name, scale, 1)));
}

TEST(HybridPlan, RegularMatricesGetTheFormatThatHoldsThemWithLeastBytes) {
  EXPECT_THAT(best_of("grid5"), ::testing::AnyOf(StartsWith("dia/"), StartsWith("bdia/")));
  EXPECT_THAT(best_of("grid27"), ::testing::AnyOf(StartsWith("dia/"), StartsWith("bdia/")));
  EXPECT_THAT(best_of("dense"), HasSubstr("8x8"));
  EXPECT_THAT(best_of("elements"), HasSubstr("3x3"));
  // 6x6 blocks: 3x3 fits them, and 2x2 nearly as well.
  EXPECT_THAT(best_of("shell"), ::testing::AnyOf(HasSubstr("3x3"), HasSubstr("2x2")));
}

TEST(HybridPlan, DiagonalsAreTakenOutOfWhatElseThereIs) {
  const HybridPlan plan = best(generate_matrix("quantum", 0.2, 1));
  ASSERT_GE(plan.parts.size(), 2U) << to_string(plan);
  EXPECT_EQ(plan.parts[0].take, Take::kDiagonals);
  // The stencil's 37, and no diagonal of the clusters.
  EXPECT_EQ(plan.parts[0].offsets.size(), 37U);
}

TEST(HybridPlan, IrregularMatricesGetNoPaddingToSpeakOf) {
  for (const char* name : {"web", "circuit", "economics"}) {
    const HybridPlan plan = best(generate_matrix(name, 0.1, 1));
    for (const HybridPart& part : plan.parts) {
      EXPECT_NE(part.implementation.format, Format::kBell) << name;
      EXPECT_NE(part.implementation.format, Format::kSbell) << name;
      EXPECT_LE(part.offsets.size(), 1U) << name;
    }
  }
}

TEST(HybridPlan, ASinglePlanIsAmongTheFirst) {
  for (const MatrixClass& each : matrix_classes()) {
    const CsrMatrix matrix = generate_matrix(each.name, 0.02, 2);
    const std::vector<HybridPlan> plans =
        plan_hybrids(matrix, testing::plausible_format_profile(DeviceKind::kGpu), 3);
    ASSERT_GE(plans.size(), 3U);
    EXPECT_TRUE(std::any_of(plans.begin(), plans.begin() + 3, [](const HybridPlan& plan) {
      return plan.parts.size() == 1;
    })) << each.name;
  }
}

TEST(HybridPlan, WithoutAnythingForTheRestThereIsNoPlan) {
  FormatProfile profile = testing::plausible_format_profile(DeviceKind::kGpu);
  std::erase_if(profile.rates, [](const FormatProfile::Rates& each) {
    return each.implementation.format == Format::kCsr || each.implementation.format == Format::kCoo;
  });
  EXPECT_TRUE(plan_hybrids(testing::random_sparse(9, 9, 0.5, 1), profile, 4).empty());
}

HybridPart part_of(Take take, const char* name) {
  HybridPart part;
  part.take = take;
  part.implementation = implementation_named(name);
  return part;
}

/// Diagonals, then dense 2x2 blocks, then row starts, then the rest.
HybridPlan everything() {
  HybridPlan plan;
  plan.parts = {part_of(Take::kDiagonals, "dia/row"), part_of(Take::kBlocks, "bcsr-2x2/scalar"),
                part_of(Take::kRowStarts, "ell/lanes1"), part_of(Take::kRest, "coo/group")};
  plan.parts[0].offsets = {-3, 0, 5};
  plan.parts[1].block_share = 0.7;
  plan.parts[2].width = 2;
  return plan;
}

TEST(SplitMatrix, EveryEntryIsInOnePart) {
  for (const testing::NamedMatrix& each : testing::tiny_matrices()) {
    SCOPED_TRACE(each.name);
    const std::vector<CsrMatrix> parts = split_matrix(each.matrix, everything());
    ASSERT_EQ(parts.size(), 4U);
    std::vector<MatrixEntry> entries;
    std::size_t count = 0;
    for (const CsrMatrix& part : parts) {
      EXPECT_NO_THROW(check_csr(part));
      EXPECT_EQ(part.rows, each.matrix.rows);
      EXPECT_EQ(part.cols, each.matrix.cols);
      count += part.nonzeros();
      for (std::size_t row = 0; row < part.rows; ++row) {
        for (std::uint64_t e = part.starts[row]; e < part.starts[row + 1]; ++e) {
          entries.push_back(
              {static_cast<std::uint32_t>(row), part.columns[e], double{part.values[e]}});
        }
      }
    }
    EXPECT_EQ(count, each.matrix.nonzeros());
    EXPECT_EQ(csr_from_entries(each.matrix.rows, each.matrix.cols, entries), each.matrix);
  }
}

TEST(SplitMatrix, PartsTakeWhatTheySay) {
  // 1 1 . . 1
  // 1 1 . . .
  // . . 1 . 1
  // . . 1 . 1
  const CsrMatrix matrix = csr_from_entries(4, 5,
                                            {{0, 0, 1},
                                             {0, 1, 1},
                                             {0, 4, 1},
                                             {1, 0, 1},
                                             {1, 1, 1},
                                             {2, 2, 1},
                                             {2, 4, 1},
                                             {3, 2, 1},
                                             {3, 4, 1}});
  HybridPlan plan;
  plan.parts = {part_of(Take::kBlocks, "bcsr-2x2/scalar"), part_of(Take::kRest, "coo/group")};
  plan.parts[0].block_share = 0.5;
  EXPECT_THAT(split_matrix(matrix, plan)[0].starts, ::testing::ElementsAre(0, 2, 4, 4, 4));
  plan.parts[0].block_share = 0.4;
  EXPECT_THAT(split_matrix(matrix, plan)[0].starts, ::testing::ElementsAre(0, 2, 4, 6, 8));
  plan.parts[0] = part_of(Take::kRowStarts, "ell/lanes1");
  plan.parts[0].width = 1;
  EXPECT_THAT(split_matrix(matrix, plan)[0].columns, ::testing::ElementsAre(0, 0, 2, 2));
  plan.parts[0] = part_of(Take::kDiagonals, "dia/row");
  plan.parts[0].offsets = {0, 4};
  EXPECT_THAT(split_matrix(matrix, plan)[0].columns, ::testing::ElementsAre(0, 4, 1, 2));
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
  EXPECT_EQ(grid.longest_row(), 27U);
  const CsrMatrix web = generate_matrix("web", 0.1, 1);
  EXPECT_GT(web.longest_row(), 300 * web.nonzeros() / web.rows);
  const CsrMatrix programme = generate_matrix("programme", 0.02, 1);
  EXPECT_GT(programme.cols, 200 * programme.rows);
  EXPECT_THROW(generate_matrix("sparse", 1.0, 1), ConfigError);
  EXPECT_THROW(generate_matrix("dense", 0.0, 1), ConfigError);
}

}  // namespace
}  // namespace diacut
