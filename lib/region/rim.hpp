#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace diacut {

/// Boundary strength in the steps in which floods tell it apart.
using Level = std::uint16_t;

/// The level of a strength, which is clamped to [0, 1]; 0 for what is no number.
inline Level level_of(float strength) {
  const float clamped = strength > 0.0F ? std::min(strength, 1.0F) : 0.0F;
  // A half and more goes up; exact in double.
  constexpr float kSteps = std::numeric_limits<Level>::max();
  return static_cast<Level>(static_cast<double>(clamped * kSteps) + 0.5);
}

/// Distances within a plateau, as watershed() defines them, that are no numbers.
inline constexpr std::uint32_t kNoLowerNeighbour = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kNoPixel = kNoLowerNeighbour - 1;

/// Where the pixels around a tile stand in a list of them: those above it from left to right, those
/// to the left from top to bottom, those to the right, and those below. Pixels that touch a corner
/// of the tile alone are not among them. The outermost pixels of the tile itself are listed in the
/// same way; those at its corners stand there twice.
struct RimPlaces {
  std::size_t width = 0;   ///< Of the tile.
  std::size_t height = 0;  ///< Of the tile.

  std::size_t count() const { return 2 * (width + height); }
  std::size_t top(std::size_t x) const { return x; }
  std::size_t left(std::size_t y) const { return width + y; }
  std::size_t right(std::size_t y) const { return width + height + y; }
  std::size_t bottom(std::size_t x) const { return width + 2 * height + x; }

  /// Calls visit(place, x, y) for each of the tile's outermost pixels.
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::size_t x = 0; x < width; ++x) visit(top(x), x, std::size_t{0});
    for (std::size_t y = 0; y < height; ++y) visit(left(y), std::size_t{0}, y);
    for (std::size_t y = 0; y < height; ++y) visit(right(y), width - 1, y);
    for (std::size_t x = 0; x < width; ++x) visit(bottom(x), x, height - 1);
  }
};

/// What a flood has to know of the pixels around a tile, in the order of RimPlaces.
struct Rim {
  std::vector<Level> level;
  /// The distance within the plateau, in the whole picture; kNoLowerNeighbour on plateaus without a
  /// lower neighbour; kNoPixel where there is no data, or no picture.
  std::vector<std::uint32_t> distance;
};

}  // namespace diacut
