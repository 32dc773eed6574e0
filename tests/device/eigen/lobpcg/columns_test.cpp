// Vectors into columns of blocks and out of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "guarded.hpp"

namespace diacut::testing {
namespace {

class BlockColumnsTest : public BlockTest {};

TEST_F(BlockColumnsTest, SegmentsHaveFactorsAndOrdersOfTheirOwn) {
  constexpr int kColumns = 8;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 30U, 77U}) {
    SCOPED_TRACE(each);
    const std::size_t count = each * kColumns;
    BlockColumns columns(context_, kColumns);
    const std::vector<float> b = random_values(kSegments * count, 2);
    const std::vector<float> vector = random_values(kSegments * each, 3);
    Guarded<float> b_in(context_, b);
    Guarded<float> vector_in(context_, vector);
    columns.insert(*vector_in, uploaded({5, 6, 1, 2, -3}), 2, kSegments, each, 7, *b_in);
    const std::vector<float> inserted = b_in.values();
    const float factors[] = {1, 2, -3};
    for (std::size_t at = 0; at < inserted.size(); ++at) {
      const bool in_column = at % kColumns == 7;
      ASSERT_EQ(inserted[at], in_column ? factors[at / count] * vector[at / kColumns] : b[at]);
    }
    // The middle one alone, its last column turned.
    const std::vector<std::int32_t> wanted = {1, 2, 3, -8, 1, 2, 3, 4, 5, 6, 7, 8,
                                              1, 2, 3, 4,  5, 6, 7, 8, 1, 1, 1, 1};
    Guarded<float> basis(context_, 2 * 96);
    columns.extract(*b_in, {each, each, Uploaded(context_, wanted), 2, 2}, 96, *basis);
    const std::vector<float> found = basis.values();
    for (std::size_t i = 0; i < 96; ++i) {
      ASSERT_EQ(found[i], i < each ? inserted[count + i * kColumns + 2] : 0);
      ASSERT_EQ(found[96 + i], i < each ? -inserted[count + i * kColumns + 7] : 0);
    }
  }
}

}  // namespace
}  // namespace diacut::testing
