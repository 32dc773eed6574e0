#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace diacut {

/// A rectangle of a picture.
struct TileArea {
  std::int64_t x = 0;  ///< The first column.
  std::int64_t y = 0;  ///< The first row.
  int width = 0;
  int height = 0;

  std::size_t pixels() const { return static_cast<std::size_t>(width) * height; }
};

/// A picture divided into squares, of which those at the right and lower edges may be smaller.
/// Tiles are numbered row by row.
struct Tiling {
  std::int64_t width = 0;   ///< Of the picture.
  std::int64_t height = 0;  ///< Of the picture.
  int side = 0;             ///< Of the tiles.

  std::size_t columns() const { return count(width); }
  std::size_t rows() const { return count(height); }
  std::size_t tiles() const { return columns() * rows(); }
  std::uint64_t pixels() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }
  TileArea area(std::size_t tile) const {
    const auto x = static_cast<std::int64_t>(tile % columns()) * side;
    const auto y = static_cast<std::int64_t>(tile / columns()) * side;
    return {x, y, static_cast<int>(std::min<std::int64_t>(side, width - x)),
            static_cast<int>(std::min<std::int64_t>(side, height - y))};
  }

 private:
  std::size_t count(std::int64_t pixels) const {
    return static_cast<std::size_t>((pixels + side - 1) / side);
  }
};

}  // namespace diacut
