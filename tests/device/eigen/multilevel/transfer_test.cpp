// Prolongation and restriction against plain loops in double.
#include "eigen/multilevel/transfer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"

namespace diacut {
namespace {

using testing::at_size;
using testing::BlockSize;
using testing::BlockTest;
using testing::CompressedProblem;
using testing::expect_near;
using testing::Guarded;
using testing::kBlockSizes;
using testing::on_device;
using testing::random_values;
using testing::reference_interpolation;
using Problem = testing::BlockProblem;

class TransferTest : public BlockTest {};

TEST_F(TransferTest, TransfersAgreeWithPlainLoops) {
  unsigned seed = 300;
  const int narrow = 5 * block_vector(context_.info(), 8);
  for (const auto& [columns, form] :
       {std::pair(4, MatrixForm::kDia), std::pair(8, MatrixForm::kDia),
        std::pair(24, MatrixForm::kDia), std::pair(narrow, MatrixForm::kDia),
        std::pair(8, MatrixForm::kCompressed), std::pair(24, MatrixForm::kCompressed),
        std::pair(narrow, MatrixForm::kCompressed)}) {
    for (const BlockSize& size : kBlockSizes) {
      SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << ", " << columns
                                        << " columns, form " << static_cast<int>(form));
      Problem problem(size.width, size.height, size.padding, 5, ++seed, {0});
      const NormalizedMatrix dia = on_device(context_, problem);
      const CompressedProblem compressed(context_, problem);
      const bool whole = form == MatrixForm::kDia;
      if (!whole) problem.matrix = compressed.rounded;
      const NormalizedMatrix& matrix = whole ? dia : compressed.matrix;
      BlockTransfer transfer(context_, problem.stencil, 24, form);
      std::vector<float> gain = random_values(problem.rows(), ++seed);
      for (std::size_t i = 0; i < gain.size(); ++i) {
        if (i % static_cast<std::size_t>(problem.stride()) >= at_size(size.width)) gain[i] = 0;
      }
      const auto p = reference_interpolation(problem, gain);
      const std::size_t coarse_rows = at_size((size.width + 1) / 2 * ((size.height + 1) / 2));
      const auto wide = at_size(columns);
      const std::vector<float> coarse = random_values(coarse_rows * wide, ++seed);
      const std::vector<float> fine = random_values(problem.rows() * wide, ++seed);
      const Buffer<float> gains = uploaded(gain);
      Guarded<float> coarse_in(context_, coarse);
      Guarded<float> fine_in(context_, fine);
      Guarded<float> prolonged(context_, problem.rows() * wide);
      Guarded<float> added(context_, fine);
      Guarded<float> restricted(context_, coarse_rows * wide);
      transfer.prolong(matrix, gains, *coarse_in, false, *prolonged, columns);
      transfer.prolong(matrix, gains, *coarse_in, true, *added, columns);
      transfer.restrict_to(matrix, gains, *fine_in, 0.5F, *restricted, columns);
      std::vector<double> up(problem.rows() * wide, 0.0);
      std::vector<double> up_magnitude(up.size(), 0.0);
      std::vector<double> down(coarse_rows * wide, 0.0);
      std::vector<double> down_magnitude(down.size(), 0.0);
      for (std::size_t i = 0; i < problem.rows(); ++i) {
        for (std::size_t j = 0; j < coarse_rows; ++j) {
          if (p[i][j] == 0) continue;
          for (std::size_t c = 0; c < wide; ++c) {
            up[i * wide + c] += p[i][j] * coarse[j * wide + c];
            up_magnitude[i * wide + c] += std::abs(p[i][j] * coarse[j * wide + c]);
            down[j * wide + c] += 0.5 * p[i][j] * fine[i * wide + c];
            down_magnitude[j * wide + c] += std::abs(0.5 * p[i][j] * fine[i * wide + c]);
          }
        }
      }
      const double roundings = 4.0 + static_cast<double>(problem.stencil.size());
      expect_near(prolonged.values(), up, up_magnitude, roundings);
      expect_near(restricted.values(), down, down_magnitude, roundings);
      for (std::size_t i = 0; i < up.size(); ++i) {
        up[i] += fine[i];
        up_magnitude[i] += std::abs(fine[i]);
      }
      expect_near(added.values(), up, up_magnitude, roundings);
    }
  }
}

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
  for (const BlockSize& size : {BlockSize{67, 66, 0}, {701, 587, 2}}) {
    const Problem problem(size.width, size.height, size.padding, 5, ++seed, {0});
    const NormalizedMatrix dia = on_device(context_, problem);
    const CompressedProblem compressed(context_, problem);
    const Buffer<float> gains = uploaded(random_values(problem.rows(), ++seed));
    const std::size_t coarse_rows = at_size((size.width + 1) / 2 * ((size.height + 1) / 2));
    const std::vector<float> coarse = random_values(coarse_rows * kColumns, ++seed);
    // Elements between image rows are no pixels.
    std::vector<float> fine = random_values(problem.rows() * kColumns, ++seed);
    const std::size_t line = at_size(problem.stride()) * kColumns;
    for (std::size_t i = 0; i < fine.size(); ++i) {
      if (i % line >= at_size(size.width) * kColumns) fine[i] = 0;
    }
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
}  // namespace diacut
