// Vectors into columns of blocks and out of them.
#include "eigen/lobpcg/columns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"

namespace diacut {
namespace {

using testing::BlockTest;
using testing::Guarded;
using testing::random_values;

class BlockColumnsTest : public BlockTest {};

TEST_F(BlockColumnsTest, ArePutInAndTakenOut) {
  constexpr int kColumns = 24;
  for (const std::size_t rows : {1U, 17U, 130U}) {
    SCOPED_TRACE(rows);
    BlockColumns columns(context_, kColumns);
    const std::vector<float> b = random_values(rows * kColumns, 2);
    Guarded<float> b_in(context_, b);
    const std::vector<float> vector = random_values(rows, 3);
    Guarded<float> vector_in(context_, vector);
    columns.insert(*vector_in, uploaded({7, 2}), 1, 1, rows, 5, *b_in);
    const std::vector<float> inserted = b_in.values();
    const std::size_t pitch = round_up(rows, 32) + 32;
    Guarded<float> basis(context_, 7 * pitch);
    const std::vector<std::int32_t> wanted = {1, 2, 3, 7, -5, 6, 4};
    Uploads uploads(context_);
    columns.extract(*b_in, {0, rows, uploads.put(wanted), 0, 7}, pitch, *basis);
    const std::vector<float> extracted = basis.values();
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        ASSERT_EQ(inserted[i * kColumns + c], c == 5 ? 2 * vector[i] : b[i * kColumns + c]);
      }
    }
    for (std::size_t c = 0; c < 7; ++c) {
      for (std::size_t i = 0; i < pitch; ++i) {
        constexpr std::size_t kFrom[] = {0, 1, 2, 6, 4, 5, 3};
        const float sign = c == 4 ? -1.0F : 1.0F;
        ASSERT_EQ(extracted[c * pitch + i],
                  i < rows ? sign * inserted[i * kColumns + kFrom[c]] : 0);
      }
    }
  }
}

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
    Uploads uploads(context_);
    Guarded<float> basis(context_, 2 * 96);
    columns.extract(*b_in, {each, each, uploads.put(wanted), 2, 2}, 96, *basis);
    const std::vector<float> found = basis.values();
    for (std::size_t i = 0; i < each; ++i) {
      ASSERT_EQ(found[i], inserted[count + i * kColumns + 2]);
      ASSERT_EQ(found[96 + i], -inserted[count + i * kColumns + 7]);
    }
  }
}

}  // namespace
}  // namespace diacut
