#include "answers/problems.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>

namespace diacut {

namespace {

/// Weights of a stencil's entries, before they are divided by their sum, which is a power of two.
struct Weights {
  std::vector<std::int64_t> entries;
  std::int64_t sum = 0;

  explicit Weights(const Stencil& stencil) : entries(stencil.size(), 0) {
    for (std::size_t k = 0; k < stencil.size(); ++k) {
      const StencilOffset& at = stencil.entries[k];
      if (k == stencil.centre() || !stencil.in_disc(at)) continue;
      const double square = at.dx * at.dx + at.dy * at.dy;
      entries[k] = 1 + static_cast<std::int64_t>(60 * std::exp(-square / 3));
      sum += entries[k];
    }
    const auto all = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(sum) + 1));
    entries[stencil.centre()] = all - sum;
    sum = all;
  }
};

/// The place on an axis of `size` pixels that `at` has after reflection.
int reflected(int at, int size) {
  if (at < 0) return -1 - at;
  return at >= size ? 2 * size - 1 - at : at;
}

/// cos(pi wave step / size) for all waves and steps up to `steps`.
std::vector<std::vector<double>> cosines(int size, int steps) {
  std::vector<std::vector<double>> all(at_size(size));
  for (int wave = 0; wave < size; ++wave) {
    for (int step = 0; step <= steps; ++step) {
      all[at_size(wave)].push_back(std::cos(std::numbers::pi * wave * step / size));
    }
  }
  return all;
}

std::vector<double> laplacian_values(const Grid& grid, const Stencil& stencil,
                                     const Weights& weights) {
  const auto across = cosines(grid.width, stencil.radius);
  const auto down = cosines(grid.height, stencil.radius);
  std::vector<double> values;
  for (const std::vector<double>& v : down) {
    for (const std::vector<double>& u : across) {
      double value = 0;
      for (std::size_t k = 0; k < stencil.size(); ++k) {
        const StencilOffset& at = stencil.entries[k];
        value += static_cast<double>(weights.entries[k]) * u[at_size(std::abs(at.dx))] *
                 v[at_size(std::abs(at.dy))];
      }
      values.push_back(1 - value / static_cast<double>(weights.sum));
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

MatrixProblem::MatrixProblem(const Grid& of, const Stencil& neighbours)
    : grid(of), stencil(neighbours), sqrt_degree(of.rows(), 0.0F) {
  matrix.shape = dia_shape(grid, stencil);
  matrix.values.assign(matrix.shape.stored(), 0.0F);
}

Eigen::MatrixXd MatrixProblem::dense() const {
  const auto n = static_cast<std::int64_t>(rows());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  for (std::size_t d = 0; d < matrix.shape.diagonals(); ++d) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t j = i + matrix.shape.offsets[d];
      if (j >= 0 && j < n) a(i, j) += entry(d, static_cast<std::size_t>(i));
    }
  }
  return a;
}

BlockProblem::BlockProblem(int width, int height, int radius, unsigned seed,
                           const std::vector<std::size_t>& hidden)
    : MatrixProblem({width, height}, disc_stencil(radius)) {
  std::vector<bool> data(grid.rows(), true);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> weight(0.001F, 1.0F);
  for (const std::size_t row : hidden) data[row] = false;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (!data[element(x, y)]) continue;
      sqrt_degree[element(x, y)] = 1 + 3 * weight(random);
      for (std::size_t d = stencil.centre(); d < stencil.size(); ++d) {
        const int nx = x + stencil.entries[d].dx;
        const int ny = y + stencil.entries[d].dy;
        if (!contains(nx, ny) || !data[element(nx, ny)]) continue;
        const float value = weight(random);
        entry(d, element(x, y)) = value;
        entry(stencil.opposite(d), element(nx, ny)) = value;
      }
    }
  }
}

CosineProblem::CosineProblem(int width, int height, const Stencil& neighbours)
    : MatrixProblem({width, height}, neighbours) {
  sqrt_degree.assign(rows(), 2.0F);
  const Weights weights(stencil);
  values = laplacian_values(grid, stencil, weights);
  for (std::size_t k = 0; k < stencil.size(); ++k) {
    const float value = static_cast<float>(weights.entries[k]) / static_cast<float>(weights.sum);
    if (value == 0) continue;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int dx = reflected(x + stencil.entries[k].dx, width) - x;
        const int dy = reflected(y + stencil.entries[k].dy, height) - y;
        entry(stencil.index({dx, dy}), element(x, y)) += value;
      }
    }
  }
}

NormalizedMatrix matrix_of(Context& context, const MatrixProblem& problem) {
  auto sqrt_degree = context.allocate<float>(problem.sqrt_degree.size(), "a vector");
  sqrt_degree.upload(problem.sqrt_degree);
  return {Batch(problem.grid), problem.stencil, upload(context, problem.matrix).values,
          std::move(sqrt_degree)};
}

}  // namespace diacut
