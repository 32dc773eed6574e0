#include "recut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "annotate.hpp"
#include "command_line.hpp"
#include "diacut/errors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/map.hpp"
#include "diacut/output.hpp"
#include "diacut/page.hpp"
#include "diacut/parameters.hpp"
#include "diacut/seeds.hpp"
#include "maps.hpp"
#include "object_line.hpp"
#include "paths.hpp"
#include "prepare_results.hpp"
#include "program.hpp"
#include "result_names.hpp"
#include "stopwatch.hpp"
#include "subcommand.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kRecutName = "recut";
constexpr const char* kRecutProgram = "segment recut";
constexpr const char* kRecutInputs = "TREE|-";
constexpr const char* kRecutInputOutput = "Input and output";
constexpr const char* kCut = "Where to cut (one of)";
constexpr const char* kSize = "Sizes";
constexpr const char* kRecutMessages = "Messages and help";

constexpr const char* kRecutExamples = R"(Examples:
  segment photo.jpg -o labels.png --tree photo.tree
      one run, which saves the tree of all regions
  segment recut photo.tree --regions 12 -o twelve.png
      twelve regions of the tree, in milliseconds and without a device
  segment recut photo.tree --threshold 0.3 --overlay coarse.jpg --image photo.jpg
      only boundaries stronger than 0.3, drawn on the photograph
  segment recut photo.tree --seeds marks.png -o parts.png
      the largest regions that do not join marks of two labels
  segment recut cells.tree --objects --area 60:1500 -o cells.png
      the cells of a micrograph, and 0 for the background

A file that is itself called recut is segmented as ./recut.
)";

struct RecutOptions : CommonOptions {
  std::string tree;
  Places results;
  LabelStyle labels;
  std::string image;
  bool rle = false;
  std::optional<std::int64_t> regions;
  std::optional<double> threshold;
  LeastSize min_size;
  std::optional<ObjectConditions> objects;  ///< In place of a cut.
  std::string seeds;                        ///< File of seeds that decide the cut.

  bool needs_brightness() const {
    return objects &&
           (std::isfinite(objects->brightness.low) || std::isfinite(objects->brightness.high) ||
            objects->score == ObjectScoring::kNuclei);
  }
};

[[noreturn]] void fail_recut(const std::string& message) { fail_usage(kRecutProgram, message); }

template <class Number>
Number parse_number(const char* option, const std::string& text, Number least, Number most,
                    std::string_view expected) {
  Number number{};
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || stop != text.data() + text.size() ||
      !(number >= least && number <= most)) {
    throw ConfigError(fmt::format("{} is '{}', expected {}", option, text, expected));
  }
  return number;
}

bool is_tiff(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  return extension == ".tif" || extension == ".tiff";
}

/// Whether a result is written to a file that holds coordinates, and a scene that has some is
/// named.
bool takes_coordinates(const RecutOptions& options) {
  if (!is_map(options.image)) return false;
  if (is_tiff(options.results[Result::kUltrametric])) return true;
  if (!options.results.has(Result::kLabels) || options.results[Result::kLabels] == "-")
    return false;
  return map_region_format(options.results[Result::kLabels]) ||
         label_format(options.results[Result::kLabels], options.labels.indexed) ==
             LabelFormat::kTiff;
}

void check_places(const RecutOptions& options) {
  const bool annotated = std::any_of(
      kAnnotationOptions.begin(), kAnnotationOptions.end(),
      [&](const AnnotationOption& option) { return options.results.has(option.result); });
  if (!options.results.any()) fail_recut("name a file for the labels with -o");
  for (const auto& [name, given] : {std::pair("--indexed", options.labels.indexed),
                                    std::pair("--cog", options.labels.cloud_optimised)}) {
    if (given && !options.results.has(Result::kLabels)) {
      fail_recut(
          fmt::format("{} describes how labels are written: name a file for them with -o", name));
    }
  }
  if (options.image.empty() && options.results.has(Result::kOverlay)) {
    fail_recut("--overlay and --image belong together: the boundaries are drawn on the image");
  }
  const std::string& output = options.results[Result::kLabels];
  const bool polygons = map_region_format(output).has_value();
  if (polygons && fs::exists(options.image) && !is_map(options.image)) {
    fail_recut(fmt::format(
        "-o {}: polygons have the coordinates of a scene, and --image '{}' has none: "
        "write labels as .png, .tif or .npy, or regions as annotations (--coco, --yolo)",
        output, options.image));
  }
  if (!options.image.empty() && !options.results.has(Result::kOverlay) &&
      !options.results.has(Result::kPage) && !annotated && !polygons &&
      !takes_coordinates(options) && !options.needs_brightness()) {
    fail_recut(
        "--image has no effect: it is used by --overlay, --html, annotations, tables, coordinates "
        "and the brightness of objects");
  }
  if (options.needs_brightness() && options.image.empty()) {
    fail_recut(
        "--brighter, --darker and --score nuclei need --image: the hierarchy does not hold the "
        "brightness");
  }
  for (const auto& [name, given] : {std::pair("--objects", options.objects.has_value()),
                                    std::pair("--seeds", !options.seeds.empty())}) {
    if (!given || !options.results.has(Result::kPage)) continue;
    fail_recut(fmt::format("--html and {} exclude each other: the page shows cuts of the hierarchy",
                           name));
  }
  if (options.objects && !options.seeds.empty()) {
    fail_recut("--objects and --seeds exclude each other: leave out one of them");
  }
  if (polygons && options.image.empty()) {
    fail_recut(
        fmt::format("-o {} needs --image: polygons have the coordinates of a scene", output));
  }
  if (options.results.has(Result::kPage) && options.image.empty()) {
    fail_recut("--html needs --image: the page shows the image");
  }
  for (const ResultInfo& info : kResults) {
    const std::string& place = options.results[info.result];
    if (place == "-" && info.result != Result::kLabels) {
      fail_recut(fmt::format("{}: only labels (-o) can go to standard output (-)", info.option));
    }
    const bool named = info.of_run || info.result == Result::kLabelMe;
    if (named && !place.empty() && options.image.empty()) {
      fail_recut(fmt::format("{} needs --image: the file names the image", info.option));
    }
  }
  check_annotations(options.results, options.rle, false);
  if (options.tree == "-" && options.image == "-") {
    fail_recut("standard input (-) is named twice");
  }
}

/// The command line of segment recut: its options, declared by the constructor, and what they set.
class RecutLine {
 public:
  RecutLine();

  /// What the command line asks for. Throws ConfigError.
  RecutOptions parse(int argc, const char* const* argv);
  CommandDescription describe() const;

 private:
  RecutOptions options_;
  std::vector<std::string> trees_;
  std::optional<std::string> regions_;
  std::optional<std::string> threshold_;
  std::optional<std::string> min_size_;
  bool automatic_ = false;
  ObjectLine objects_;
  CommandLine line_{kRecutProgram,
                    "Cuts a merge tree that segment --tree saved, without segmenting again.",
                    "segment recut TREE|- [OPTION]...", "Inputs", kRecutExamples};
};

RecutLine::RecutLine() {
  line_.app().add_option(kRecutInputs, trees_, "A merge tree, or - for standard input");
  line_.option("-o,--output", options_.results[Result::kLabels], "FILE|-", kRecutInputOutput,
               "Labels: .png (16 bits), .tif or .npy (32 bits); with a scene as --image also "
               "polygons: .gpkg, .geojson or .shp; - writes a PNG to standard output");
  line_.flag("--indexed", options_.labels.indexed, kRecutInputOutput,
             "Write labels as palette indices (PNG, at most 255 regions)");
  line_.flag("--cog", options_.labels.cloud_optimised, kRecutInputOutput,
             "Write .tif results as cloud-optimised GeoTIFF");
  line_.option("--overlay", options_.results[Result::kOverlay], "FILE", kRecutInputOutput,
               "The image with region boundaries drawn: .png or .jpg");
  line_.option("--image", options_.image, "FILE|-", kRecutInputOutput,
               "The image that the tree belongs to: for --overlay, --html, annotations, the bands "
               "of --table, and coordinates");
  line_.option("--ultrametric", options_.results[Result::kUltrametric], "FILE", kRecutInputOutput,
               "The ultrametric contour map: .png (16 bits), .npy or .tif (floats; with the "
               "coordinates of a scene as --image)");
  line_.option("--html", options_.results[Result::kPage], "FILE", kRecutInputOutput,
               "A page for a browser, with every cut of the tree (.html)");
  declare_annotations(line_, options_.results, options_.rle, false);
  line_.option("--regions", regions_, "K", kCut, "Cut into K regions");
  line_.option("--threshold", threshold_, "T", kCut,
               "Merge regions across boundaries of a height of at most T, 0 to 1");
  line_.option("--min-size", min_size_, "SIZE", kSize,
               "Merge smaller regions into the neighbour across the weakest boundary: pixels, a "
               "share of the picture such as 0.2%, or auto (default auto, as in segment)");
  line_.flag("--auto", automatic_, kCut, "Cut at the threshold saved with the tree (default)");
  line_.option(
      "--seeds", options_.seeds, "FILE", kCut,
      "Find the largest regions that do not join seeds of two labels: a PNG, TIFF or NPY of the "
      "image's size with numbers from 1, and 0 elsewhere; a region without seeds has the label 0");
  objects_.declare(line_);
  line_.message_flags(kRecutMessages, "Only errors", "Also what the tree holds", false);
}

CommandDescription RecutLine::describe() const {
  ValueTable values = {{kRecutInputs, files_of(".tree")},
                       {"--score", {.words = {"contrast", "nuclei"}}}};
  describe_places(line_.app(), values);
  return describe_subcommand(kRecutName, line_, values);
}

RecutOptions RecutLine::parse(int argc, const char* const* argv) {
  if (!line_.parse(argc, argv, options_)) return options_;
  options_.tree = only_input(kRecutProgram, trees_, {"hierarchy", "hierarchies", "cut"});
  if (int{regions_.has_value()} + int{threshold_.has_value()} + int{automatic_} > 1) {
    fail_recut("--regions, --threshold and --auto exclude each other");
  }
  options_.objects = objects_.conditions();
  for (const auto& [option, given] :
       {std::pair("--regions", regions_.has_value()),
        std::pair("--threshold", threshold_.has_value()),
        std::pair("--min-size", min_size_.has_value()), std::pair("--auto", automatic_)}) {
    if (options_.objects && given) {
      fail_recut(fmt::format("--objects and {} exclude each other: objects are not a cut", option));
    }
    if (!options_.seeds.empty() && given) {
      fail_recut(fmt::format("--seeds and {} exclude each other: seeds decide the cut", option));
    }
  }
  if (regions_) {
    options_.regions =
        parse_number<std::int64_t>("--regions", *regions_, 1, INT32_MAX, "an integer of 1 or more");
  }
  if (threshold_) {
    options_.threshold =
        parse_number<double>("--threshold", *threshold_, 0, 1, "a number from 0 to 1");
  }
  if (min_size_) {
    const std::optional<LeastSize> least = parse_least_size(*min_size_);
    if (!least) {
      throw ConfigError(fmt::format(
          "--min-size is '{}', expected a number of pixels, a share such as 0.2%, or auto",
          *min_size_));
    }
    options_.min_size = *least;
  }
  check_places(options_);
  return options_;
}

/// Throws for a place that cannot be written to, before anything is written.
void check_results(const RecutOptions& options) {
  ResultNames names({options.tree, options.image, options.seeds});
  for (const ResultInfo& info : kResults) {
    const std::string& place = options.results[info.result];
    if (!place.empty()) check_name(info.result, place, options.labels);
  }
  for (const ResultInfo& info : kResults) {
    const std::string& place = options.results[info.result];
    if (place.empty()) continue;
    check_writable(place);
    names.add(info.option, place, "");
  }
}

/// The image that the hierarchy was made from, and where it lies if it is a scene.
struct Source {
  Image image;
  std::optional<MapFrame> frame;
};

Source read_source(const std::string& name) {
  if (!is_map(name)) return {read_image(name), std::nullopt};
  Map map = read_map(name);
  return {std::move(map.image), std::move(map.frame)};
}

Source matching_source(const RecutOptions& options, const Labels& labels) {
  Source source = read_source(options.image);
  const Image& image = source.image;
  if (image.width == labels.width && image.height == labels.height) return source;
  throw InputError(fmt::format(
      "{}: the image has {} x {} pixels, but the hierarchy {} was made from one of {} x {}",
      options.image, image.width, image.height, options.tree, labels.width, labels.height));
}

/// Writes annotations and tables, and notes how they hold the regions.
void write_annotated(const RecutOptions& options, const Hierarchy& hierarchy, const Labels& labels,
                     const Image* image, std::vector<std::string>& notes) {
  const Annotations annotations(options.results, options.rle, labels, image, &hierarchy);
  const std::vector<std::string> more = annotations.notes();
  notes.insert(notes.end(), more.begin(), more.end());
  const std::string& source = image != nullptr ? options.image : options.tree;
  for (const AnnotationOption& option : kAnnotationOptions) {
    const std::string& place = options.results[option.result];
    if (place.empty()) continue;
    const bool relative = option.result == Result::kLabelMe;
    annotations.write(
        option.result, place,
        annotated_name(source, fs::path(source).filename().string(), relative ? place : ""));
  }
}

/// The regions that were asked for. Without seeds SeededRegions::seed_labels is empty.
SeededRegions regions_of(const RecutOptions& options, const Hierarchy& hierarchy,
                         const Source* source, const RegionParameters& wanted,
                         std::vector<std::string>& notes) {
  if (!options.seeds.empty()) {
    const Labels& leaves = hierarchy.leaves;
    return cut_by_seeds(hierarchy, read_seeds(options.seeds, {}, leaves.width, leaves.height),
                        notes);
  }
  if (!options.objects) return {cut(hierarchy, wanted, notes), {}};
  const Image* image = source != nullptr ? &source->image : nullptr;
  return {find_objects(hierarchy, *options.objects, image, notes), {}};
}

void write_results(const RecutOptions& options, const Hierarchy& hierarchy,
                   const SeededRegions& found, const Source* source, const RegionParameters& wanted,
                   std::vector<std::string>& notes) {
  const Image* image = source != nullptr ? &source->image : nullptr;
  const Labels& labels = found.regions;
  if (options.results.has(Result::kOverlay))
    write_overlay(options.results[Result::kOverlay], *image, labels);
  if (options.results.has(Result::kPage)) {
    write_page(options.results[Result::kPage], *image, hierarchy, nullptr,
               {page_title(options.image), wanted, &labels}, notes);
  }
  write_annotated(options, hierarchy, labels, image, notes);
  const MapFrame* frame = source != nullptr && source->frame ? &*source->frame : nullptr;
  if (options.results.has(Result::kUltrametric)) {
    write_map_strength(options.results[Result::kUltrametric], ultrametric_map(hierarchy),
                       ultrametric_frame(frame_or_size(frame, labels.width, labels.height)),
                       options.labels.cloud_optimised);
  }
  if (!options.results.has(Result::kLabels)) return;
  write_labels_of(options.results[Result::kLabels], written_labels(found), frame, options.labels);
}

}  // namespace

bool is_recut(int argc, const char* const* argv) { return is_subcommand(argc, argv, kRecutName); }

CommandDescription describe_recut() { return RecutLine().describe(); }

ExitCode run_recut(int argc, const char* const* argv, Console& console) {
  const Stopwatch stopwatch;
  const RecutOptions options = RecutLine().parse(argc - 1, argv + 1);
  if (!begin(options, console)) return ExitCode::kDone;
  check_results(options);
  const Hierarchy hierarchy = read_tree(options.tree);
  const std::string name = input_name(options.tree);
  console.detail(fmt::format("{}: {} x {} pixels, {} leaves, {} merges, automatic threshold {}",
                             name, hierarchy.leaves.width, hierarchy.leaves.height,
                             hierarchy.leaves.count, hierarchy.merges.size(), hierarchy.threshold));
  std::vector<std::string> notes;
  RegionParameters wanted;
  wanted.regions = static_cast<int>(options.regions.value_or(0));
  wanted.threshold = options.threshold.value_or(hierarchy.threshold);
  wanted.min_size = options.min_size;
  std::optional<Source> source;
  if (!options.image.empty()) source = matching_source(options, hierarchy.leaves);
  const Source* given = source ? &*source : nullptr;
  const SeededRegions found = regions_of(options, hierarchy, given, wanted, notes);
  write_results(options, hierarchy, found, given, wanted, notes);
  for (const std::string& note : notes) console.note(fmt::format("{}: {}", name, note));
  console.message(fmt::format("{}: {} ({:.0f} ms)", name,
                              counted(found.regions.count, options.objects ? "object" : "region"),
                              stopwatch.milliseconds()));
  return ExitCode::kDone;
}

}  // namespace diacut::app
