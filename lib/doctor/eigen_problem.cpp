#include "doctor/eigen_problem.hpp"

#include <cmath>
#include <random>
#include <utility>

namespace diacut {

EigenProblem::EigenProblem(int width, int height, int radius, double noise,
                           const std::vector<std::uint8_t>& hidden, const std::vector<int>& strides)
    : grid{width, height, width}, stencil(strided_stencil(radius, strides)) {
  matrix.shape = dia_shape(grid, stencil);
  const std::size_t n = grid.rows();
  std::mt19937 random(7);
  std::vector<double> grey(n);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int quadrant = (2 * x >= width ? 1 : 0) + (2 * y >= height ? 2 : 0);
      const double level[] = {0.1, 0.5, 0.85, 0.3};
      grey[static_cast<std::size_t>(y * width + x)] =
          level[quadrant] + noise * static_cast<double>(random()) / 4294967296.0;
    }
  }
  std::vector<double> weights(matrix.shape.stored(), 0.0);
  std::vector<double> degree(n, 0.0);
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int u = x + stencil.entries[d].dx;
        const int v = y + stencil.entries[d].dy;
        if (u < 0 || u >= width || v < 0 || v >= height) continue;
        const auto i = static_cast<std::size_t>(y * width + x);
        const auto j = static_cast<std::size_t>(v * width + u);
        if (!hidden.empty() && (hidden[i] != 0 || hidden[j] != 0)) continue;
        const double w = std::exp(-std::abs(grey[i] - grey[j]) / 0.1);
        weights[d * matrix.shape.pitch + i] = w;
        degree[i] += w;
      }
    }
  }
  matrix.values.assign(matrix.shape.stored(), 0.0F);
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    for (std::size_t i = 0; i < n; ++i) {
      const double w = weights[d * matrix.shape.pitch + i];
      if (w == 0) continue;
      const auto j =
          static_cast<std::size_t>(static_cast<std::int64_t>(i) + matrix.shape.offsets[d]);
      matrix.values[d * matrix.shape.pitch + i] =
          static_cast<float>(w / std::sqrt(degree[i] * degree[j]));
    }
  }
  for (const double d : degree) sqrt_degree.push_back(static_cast<float>(std::sqrt(d)));
}

std::vector<std::vector<double>> EigenProblem::dense() const {
  const std::size_t n = grid.rows();
  std::vector<std::vector<double>> a(n, std::vector<double>(n, 0.0));
  for (std::size_t d = 0; d < matrix.shape.diagonals(); ++d) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t j = static_cast<std::int64_t>(i) + matrix.shape.offsets[d];
      if (j < 0 || j >= static_cast<std::int64_t>(n)) continue;
      a[i][static_cast<std::size_t>(j)] += matrix.values[d * matrix.shape.pitch + i];
    }
  }
  return a;
}

NormalizedMatrix matrix_of(Context& context, const EigenProblem& problem) {
  auto sqrt_degree = context.allocate<float>(problem.sqrt_degree.size(), "a vector");
  sqrt_degree.upload(problem.sqrt_degree);
  return {Batch(problem.grid), problem.stencil, upload(context, problem.matrix).values,
          std::move(sqrt_degree)};
}

}  // namespace diacut
