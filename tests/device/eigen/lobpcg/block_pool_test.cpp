// Blocks that share a fixed number of buffers.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "eigen/lobpcg/workspace.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

class BlockPoolTest : public ::testing::Test {
 protected:
  Context context_{test_device()};
};

TEST_F(BlockPoolTest, NeverHoldsMoreThanItBeganWith) {
  const std::uint64_t before = context_.memory_in_use();
  BlockPool pool(context_, 2, 100, true);
  const std::uint64_t held = before + 2 * 100 * sizeof(float);
  EXPECT_EQ(context_.memory_in_use(), held);
  {
    std::optional<Block> x = pool.take(8);
    const Block w = pool.take(4);
    EXPECT_EQ(x->columns(), 8);
    EXPECT_EQ(w.columns(), 4);
    EXPECT_EQ((*w).download(), std::vector<float>(100, 0));
    EXPECT_THROW(pool.take(8), std::logic_error);
    x.reset();
    x = pool.take(3);
    EXPECT_THROW(pool.take(8), std::logic_error);
    EXPECT_EQ(context_.memory_in_use(), held);
  }
  Block first = pool.take(8);
  const Block second = pool.take(8);
  EXPECT_EQ(context_.memory_in_use(), held);
}

TEST_F(BlockPoolTest, AnAssignedBlockGivesItsBufferBack) {
  BlockPool pool(context_, 2, 10, true);
  Block x = pool.take(2);
  {
    Block next = pool.take(1);
    (*next).fill(3);
    x = std::move(next);
    EXPECT_EQ(x.columns(), 1);
    EXPECT_EQ((*x).download(), std::vector<float>(10, 3));
    const Block other = pool.take(2);  // What x was.
    EXPECT_EQ((*other).download(), std::vector<float>(10, 0));
  }
  pool.drop_free();
  EXPECT_EQ(context_.memory_in_use(), 10 * sizeof(float));
  EXPECT_THROW(pool.take(1), std::logic_error);
}

}  // namespace
}  // namespace diacut::testing
