#pragma once

#include <cstdint>
#include <string>

#include "diacut/map.hpp"

namespace diacut {

/// write_map_regions() where a file of a shapefile holds `most_bytes`, for tests.
void write_map_regions_within(const std::string& path, const Labels& labels, const MapFrame& frame,
                              std::uint64_t most_bytes, std::optional<double> simplify = {});

}  // namespace diacut
