#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "annotate.hpp"
#include "console.hpp"
#include "cutout.hpp"
#include "device_line.hpp"
#include "diacut/image_file.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"
#include "find_images.hpp"
#include "maps.hpp"
#include "results.hpp"

namespace diacut::app {

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
struct Options : DeviceOptions {
  bool list_devices = false;        ///< In place of segmenting.
  bool print_config = false;        ///< In place of segmenting.
  std::vector<std::string> inputs;  ///< Files, folders, and "-"; empty with a list.
  Places results;                   ///< Files or folders; "-" for standard output.
  Sidecars sidecars;                ///< Files, or folders of files.
  ImagePart part;                   ///< Of each input.
  std::vector<int> bands;           ///< That are looked at; empty: not named.
  bool all_pages = false;           ///< Whether every page of each input is an image.
  std::string json;                 ///< The place of the report; of a share, its own.
  LabelStyle labels;
  AnnotationStyle annotations;
  CutoutOptions cutout;
  LinkOptions links;
  BatchOptions batch;
  Parameters parameters;
  bool verify = false;    ///< Whether each image is segmented twice, and both are compared.
  double time_limit = 0;  ///< Seconds that the run may take; 0: as many as it needs.
  TileOptions tiles;      ///< Of the only input.
};

/// What --damaged does.
inline constexpr const char* kTakesDamaged =
    "Read JPEG files that are damaged inside, with what can be decoded";

/// The number of a page, from 1, that --page gives. Throws ConfigError for another text.
int page_number(const CommandLine& line, const std::string& text);

/// Declares the options of links.
void declare_links(CommandLine& line, LinkOptions& links);

/// Sets the least overlap. Throws ConfigError where one is wanted without --page all.
void set_links(const CommandLine& line, Options& options);

/// Sets the parameter `key`. `flag`: what messages name. Throws ConfigError.
void set_from_option(Parameters& parameters, std::string_view flag, const std::string& key,
                     const std::string& value);

/// Segments the images that the options name, and writes their results. An image that fails does
/// not stop the others; a device that cannot be opened does, and so does `cancel`. Reports
/// everything on the console. Returns the program's exit code.
ExitCode segment_images(Options options, Console& console, const CancelToken& cancel);

/// Segments one picture in tiles, or makes the plan alone: segment --tile-size. A run that was
/// stopped goes on where it was. Throws ConfigError, InputError, DeviceError, CancelledError.
ExitCode run_in_tiles(const Options& options, Console& console, const CancelToken& cancel);

}  // namespace diacut::app
