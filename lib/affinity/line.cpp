#include "affinity/line.hpp"

#include <algorithm>
#include <cstdlib>

namespace diacut {

std::vector<StencilOffset> bresenham(StencilOffset end) {
  const int steps = std::max(std::abs(end.dx), std::abs(end.dy));
  const auto at = [steps](int total, int step) {
    const int size = (2 * step * std::abs(total) + steps) / (2 * steps);
    return total < 0 ? -size : size;
  };
  std::vector<StencilOffset> line;
  for (int step = 1; step <= steps; ++step) line.push_back({at(end.dx, step), at(end.dy, step)});
  return line;
}

}  // namespace diacut
