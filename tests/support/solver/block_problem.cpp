#include "block_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "guarded.hpp"
#include "reference_symmetric.hpp"

namespace diacut {

NormalizedMatrix matrix_of(Context& context, const BlockProblem& problem, const Batch& batch) {
  testing::Guarded<float> values(context, problem.matrix.values);
  testing::Guarded<float> sqrt_degree(context, problem.sqrt_degree);
  return {batch, problem.stencil, std::move(*values), std::move(*sqrt_degree)};
}

std::vector<double> column_of(const std::vector<float>& block, int columns, int column) {
  std::vector<double> result;
  for (std::size_t i = at_size(column); i < block.size(); i += at_size(columns)) {
    result.push_back(block[i]);
  }
  return result;
}

}  // namespace diacut

namespace diacut::testing {

CompressedProblem::CompressedProblem(Context& context, const BlockProblem& problem)
    : matrix(matrix_of(context, problem)) {
  matrix.compress(context);
  const ReferenceSymmetric reference = reference_compress_rooted(
      problem.matrix, problem.grid, problem.stencil, MatvecStorage::kHalf, problem.sqrt_degree);
  rounded = {reference.shape, {reference.values.begin(), reference.values.end()}};
  // The main diagonal's own error is the subject of the tests of compress() with kRooted.
  const std::vector<float> diagonal = matrix.compressed().diagonal.download();
  for (std::size_t row = 0; row < diagonal.size(); ++row) {
    rounded.values[problem.stencil.centre() * problem.pitch() + row] = diagonal[row];
  }
}

Eigen::SparseMatrix<double> reference_interpolation(const MatrixProblem& problem,
                                                    const std::vector<float>& gain) {
  const int coarse_width = (problem.grid.width + 1) / 2;
  const int coarse_height = (problem.grid.height + 1) / 2;
  std::vector<Eigen::Triplet<double>> entries;
  for (int y = 0; y < problem.grid.height; ++y) {
    for (int x = 0; x < problem.grid.width; ++x) {
      const std::size_t i = problem.element(x, y);
      for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
        const StencilOffset& hop = problem.stencil.entries[d];
        const int nx = x + hop.dx;
        const int ny = y + hop.dy;
        if (!problem.stencil.in_disc(hop) || !problem.contains(nx, ny)) continue;
        if (nx % 2 != 0 || ny % 2 != 0) continue;
        entries.emplace_back(i, ny / 2 * coarse_width + nx / 2, gain[i] * problem.entry(d, i));
      }
    }
  }
  Eigen::SparseMatrix<double> p(static_cast<Eigen::Index>(problem.rows()),
                                coarse_width * coarse_height);
  p.setFromTriplets(entries.begin(), entries.end());
  return p;
}

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected,
                 const std::vector<double>& magnitude, double roundings) {
  ASSERT_EQ(found.size(), expected.size());
  expect_numbers(found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_LE(std::abs(found[i] - expected[i]), roundings * kEps * magnitude[i])
        << "value " << i << ": " << found[i] << ", expected " << expected[i];
  }
}

}  // namespace diacut::testing
