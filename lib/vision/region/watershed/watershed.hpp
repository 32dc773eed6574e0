#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "region/arcs/parts.hpp"

namespace diacut {

/// Boundary strength in the steps that floods distinguish.
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

/// Catchment basins of a map of boundary strength (S. Beucher and F. Meyer, "The morphological
/// approach to segmentation: the watershed transformation", 1993). No pixel is left over for a line
/// between basins: the crest's pixels belong to the side from which the slope is gentler, so that
/// the border between two pixels is the one nearest to the top of the crest.
///
/// Water follows one total order of the pixels: by level, then by the distance within their
/// plateau, then by index in scan order. A plateau is a 4-connected piece of one level. The
/// distance is 0 where a 4-neighbour is lower, and on plateaus that have no lower neighbour at all;
/// elsewhere it is the number of steps within the plateau to a pixel of distance 0. Each pixel
/// drains to the least of its 4-neighbours in that order that is less than the pixel itself, or, on
/// a plateau without a lower neighbour, is in the basin of that plateau. What a pixel drains to
/// depends on nothing but its surroundings, so that the basins depend neither on the number of
/// threads nor on how a picture is divided.
///
/// strength: width * height values, row by row, clamped to [0, 1] and distinguished in steps of
/// 1/65535. valid: 0 where there is no data; empty: every pixel has data. The result numbers the
/// basins 1..count in scan order, each 4-connected, 0 without data. Time: the pixels. On all cores.
Labels watershed(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid,
                 int width, int height);

/// That a part of a tile is one basin with the pixel of the rim that stands at `place`.
struct RimMeeting {
  std::int32_t part = 0;
  std::uint32_t place = 0;  ///< As RimPlaces has it.
};

/// The basins of a picture as far as they lie in one tile.
struct TileBasins {
  /// Pieces of basins, 1..count in scan order. Two of them may be of one basin, of which the rest
  /// lies in other tiles.
  Labels parts;
  std::vector<RimMeeting> meetings;  ///< Pieces that go on beyond the rim.
};

/// watershed() of a tile, with what lies around it. Pieces of all tiles that are united where they
/// meet are the basins of the picture.
TileBasins watershed_of_tile(const std::vector<float>& strength,
                             const std::vector<std::uint8_t>& valid, int width, int height,
                             const Rim& rim);

}  // namespace diacut
