// Known answers of kernels over blocks of vectors.
#include "known_answers.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "block_test.hpp"

namespace diacut::testing {
namespace {

class KnownAnswers : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, KnownAnswers, ::testing::Bool(), precision_name);

TEST_P(KnownAnswers, NormsOfResiduals) {
  for (const std::size_t rows : {1U, 33U, 513U, 3001U}) {
    SCOPED_TRACE(rows);
    expect_right([&](Trial& trial) {
      check_residual_norms(trial, BlockShape{24, 24, rows, 4000});
    });
  }
}

TEST_P(KnownAnswers, Projections) {
  for (const int wanted : {1, 10, 24}) {
    for (const std::size_t rows : {1U, 17U, 513U, 3001U}) {
      SCOPED_TRACE(::testing::Message() << wanted << " columns, " << rows << " rows");
      expect_right([&](Trial& trial) {
        check_projection(trial, BlockShape{24, wanted, rows, 4000});
      });
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
        expect_right([&](Trial& trial) {
          check_gram_matrices(trial, BlockShape{columns, wanted, rows, 4000}, used, known);
        });
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
        expect_right([&](Trial& trial) {
          check_basis_update(trial, BlockShape{columns, wanted, rows}, used);
        });
      }
    }
  }
}

TEST_F(KnownAnswersOfBlocks, BlocksBetweenGrids) {
  unsigned seed = 300;
  const auto check = [&](const Grid& size, int columns, bool compresses) {
    SCOPED_TRACE(::testing::Message()
                 << size.width << "x" << size.height << ", " << columns << " columns");
    BlockProblem problem(size.width, size.height, 5, ++seed, {0});
    expect_right([&](Trial& trial) {
      check_transfer(trial, problem, matrix_of(context_, problem), columns);
    });
    if (!compresses) return;
    const CompressedProblem compressed(context_, problem);
    problem.matrix = compressed.rounded;
    expect_right([&](Trial& trial) { check_transfer(trial, problem, compressed.matrix, columns); });
  };
  const int narrow = 5 * block_vector(context_.info(), 8);
  for (const Grid& size : kBlockSizes) {
    for (const int columns : {4, 8, 24, narrow}) check(size, columns, columns != 4);
  }
  // With as many coarse elements as one work-item of a GPU computes by itself, and with fewer.
  context_.treat_as(DeviceKind::kGpu);
  for (const Grid& size : {Grid{67, 66}, {701, 587}}) check(size, 4, true);
}

TEST_F(KnownAnswersOfBlocks, CoarseMatrices) {
  unsigned seed = 100;
  for (const Grid& size : kBlockSizes) {
    for (const int radius : {2, 5}) {
      SCOPED_TRACE(::testing::Message()
                   << size.width << "x" << size.height << " radius " << radius);
      const BlockProblem problem(size.width, size.height, radius, ++seed);
      expect_right([&](Trial& trial) {
        check_coarse_matrix(trial, problem, matrix_of(context_, problem), NullSpace::kTrivial);
      });
    }
  }
}

}  // namespace
}  // namespace diacut::testing
