// Gram matrices of blocks against plain loops in double.
#include "eigen/lobpcg/gram_matrices.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"

namespace diacut {
namespace {

using testing::at_size;
using testing::BlockPrecisionTest;
using testing::column_of;
using testing::Guarded;
using testing::kEps;
using testing::precision_name;
using testing::random_values;

class GramMatricesTest : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, GramMatricesTest, ::testing::Bool(), precision_name);

TEST_P(GramMatricesTest, AgreeWithPlainLoops) {
  unsigned seed = 500;
  for (const auto& [columns, wanted] :
       {std::pair(8, 8), std::pair(24, 24), std::pair(24, 1), std::pair(24, 10)}) {
    for (const std::size_t rows : {1U, 31U, 33U, 64U, 513U, 3001U}) {
      Workspace workspace(context_, columns, 4000);
      GramKernels kernels(workspace);
      const int width = workspace.narrow_columns(wanted);
      SCOPED_TRACE(::testing::Message()
                   << columns << " and " << width << " columns, " << rows << " rows");
      const std::array<int, 3> wide = {columns, width, width};
      std::vector<std::vector<float>> host;
      std::vector<Guarded<float>> blocks;
      blocks.reserve(6);
      for (std::size_t b = 0; b < 6; ++b) {
        host.push_back(random_values(rows * at_size(wide[b % 3]), ++seed));
        blocks.emplace_back(context_, host.back());
      }
      // Of each column of S its block and its place there.
      std::vector<std::pair<int, int>> place;
      for (int b = 0; b < 3; ++b) {
        for (int k = 0; k < wide[at_size(b)]; ++k) place.emplace_back(b, k);
      }
      // All products, and only some; a bit each.
      for (const auto& [used, known] : {std::pair(1, 1), std::pair(2, 3), std::pair(3, 7),
                                        std::pair(2, 2), std::pair(3, 2), std::pair(3, 6)}) {
        SCOPED_TRACE(::testing::Message() << used << " blocks, products " << known);
        const auto product_of = [&, given = known](int b) {
          return (given >> b & 1) != 0 ? &*blocks[at_size(3 + b)] : nullptr;
        };
        const BasisBlocks s{&*blocks[0], used > 1 ? &*blocks[1] : nullptr,
                            used > 2 ? &*blocks[2] : nullptr};
        const std::vector<GramMatrices> grams =
            kernels.compute(s, {product_of(0), product_of(1), product_of(2)}, width, {rows, rows});
        ASSERT_EQ(grams.size(), 1U);
        const GramMatrices& gram = grams.front();
        ASSERT_EQ(gram.side, columns + (used - 1) * width);
        for (int i = 0; i < gram.side; ++i) {
          for (int j = i; j < gram.side; ++j) {
            const std::size_t at = at_size(i * gram.side + j);
            for (const int product : {0, 3}) {
              // Of a product that is not given, the other one.
              const bool turned = product == 3 && product_of(place[at_size(j)].first) == nullptr;
              if (turned && product_of(place[at_size(i)].first) == nullptr) {
                ASSERT_EQ(gram.product[at], 0);
                continue;
              }
              const auto [left_block, left_column] = place[at_size(turned ? j : i)];
              const auto [right_block, right_column] = place[at_size(turned ? i : j)];
              const auto left =
                  column_of(host[at_size(left_block)], wide[at_size(left_block)], left_column);
              const auto right = column_of(host[at_size(product + right_block)],
                                           wide[at_size(right_block)], right_column);
              double sum = 0;
              double magnitude = 0;
              for (std::size_t row = 0; row < rows; ++row) {
                sum += left[row] * right[row];
                magnitude += std::abs(left[row] * right[row]);
              }
              // In tiles on the diagonal both halves are computed, and the later one is kept.
              const auto& found = product == 0 ? gram.self : gram.product;
              const bool same_tile =
                  left_block == right_block && left_column / 8 == right_column / 8 && product == 3;
              if (same_tile && i != j) continue;
              ASSERT_LE(std::abs(found[at] - sum), 34 * kEps * magnitude) << i << ", " << j;
              EXPECT_EQ(found[at], found[at_size(j * gram.side + i)]);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace diacut
