#pragma once

#include "image/decoded.hpp"
#include "map/detect.hpp"
#include "map/picture_blocks.hpp"
#include "map/raster_blocks.hpp"
#include "map/region_format.hpp"

namespace diacut {

/// What the module diacut-formats.so does: all that needs libraries which few files need (GDAL,
/// libheif, libjxl, libwebp, OpenJPEG, LibRaw), and which take longer to load than
/// most runs take to start. In the library, functions of the same names (calls.cpp) load the module
/// when they are first called and call its own. Programs that are linked with the module's objects
/// call those directly.
struct FormatCalls {
  decltype(&diacut::module_decoder) module_decoder = diacut::module_decoder;
  decltype(&diacut::load_decoders) load_decoders = diacut::load_decoders;
  decltype(&diacut::gdal_knows) gdal_knows = diacut::gdal_knows;
  decltype(&diacut::read_map) read_map = diacut::read_map;
  decltype(&diacut::read_map_frame) read_map_frame = diacut::read_map_frame;
  decltype(&diacut::turn_onto) turn_onto = diacut::turn_onto;
  decltype(&diacut::ground_pixel) ground_pixel = diacut::ground_pixel;
  decltype(&diacut::ground_areas) ground_areas = diacut::ground_areas;
  decltype(&diacut::read_map_channels) read_map_channels = diacut::read_map_channels;
  decltype(&diacut::check_map_regions) check_map_regions = diacut::check_map_regions;
  decltype(&diacut::write_map_regions) write_map_regions = diacut::write_map_regions;
  decltype(&diacut::write_region_blocks) write_region_blocks = diacut::write_region_blocks;
  decltype(&diacut::start_raster) start_raster = diacut::start_raster;
  decltype(&diacut::open_scene) open_scene = diacut::open_scene;
};

/// The module's only symbol, "diacut_formats". Null where the module is of another version.
using FormatEntry = const FormatCalls*(const char* version);

}  // namespace diacut
