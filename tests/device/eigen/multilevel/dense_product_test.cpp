// Products of dense matrices with blocks against plain loops in double.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/multilevel/transfer.hpp"
#include "guarded.hpp"

namespace diacut::testing {
namespace {

class DenseProductTest : public BlockTest {};

TEST_F(DenseProductTest, ImagesHaveMatricesOfTheirOwn) {
  constexpr int kColumns = 8;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 30U, 77U}) {
    SCOPED_TRACE(each);
    const std::size_t count = each * kColumns;
    DenseProduct dense(context_, kColumns,
                       std::make_shared<const ActiveSegments>(context_, kSegments));
    std::vector<float> matrices = random_values(kSegments * each * each, 1);
    for (std::size_t k = 0; k < kSegments; ++k) {
      float* own = matrices.data() + k * each * each;
      for (std::size_t i = 0; i < each; ++i) {
        for (std::size_t j = 0; j < i; ++j) own[i * each + j] = own[j * each + i];
      }
    }
    const std::vector<float> b = random_values(kSegments * count, 2);
    Guarded<float> m_in(context_, matrices);
    Guarded<float> b_in(context_, b);
    Guarded<float> out(context_, kSegments * count);
    dense.launch(*m_in, each, *b_in, *out, kColumns);
    const std::vector<float> product = out.values();
    for (std::size_t at = 0; at < product.size(); ++at) {
      const std::size_t k = at / count;
      const std::size_t row = at / kColumns % each;
      const std::size_t c = at % kColumns;
      double expected = 0;
      double magnitude = 0;
      for (std::size_t j = 0; j < each; ++j) {
        const double term = static_cast<double>(matrices[(k * each + row) * each + j]) *
                            b[k * count + j * kColumns + c];
        expected += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(product[at], expected, (static_cast<double>(each) + 2) * kEps * magnitude);
    }
  }
}

}  // namespace
}  // namespace diacut::testing
