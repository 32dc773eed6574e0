#include "doctor/cosine_problem.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "doctor/block_problem.hpp"

namespace diacut {

namespace {

constexpr float kSqrtDegree = 2;

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

CosineProblem::CosineProblem(int width, int height, const Stencil& neighbours)
    : grid{width, height, width},
      stencil(neighbours),
      sqrt_degree(at_size(width * height), kSqrtDegree) {
  const Weights weights(stencil);
  values = laplacian_values(grid, stencil, weights);
  matrix.shape = dia_shape(grid, stencil);
  matrix.values.assign(matrix.shape.stored(), 0.0F);
  const int side = 2 * stencil.radius + 1;
  std::vector<std::size_t> diagonal(at_size(side * side), stencil.size());
  const auto diagonal_of = [&](int dx, int dy) -> std::size_t& {
    return diagonal[at_size((dy + stencil.radius) * side + dx + stencil.radius)];
  };
  for (std::size_t k = 0; k < stencil.size(); ++k) {
    diagonal_of(stencil.entries[k].dx, stencil.entries[k].dy) = k;
  }
  for (std::size_t k = 0; k < stencil.size(); ++k) {
    const float value = static_cast<float>(weights.entries[k]) / static_cast<float>(weights.sum);
    if (value == 0) continue;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int dx = reflected(x + stencil.entries[k].dx, width) - x;
        const int dy = reflected(y + stencil.entries[k].dy, height) - y;
        matrix.values[diagonal_of(dx, dy) * matrix.shape.pitch + at_size(y * width + x)] += value;
      }
    }
  }
}

NormalizedMatrix matrix_of(Context& context, const CosineProblem& problem) {
  auto sqrt_degree = context.allocate<float>(problem.sqrt_degree.size(), "a vector");
  sqrt_degree.upload(problem.sqrt_degree);
  return {Batch(problem.grid), problem.stencil, upload(context, problem.matrix).values,
          std::move(sqrt_degree)};
}

}  // namespace diacut
