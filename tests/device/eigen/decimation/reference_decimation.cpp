#include "reference_decimation.hpp"

#include <cmath>

namespace diacut {

namespace {

bool contains(const PlaneGrid& grid, int x, int y) {
  return x >= 0 && x < grid.width && y >= 0 && y < grid.height;
}

template <class Visit>
void each_pixel(int width, int height, const Visit& visit) {
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) visit(x, y);
  }
}

/// Calls visit(k, neighbour's cell x, y) for the neighbours of the pixel of a parity of a cell that
/// lie in the image.
template <class Visit>
void each_neighbour(const PlaneGrid& cells, const KeptNeighbours& neighbours, std::size_t parity,
                    int x, int y, const Visit& visit) {
  for (int k = neighbours.first[parity]; k < neighbours.first[parity + 1]; ++k) {
    const auto& [dx, dy] = neighbours.cells[static_cast<std::size_t>(k)];
    if (contains(cells, x + dx, y + dy)) visit(static_cast<std::size_t>(k), x + dx, y + dy);
  }
}

}  // namespace

std::vector<double> reference_decimated_matrix(const PlaneGrid& cells, int radius,
                                               std::span<const float> weights) {
  const KeptNeighbours neighbours(radius);
  const Stencil stencil = disc_stencil(radius);
  std::vector<double> matrix(stencil.size() * cells.pitch, 0.0);
  each_pixel(cells.width, cells.height, [&](int x, int y) {
    const auto weight = [&](std::size_t k) -> double {
      return weights[k * cells.pitch + cells.element(x, y)];
    };
    for (std::size_t parity = 0; parity < 4; ++parity) {
      each_neighbour(cells, neighbours, parity, x, y, [&](std::size_t j, int jx, int jy) {
        each_neighbour(cells, neighbours, parity, x, y, [&](std::size_t k, int kx, int ky) {
          const std::size_t d = stencil.index({kx - jx, ky - jy});
          matrix[d * cells.pitch + cells.element(jx, jy)] += weight(j) * weight(k);
        });
      });
    }
  });
  return matrix;
}

ReferenceInterpolation reference_split(const PlaneGrid& grid, int radius,
                                       std::span<const float> matrix) {
  const KeptNeighbours neighbours(radius);
  const Stencil stencil = disc_stencil(radius);
  const PlaneGrid cells = grid.decimated();
  ReferenceInterpolation result{std::vector<double>(neighbours.size() * cells.pitch, 0.0),
                                std::vector<double>(4 * cells.pitch, 0.0)};
  each_pixel(grid.width, grid.height, [&](int x, int y) {
    const int parity = x % 2 + 2 * (y % 2);
    const auto p = static_cast<std::size_t>(parity);
    const std::size_t cell = cells.element(x / 2, y / 2);
    double sum = 0;
    each_neighbour(cells, neighbours, p, x / 2, y / 2, [&](std::size_t k, int, int) {
      const std::size_t d = stencil.index(neighbours.in_pixels(parity, k));
      const double value = matrix[d * grid.pitch + grid.element(x, y)];
      result.weights[k * cells.pitch + cell] = value;
      sum += value;
    });
    const double root = sum > 0 ? 1 / std::sqrt(sum) : 0;
    result.roots[p * cells.pitch + cell] = root;
    for (int k = neighbours.first[p]; k < neighbours.first[p + 1]; ++k) {
      result.weights[static_cast<std::size_t>(k) * cells.pitch + cell] *= root;
    }
  });
  return result;
}

std::vector<double> reference_step(const PlaneGrid& grid, const Stencil& stencil,
                                   std::span<const float> matrix, std::span<const float> x,
                                   std::span<const float> before,
                                   const std::array<double, 3>& factors,
                                   std::vector<double>& degrees) {
  std::vector<double> result(grid.pitch, 0.0);
  degrees.assign(grid.pitch, 0.0);
  each_pixel(grid.width, grid.height, [&](int column, int row) {
    const std::size_t element = grid.element(column, row);
    double product = 0;
    for (std::size_t d = 0; d < stencil.size(); ++d) {
      const auto& [dx, dy] = stencil.entries[d];
      if (!contains(grid, column + dx, row + dy)) continue;
      const double value = matrix[d * grid.pitch + element];
      degrees[element] += value;
      product += value * x[grid.element(column + dx, row + dy)];
    }
    const double own = x[element];
    const double laplacian = degrees[element] > 0 ? own - product / degrees[element] : 0;
    result[element] = factors[0] * laplacian + factors[1] * own + factors[2] * before[element];
  });
  return result;
}

std::vector<double> reference_interpolated(const PlaneGrid& cells, int radius,
                                           std::span<const float> weights,
                                           std::span<const float> roots,
                                           std::span<const float> coarse, int width, int height,
                                           std::vector<double>* magnitude) {
  const KeptNeighbours neighbours(radius);
  std::vector<double> result;
  if (magnitude != nullptr) magnitude->clear();
  each_pixel(width, height, [&](int x, int y) {
    const auto parity = static_cast<std::size_t>(x % 2 + 2 * (y % 2));
    const std::size_t cell = cells.element(x / 2, y / 2);
    const double root = roots[parity * cells.pitch + cell];
    double sum = 0;
    double terms = 0;
    each_neighbour(cells, neighbours, parity, x / 2, y / 2, [&](std::size_t k, int kx, int ky) {
      const double term =
          static_cast<double>(weights[k * cells.pitch + cell]) * coarse[cells.element(kx, ky)];
      sum += term;
      terms += std::abs(term);
    });
    result.push_back(root * sum);
    if (magnitude != nullptr) magnitude->push_back(root * terms);
  });
  return result;
}

}  // namespace diacut
