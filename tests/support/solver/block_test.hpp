#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "block_problem.hpp"
#include "matrix/block.hpp"
#include "right.hpp"

namespace diacut::testing {

/// Sizes at which kernels over grids go wrong first: single pixels, lines, primes, and one less or
/// one more than a work-group.
inline constexpr Grid kBlockSizes[] = {{1, 1},   {1, 7},    {7, 1},  {2, 2},  {3, 5},
                                       {8, 8},   {63, 1},   {13, 5}, {64, 2}, {65, 3},
                                       {31, 37}, {127, 17}, {67, 66}};

/// Tests of kernels over blocks of vectors.
class BlockTest : public GuardedTest {
 protected:
  /// `usual`, the width of narrow blocks, and the widths that blocks of corrections have.
  std::vector<int> widths(int usual) const {
    return {usual, 4, 8, 16, 5 * block_vector(context_.info(), 8)};
  }
};

/// Tests of kernels that sum in double where the device has it: with it, and without.
class BlockPrecisionTest : public BlockTest, public ::testing::WithParamInterface<bool> {
 protected:
  BlockPrecisionTest() {
    if (!GetParam()) context_.disable_fp64();
  }
};

/// The name of a parameter of BlockPrecisionTest.
inline std::string precision_name(const ::testing::TestParamInfo<bool>& each) {
  return each.param ? "Double" : "Compensated";
}

}  // namespace diacut::testing
