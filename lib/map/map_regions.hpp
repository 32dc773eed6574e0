#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "diacut/map.hpp"

namespace diacut {

/// Writes the features of write_map_regions() from a file of labels, with the same bytes, without
/// the whole picture in memory: labels and bands are read by rows, and the corners of all outlines
/// are held, 8 bytes each.
/// `labels`: a raster of the regions 1..count, each 4-connected, as RasterBlocks wrote it.
/// `done`: is called with the share that is done, up to 1. Throws InputError as write_map_regions()
/// does.
void write_region_blocks(const std::string& path, const std::string& labels, std::int64_t count,
                         const MapFrame& frame, const std::function<void(double)>& done);

}  // namespace diacut
