// Prolongation and restriction against plain loops in double.
#include "eigen/multilevel/transfer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"

namespace diacut::testing {
namespace {

using Problem = testing::BlockProblem;

class TransferTest : public BlockTest {};

/// The sum of the products of a and b, and of their magnitudes.
std::pair<double, double> inner_product(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double product = static_cast<double>(a[i]) * b[i];
    sum += product;
    magnitude += std::abs(product);
  }
  return {sum, magnitude};
}

// With as many coarse elements as one work-item computes by itself, and with fewer.
TEST_F(TransferTest, RestrictionOnAGpuIsTheTransposeAtEachSize) {
  context_.treat_as(DeviceKind::kGpu);
  constexpr int kColumns = 4;
  unsigned seed = 900;
  for (const Grid& size : {Grid{67, 66}, {701, 587}}) {
    const Problem problem(size.width, size.height, 5, ++seed, {0});
    const NormalizedMatrix dia = matrix_of(context_, problem);
    const CompressedProblem compressed(context_, problem);
    const Buffer<float> gains = uploaded(random_values(problem.rows(), ++seed));
    const std::size_t coarse_rows = at_size((size.width + 1) / 2 * ((size.height + 1) / 2));
    const std::vector<float> coarse = random_values(coarse_rows * kColumns, ++seed);
    const std::vector<float> fine = random_values(problem.rows() * kColumns, ++seed);
    Guarded<float> coarse_in(context_, coarse);
    Guarded<float> fine_in(context_, fine);
    for (const MatrixForm form : {MatrixForm::kDia, MatrixForm::kCompressed}) {
      SCOPED_TRACE(::testing::Message()
                   << size.width << "x" << size.height << ", form " << static_cast<int>(form));
      const NormalizedMatrix& matrix = form == MatrixForm::kDia ? dia : compressed.matrix;
      BlockTransfer transfer(context_, problem.stencil, kColumns, form);
      Guarded<float> prolonged(context_, fine.size());
      Guarded<float> restricted(context_, coarse.size());
      transfer.prolong(matrix, gains, *coarse_in, false, *prolonged, kColumns);
      transfer.restrict_to(matrix, gains, *fine_in, 1, *restricted, kColumns);
      const auto [up, up_magnitude] = inner_product(prolonged.values(), fine);
      const auto [down, down_magnitude] = inner_product(restricted.values(), coarse);
      // Each product of either sum is off by few roundings, and these do not add up in one
      // direction.
      EXPECT_NEAR(up, down, 8 * testing::kEps * std::sqrt(up_magnitude * down_magnitude));
      EXPECT_GT(std::abs(up), 1e-4 * up_magnitude);
    }
  }
}

}  // namespace
}  // namespace diacut::testing
