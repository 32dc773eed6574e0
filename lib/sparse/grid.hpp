#pragma once

#include <cstddef>

namespace diacut {

/// How an image lies in a vector: pixel (x, y) is element y * stride + x. Elements between width
/// and stride belong to no pixel and have no affinity. Precondition: stride >= width >= 1,
/// height >= 1.
struct Grid {
  int width = 0;
  int height = 0;
  int stride = 0;

  std::size_t rows() const {
    return static_cast<std::size_t>(stride) * static_cast<std::size_t>(height);
  }
  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  bool operator==(const Grid&) const = default;
};

}  // namespace diacut
