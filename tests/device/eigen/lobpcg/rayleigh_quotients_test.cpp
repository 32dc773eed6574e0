// Rayleigh quotients against plain loops in double.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "guarded.hpp"
#include "matrix/quadratic_form.hpp"

namespace diacut::testing {
namespace {

class RayleighQuotientsTest : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, RayleighQuotientsTest, ::testing::Bool(), precision_name);

TEST_P(RayleighQuotientsTest, AgreeWithPlainLoops) {
  constexpr int kColumns = 16;
  unsigned seed = 900;
  for (const BlockSize& size : kBlockSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const testing::BlockProblem problem(size.width, size.height, 5, ++seed);
    const std::size_t rows = problem.rows();
    Workspace workspace(context_, kColumns, rows);
    const std::vector<float> x = random_values(rows * kColumns, ++seed);
    Guarded<float> x_in(context_, x);
    Guarded<float> y_in(context_, rows * kColumns);
    const CompressedProblem compressed(context_, problem);
    const std::vector<cl_int2> upper =
        upper_diagonals(problem.matrix.shape.offsets, problem.matrix.shape.rows);
    const auto check = [&](const HostDiaMatrix& matrix, const NormalizedMatrix& device_matrix) {
      auto parts = context_.allocate<float>(rows * kColumns, "parts of sums");
      const std::vector<double> found =
          RayleighQuotients(workspace, device_matrix).compute(device_matrix, *x_in, *y_in, parts);
      ASSERT_EQ(found.size(), at_size(kColumns));
      const std::vector<float> y = y_in.values();
      for (std::size_t at = 0; at < y.size(); ++at) {
        const float s = problem.sqrt_degree[at / kColumns];
        // OpenCL's division is right to 2.5 units in the last place.
        ASSERT_NEAR(y[at], s > 0 ? x[at] / s : 0, 2.5 * kEps * std::abs(y[at]));
      }
      std::vector<double> expected(kColumns, 0.0);
      for (const cl_int2& each : upper) {
        for (std::size_t i = 0; i + at_size(each.s[1]) < rows; ++i) {
          const std::size_t j = i + at_size(each.s[1]);
          const double weight =
              static_cast<double>(matrix.values[at_size(each.s[0]) * problem.pitch() + i]) *
              problem.sqrt_degree[i] * problem.sqrt_degree[j];
          for (std::size_t c = 0; c < kColumns; ++c) {
            const double difference =
                static_cast<double>(y[i * kColumns + c]) - y[j * kColumns + c];
            expected[c] += weight * difference * difference;
          }
        }
      }
      for (std::size_t c = 0; c < kColumns; ++c) {
        // Positive terms; of each a difference's rounding counts twice beside some of products.
        const auto terms = static_cast<double>(upper.size());
        EXPECT_NEAR(found[c], expected[c], (8 + terms) * kEps * expected[c]) << c;
      }
    };
    check(problem.matrix, matrix_of(context_, problem));
    check(compressed.rounded, compressed.matrix);
  }
}

}  // namespace
}  // namespace diacut::testing
