#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "diacut/map.hpp"
#include "tiles/tile_steps.hpp"

namespace diacut {

/// Writes the results of a run whose tiles are joined, the labels last. They are computed in
/// windows that do not depend on the tiles, so that the files do not either.
/// `frame`: where the picture lies. `folder`: takes files that are removed at the end. `memory`:
/// that may be taken for windows, bytes. `painted`: is called with the share that is done, up to 1.
/// Returns the number of regions.
std::int64_t paint_results(const TileWork& work, const MapFrame& frame, const std::string& folder,
                           std::uint64_t memory, const std::function<void(double)>& painted);

}  // namespace diacut
