#include "eigen_problem.hpp"

#include <cmath>
#include <random>

namespace diacut {

EigenProblem::EigenProblem(int width, int height, int radius, double noise,
                           const std::vector<std::uint8_t>& hidden, const std::vector<int>& strides)
    : MatrixProblem({width, height}, strided_stencil(radius, strides)) {
  std::mt19937 random(7);
  std::vector<double> grey;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int quadrant = (2 * x >= width ? 1 : 0) + (2 * y >= height ? 2 : 0);
      const double level[] = {0.1, 0.5, 0.85, 0.3};
      grey.push_back(level[quadrant] + noise * static_cast<double>(random()) / 4294967296.0);
    }
  }
  std::vector<double> weights(matrix.shape.stored(), 0.0);
  std::vector<double> degree(rows(), 0.0);
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int u = x + stencil.entries[d].dx;
        const int v = y + stencil.entries[d].dy;
        if (!contains(u, v)) continue;
        const std::size_t i = element(x, y);
        const std::size_t j = element(u, v);
        if (!hidden.empty() && (hidden[i] != 0 || hidden[j] != 0)) continue;
        const double w = std::exp(-std::abs(grey[i] - grey[j]) / 0.1);
        weights[d * pitch() + i] = w;
        degree[i] += w;
      }
    }
  }
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    for (std::size_t i = 0; i < rows(); ++i) {
      const double w = weights[d * pitch() + i];
      if (w == 0) continue;
      const auto j =
          static_cast<std::size_t>(static_cast<std::int64_t>(i) + matrix.shape.offsets[d]);
      entry(d, i) = static_cast<float>(w / std::sqrt(degree[i] * degree[j]));
    }
  }
  for (std::size_t i = 0; i < rows(); ++i)
    sqrt_degree[i] = static_cast<float>(std::sqrt(degree[i]));
}

}  // namespace diacut
