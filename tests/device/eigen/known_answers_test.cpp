// Known answers of kernels over blocks of vectors.
#include "known_answers.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "block_test.hpp"

namespace diacut::testing {
namespace {

/// Runs a check with a trial of its own: the same numbers whatever was drawn before.
template <class Check, class... Given>
void expect_right(Context& context, const Check& check, const Given&... given) {
  Trial trial(context);
  EXPECT_NO_THROW(check(trial, given...));
}

class KnownAnswers : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, KnownAnswers, ::testing::Bool(), precision_name);

TEST_P(KnownAnswers, NormsOfResiduals) {
  for (const std::size_t rows : {1U, 33U, 513U, 3001U}) {
    SCOPED_TRACE(rows);
    expect_right(context_, check_residual_norms, BlockShape{24, 24, rows, 4000});
  }
}

TEST_P(KnownAnswers, Projections) {
  for (const int wanted : {1, 10, 24}) {
    for (const std::size_t rows : {1U, 17U, 513U, 3001U}) {
      SCOPED_TRACE(::testing::Message() << wanted << " columns, " << rows << " rows");
      expect_right(context_, check_projection, BlockShape{24, wanted, rows, 4000});
    }
  }
}

TEST_P(KnownAnswers, GramMatricesWithAllProductsAndSome) {
  for (const auto& [columns, wanted] :
       {std::pair(8, 8), std::pair(24, 24), std::pair(24, 1), std::pair(24, 10)}) {
    for (const std::size_t rows : {1U, 31U, 33U, 64U, 513U, 3001U}) {
      for (const auto& [used, known] : {std::pair(1, 1), std::pair(2, 3), std::pair(3, 7),
                                        std::pair(2, 2), std::pair(3, 2), std::pair(3, 6)}) {
        SCOPED_TRACE(::testing::Message() << columns << " and " << wanted << " columns, " << rows
                                          << " rows, " << used << " blocks, products " << known);
        expect_right(context_, check_gram_matrices, BlockShape{columns, wanted, rows, 4000}, used,
                     known);
      }
    }
  }
}

class KnownAnswersOfBlocks : public BlockTest {};

TEST_F(KnownAnswersOfBlocks, BasisUpdates) {
  for (const auto& [columns, wanted] :
       {std::pair(8, 8), std::pair(24, 24), std::pair(24, 3), std::pair(128, 128)}) {
    for (const std::size_t rows : {1U, 15U, 17U, 200U}) {
      for (int used = 1; used <= 3; ++used) {
        SCOPED_TRACE(::testing::Message() << columns << " and " << wanted << " columns, " << rows
                                          << " rows, " << used << " blocks");
        expect_right(context_, check_basis_update, BlockShape{columns, wanted, rows}, used);
      }
    }
  }
}

TEST_F(KnownAnswersOfBlocks, BlocksBetweenGrids) {
  unsigned seed = 300;
  const int narrow = 5 * block_vector(context_.info(), 8);
  for (const Grid& size : kBlockSizes) {
    for (const int columns : {4, 8, 24, narrow}) {
      SCOPED_TRACE(::testing::Message()
                   << size.width << "x" << size.height << ", " << columns << " columns");
      BlockProblem problem(size.width, size.height, 5, ++seed, {0});
      expect_right(context_, check_transfer, problem, matrix_of(context_, problem), columns);
      if (columns == 4) continue;
      const CompressedProblem compressed(context_, problem);
      problem.matrix = compressed.rounded;
      expect_right(context_, check_transfer, problem, compressed.matrix, columns);
    }
  }
}

TEST_F(KnownAnswersOfBlocks, CoarseMatrices) {
  unsigned seed = 100;
  for (const Grid& size : kBlockSizes) {
    for (const int radius : {2, 5}) {
      SCOPED_TRACE(::testing::Message()
                   << size.width << "x" << size.height << " radius " << radius);
      const BlockProblem problem(size.width, size.height, radius, ++seed);
      expect_right(context_, check_coarse_matrix, problem, matrix_of(context_, problem),
                   NullSpace::kTrivial);
    }
  }
}

}  // namespace
}  // namespace diacut::testing
