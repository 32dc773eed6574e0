#pragma once

#include <cstdint>
#include <vector>

#include "region/parts.hpp"
#include "region/rim.hpp"

namespace diacut {

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
/// strength: width * height values, row by row, clamped to [0, 1] and told apart in steps of
/// 1/65535. valid: 0 where there is no data; empty: every pixel has data. The result numbers the
/// basins 1..count in scan order, each 4-connected, 0 without data. Time: the pixels. On all cores.
Parts watershed(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid,
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
  Parts parts;
  std::vector<RimMeeting> meetings;  ///< Pieces that go on beyond the rim.
};

/// watershed() of a tile, with what lies around it. Pieces of all tiles that are united where they
/// meet are the basins of the picture.
TileBasins watershed_of_tile(const std::vector<float>& strength,
                             const std::vector<std::uint8_t>& valid, int width, int height,
                             const Rim& rim);

}  // namespace diacut
