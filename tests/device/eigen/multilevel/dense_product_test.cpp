// Products of dense matrices with blocks by Eigen.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/multilevel/transfer.hpp"

namespace diacut::testing {
namespace {

class DenseProductTest : public BlockTest {};

TEST_F(DenseProductTest, ImagesHaveMatricesOfTheirOwn) {
  constexpr int kColumns = 8;
  constexpr std::size_t kSegments = 3;
  for (const int each : {1, 30, 77}) {
    SCOPED_TRACE(each);
    DenseProduct dense(context_, kColumns,
                       std::make_shared<const ActiveSegments>(context_, kSegments));
    // One symmetric matrix below the other.
    Rows matrices = rows_of(trial_.normal(kSegments * at_size(each * each)), each);
    for (int first = 0; first < matrices.rows(); first += each) {
      auto own = matrices.middleRows(first, each);
      own = Rows(own.selfadjointView<Eigen::Upper>());
    }
    const std::vector<float> values(numbers_of(matrices).begin(), numbers_of(matrices).end());
    const DrawnBlock b(trial_, kSegments * at_size(each), kColumns);
    Buffer<float> out = trial_.empty(b.values.size());
    dense.launch(trial_.uploaded(values), at_size(each), b.device, out, kColumns);
    Rows expected(b.rows.rows(), kColumns);
    Rows magnitudes(b.rows.rows(), kColumns);
    for (int first = 0; first < matrices.rows(); first += each) {
      const Rows own = matrices.middleRows(first, each);
      const Rows block = b.rows.middleRows(first, each);
      expected.middleRows(first, each) = own * block;
      magnitudes.middleRows(first, each) = own.cwiseAbs() * block.cwiseAbs();
    }
    expect_block(trial_, "product", out, expected, magnitudes, each + 2);
  }
}

}  // namespace
}  // namespace diacut::testing
