#pragma once

#include <string>

#include "command_line.hpp"

namespace diacut::app {

/// How one picture is segmented in tiles.
struct TileOptions {
  std::string size;        ///< Side in pixels, or "auto"; empty: not in tiles.
  std::string folder;      ///< Where the tiles are kept; empty: beside the labels.
  bool plan_only = false;  ///< Whether the plan is all that is made.

  bool wanted() const { return !size.empty(); }
};

/// Declares the options that set `options`.
void declare_tiles(CommandLine& line, TileOptions& options);

}  // namespace diacut::app
