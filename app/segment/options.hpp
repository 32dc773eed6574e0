#pragma once

#include <optional>
#include <string>
#include <vector>

#include "annotate.hpp"
#include "command_description.hpp"
#include "console.hpp"
#include "device_line.hpp"
#include "diacut/image_file.hpp"
#include "diacut/parameters.hpp"
#include "find_images.hpp"
#include "maps.hpp"
#include "results.hpp"

namespace diacut::app {

/// What a run of the program does.
enum class Action { kSegment, kListDevices, kPrintConfig };

/// How the regions of pages are linked.
struct LinkOptions {
  bool wanted = false;
  std::string least;              ///< --link-overlap
  std::optional<double> overlap;  ///< The least overlap; empty: pages are not linked.
};

/// How one picture is segmented in tiles.
struct TileOptions {
  std::string size;        ///< Side in pixels, or "auto"; empty: not in tiles.
  std::string folder;      ///< Where the tiles are kept; empty: beside the labels.
  bool plan_only = false;  ///< Whether the plan is all that is made.

  bool wanted() const { return !size.empty(); }
};

/// What the command line says. Texts are empty where their option was not given.
struct Options : CommonOptions, DeviceOptions {
  Action action = Action::kSegment;
  std::vector<std::string> inputs;  ///< Files, folders, and "-"; empty with a list.
  Places results;                   ///< Files or folders; "-" for standard output.
  Companions companions;            ///< Files, or folders of files.
  ImagePart part;                   ///< Of each input.
  std::vector<int> bands;           ///< That are looked at; empty: not named.
  bool all_pages = false;           ///< Whether every page of each input is an image.
  std::string json;                 ///< The place of the report; of a share, its own.
  LabelStyle labels;
  AnnotationStyle annotations;
  LinkOptions links;
  BatchOptions batch;
  Parameters parameters;
  std::optional<double> least_ground;  ///< --min-size in square metres; empty: as in parameters.
  bool verify = false;    ///< Whether each image is segmented twice, and both are compared.
  double time_limit = 0;  ///< Seconds that the run may take; 0: as many as it needs.
  TileOptions tiles;      ///< Of the only input.
};

/// Throws ConfigError for anything that makes no sense.
Options parse_options(int argc, const char* const* argv);

/// The options of segment, for its manual page and completions; its subcommands are left out.
CommandDescription describe_options();

}  // namespace diacut::app
