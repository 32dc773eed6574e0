#include "matrix/interpolation.hpp"

namespace diacut {

namespace {

constexpr std::size_t kWidestVector = 16;  // Floats that a kernel computes at once, at most.

}  // namespace

PlaneGrid::PlaneGrid(int image_width, int image_height, int reach)
    : width(image_width),
      height(image_height),
      columns(static_cast<int>(round_up(static_cast<std::size_t>(reach), 8))),
      rows(reach),
      stride(2 * columns +
             static_cast<int>(round_up(static_cast<std::size_t>(width), kWidestVector))),
      pitch(dia_pitch(elements())) {}

KeptNeighbours::KeptNeighbours(int radius) {
  for (int parity = 0; parity < 4; ++parity) {
    first[static_cast<std::size_t>(parity)] = static_cast<int>(cells.size());
    for (int dy = -radius; dy <= radius; ++dy) {
      for (int dx = -radius; dx <= radius; ++dx) {
        const int x = 2 * dx - parity % 2;
        const int y = 2 * dy - parity / 2;
        if (x * x + y * y <= radius * radius) cells.push_back({dx, dy});
      }
    }
  }
  first[4] = static_cast<int>(cells.size());
}

}  // namespace diacut
