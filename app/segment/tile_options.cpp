#include "tile_options.hpp"

namespace diacut::app {

void declare_tiles(CommandLine& line, TileOptions& options) {
  constexpr const char* kTiles = "One picture of any size";
  line.option(
      "--tile-size", options.size, "N|auto", kTiles,
      "Segment one picture in tiles of N x N pixels, with the labels of the whole (-o FILE.tif, or "
      "polygons of a scene); auto: as large as --memory allows; an interrupted run continues");
  line.option(
      "--tiles-in", options.folder, "DIR", kTiles,
      "Keep the tiles in this folder (default: the name of -o with .tiles, removed at the end)");
  line.flag("--plan-only", options.plan_only, kTiles,
            "Only make the plan, for segment tile, join and paint");
}

}  // namespace diacut::app
