#include "doctor/block_problem.hpp"

#include <random>
#include <utility>

#include "doctor/guarded.hpp"
#include "matrix/symmetric_dia.hpp"

namespace diacut {

BlockProblem::BlockProblem(int width, int height, int padding, int radius, unsigned seed,
                           const std::vector<std::size_t>& hidden)
    : grid{width, height, width + padding}, stencil(disc_stencil(radius)) {
  matrix.shape = dia_shape(grid, stencil);
  matrix.values.assign(matrix.shape.stored(), 0.0F);
  sqrt_degree.assign(grid.rows(), 0.0F);
  std::vector<bool> data(grid.rows(), false);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> weight(0.001F, 1.0F);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) data[element(x, y)] = true;
  }
  for (const std::size_t row : hidden) data[row] = false;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (!data[element(x, y)]) continue;
      sqrt_degree[element(x, y)] = 1 + 3 * weight(random);
      for (std::size_t d = stencil.centre(); d < stencil.size(); ++d) {
        const int nx = x + stencil.entries[d].dx;
        const int ny = y + stencil.entries[d].dy;
        if (nx < 0 || nx >= width || ny >= height || !data[element(nx, ny)]) continue;
        const float value = weight(random);
        matrix.values[d * pitch() + element(x, y)] = value;
        matrix.values[stencil.opposite(d) * pitch() + element(nx, ny)] = value;
      }
    }
  }
}

double BlockProblem::value(std::size_t i, int dx, int dy) const {
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    if (stencil.entries[d].dx == dx && stencil.entries[d].dy == dy) {
      return matrix.values[d * pitch() + i];
    }
  }
  return 0;
}

NormalizedMatrix matrix_of(Context& context, const BlockProblem& problem, const Batch& batch) {
  Guarded<float> values(context, problem.matrix.values);
  Guarded<float> sqrt_degree(context, problem.sqrt_degree);
  return {batch, problem.stencil, std::move(*values), std::move(*sqrt_degree)};
}

CompressedProblem::CompressedProblem(Context& context, NormalizedMatrix dia,
                                     const BlockProblem& problem)
    : matrix(std::move(dia)) {
  matrix.compress(context);
  const ReferenceSymmetric reference = reference_compress_rooted(
      problem.matrix, problem.grid, problem.stencil, MatvecStorage::kHalf, problem.sqrt_degree);
  rounded = {reference.shape, {reference.values.begin(), reference.values.end()}};
  // The main diagonal's own error is the subject of the tests of compress_rooted().
  const std::vector<float> diagonal = matrix.compressed().diagonal.download();
  for (std::size_t row = 0; row < diagonal.size(); ++row) {
    rounded.values[problem.stencil.centre() * problem.pitch() + row] = diagonal[row];
  }
}

std::vector<double> column_of(const std::vector<float>& block, int columns, int column) {
  std::vector<double> result;
  for (std::size_t i = at_size(column); i < block.size(); i += at_size(columns)) {
    result.push_back(block[i]);
  }
  return result;
}

std::vector<std::vector<double>> reference_interpolation(const BlockProblem& problem,
                                                         const std::vector<float>& gain) {
  const int coarse_width = (problem.grid.width + 1) / 2;
  const int coarse_height = (problem.grid.height + 1) / 2;
  std::vector<std::vector<double>> p(
      problem.rows(), std::vector<double>(at_size(coarse_width * coarse_height), 0.0));
  for (int y = 0; y < problem.grid.height; ++y) {
    for (int x = 0; x < problem.grid.width; ++x) {
      const std::size_t i = problem.element(x, y);
      for (const StencilOffset& entry : problem.stencil.entries) {
        const int nx = x + entry.dx;
        const int ny = y + entry.dy;
        if (nx < 0 || ny < 0 || nx >= problem.grid.width || ny >= problem.grid.height ||
            nx % 2 != 0 || ny % 2 != 0) {
          continue;
        }
        p[i][at_size(ny / 2 * coarse_width + nx / 2)] =
            gain[i] * problem.value(i, entry.dx, entry.dy);
      }
    }
  }
  return p;
}

}  // namespace diacut
