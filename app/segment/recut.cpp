#include "recut.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "annotate.hpp"
#include "attempt.hpp"
#include "command_line.hpp"
#include "diacut/errors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/image_file.hpp"
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
#include "shared_files.hpp"
#include "stopwatch.hpp"
#include "subcommand.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kRecutName = "recut";
constexpr const char* kRecutProgram = "segment recut";
constexpr const char* kRecutInputs = "TREE|FOLDER|-";
constexpr const char* kAnnotateName = "annotate";
constexpr const char* kAnnotateProgram = "segment annotate";
constexpr const char* kAnnotateInputs = "LABELS|FOLDER";
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
  segment recut trees/ --image photos/ --threshold 0.3 --coco regions.json
      all trees of a folder, in one file of annotations

A file that is itself called recut is segmented as ./recut.
)";

constexpr const char* kAnnotateExamples = R"(Examples:
  segment annotate labels.png --image photo.jpg --coco regions.json --table regions.csv
      the regions of any label image as annotations and as a table
  segment annotate labels.tif --image photo.jpg --class classes.csv --cvat annotations.xml
      with classes: lines of label,class
  segment annotate labels/ --image photos/ --labelme photos/ --simplify 1
      a folder: labels/a/b.png for photos/a/b.jpg

Labels are whole numbers: a PNG or TIFF of one channel, with a palette its
indices, or .npy. 0 is background; regions may lie in pieces. A file that is
itself called annotate is segmented as ./annotate.
)";

struct RecutOptions : CommonOptions {
  std::string input;       ///< A tree, a label image, or a folder of them.
  bool is_labels = false;  ///< Whether the inputs are label images.
  Places results;
  LabelStyle labels;
  std::string image;
  AnnotationStyle annotations;
  std::optional<std::int64_t> regions;
  std::optional<double> threshold;
  LeastSize min_size;
  std::optional<double> least_ground;       ///< In its place, in square metres.
  std::optional<ObjectConditions> objects;  ///< In place of a cut.
  std::string seeds;                        ///< File of seeds that decide the cut.

  bool needs_brightness() const {
    return objects &&
           (std::isfinite(objects->brightness.low) || std::isfinite(objects->brightness.high) ||
            objects->score == ObjectScoring::kNuclei);
  }
};

/// One input and where its results go.
struct RecutJob {
  std::string input;
  std::string image;  ///< Empty: none.
  std::string seeds;
  Places results;    ///< In a folder's run without those of all.
  std::string name;  ///< What annotations call the image.
  std::int64_t number = 1;
};

[[noreturn]] void fail_recut(const std::string& message) { fail_usage(kRecutProgram, message); }
[[noreturn]] void fail_recut(const RecutOptions& options, const std::string& message) {
  fail_usage(options.is_labels ? kAnnotateProgram : kRecutProgram, message);
}

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
  if (!options.results.any()) fail_recut(options, "name a file for the labels with -o");
  for (const auto& [name, given] : {std::pair("--indexed", options.labels.indexed),
                                    std::pair("--cog", options.labels.cloud_optimised)}) {
    if (given && !options.results.has(Result::kLabels)) {
      fail_recut(
          options,
          fmt::format("{} describes how labels are written: name a file for them with -o", name));
    }
  }
  if (options.image.empty() && options.results.has(Result::kOverlay)) {
    fail_recut(options,
               "--overlay and --image belong together: the boundaries are drawn on the image");
  }
  const std::string& output = options.results[Result::kLabels];
  const bool polygons = map_region_format(output).has_value();
  if (polygons && fs::is_regular_file(options.image) && !is_map(options.image)) {
    fail_recut(options,
               fmt::format(
                   "-o {}: polygons have the coordinates of a scene, and --image '{}' has none: "
                   "write labels as .png, .tif or .npy, or regions as annotations (--coco, --yolo)",
                   output, options.image));
  }
  if (!options.image.empty() && !options.results.has(Result::kOverlay) &&
      !options.results.has(Result::kPage) && !annotated && !polygons &&
      !takes_coordinates(options) && !options.needs_brightness() && !options.least_ground) {
    fail_recut(
        options,
        "--image has no effect: it is used by --overlay, --html, annotations, tables, coordinates "
        "and the brightness of objects");
  }
  if (options.needs_brightness() && options.image.empty()) {
    fail_recut(
        options,
        "--brighter, --darker and --score nuclei need --image: the hierarchy does not hold the "
        "brightness");
  }
  for (const auto& [name, given] : {std::pair("--objects", options.objects.has_value()),
                                    std::pair("--seeds", !options.seeds.empty())}) {
    if (!given || !options.results.has(Result::kPage)) continue;
    fail_recut(options,
               fmt::format("--html and {} exclude each other: the page shows cuts of the hierarchy",
                           name));
  }
  if (options.objects && !options.seeds.empty()) {
    fail_recut(options, "--objects and --seeds exclude each other: leave out one of them");
  }
  if (polygons && options.image.empty()) {
    fail_recut(options, fmt::format("-o {} needs --image: polygons have the coordinates of a scene",
                                    output));
  }
  if (options.results.has(Result::kPage) && options.image.empty()) {
    fail_recut(options, "--html needs --image: the page shows the image");
  }
  for (const ResultInfo& info : kResults) {
    const std::string& place = options.results[info.result];
    if (place == "-" && info.result != Result::kLabels) {
      fail_recut(options,
                 fmt::format("{}: only labels (-o) can go to standard output (-)", info.option));
    }
    const bool named = info.span == Span::kRun || info.result == Result::kLabelMe;
    if (named && !place.empty() && options.image.empty()) {
      fail_recut(options, fmt::format("{} needs --image: the file names the image", info.option));
    }
  }
  const bool batch = is_input_folder(options.input);
  check_annotations(options.results, options.annotations, batch);
  for (const ResultInfo& info : kResults) {
    if (!batch || info.of_run(options.results[info.result])) continue;
    check_folder_name(info.option, options.results[info.result]);
  }
  for (const auto& [name, given] :
       {std::pair("--image", &options.image), std::pair("--seeds", &options.seeds)}) {
    if (!batch || given->empty() || is_folder(*given)) continue;
    fail_recut(options, fmt::format("{}: '{}' is not a folder; a folder of {} needs a folder with "
                                    "their names",
                                    name, *given, options.is_labels ? "labels" : "trees"));
  }
  if (options.input == "-" && options.image == "-") {
    fail_recut(options, "standard input (-) is named twice");
  }
}

/// The command line of segment recut: its options, declared by the constructor, and what they set.
class RecutLine {
 public:
  explicit RecutLine(bool is_labels = false);

  /// What the command line asks for. Throws ConfigError.
  RecutOptions parse(int argc, const char* const* argv);
  CommandDescription describe() const;

 private:
  void declare_cuts();

  RecutOptions options_;
  std::vector<std::string> inputs_;
  std::optional<std::string> regions_;
  std::optional<std::string> threshold_;
  std::optional<std::string> min_size_;
  bool automatic_ = false;
  ObjectLine objects_;
  CommandLine line_;
};

RecutLine::RecutLine(bool is_labels)
    : line_(is_labels ? kAnnotateProgram : kRecutProgram,
            is_labels ? "Writes the regions of a label image, from any program, as annotations and "
                        "tables."
                      : "Cuts a merge tree that segment --tree saved, without segmenting again.",
            is_labels ? "segment annotate LABELS|FOLDER [OPTION]..."
                      : "segment recut TREE|FOLDER|- [OPTION]...",
            "Inputs", is_labels ? kAnnotateExamples : kRecutExamples) {
  options_.is_labels = is_labels;
  if (is_labels) {
    line_.app().add_option(kAnnotateInputs, inputs_, "A label image, or a folder of them");
  } else {
    line_.app().add_option(kRecutInputs, inputs_,
                           "A merge tree, a folder of them, or - for standard input");
  }
  line_.option("-o,--output", options_.results[Result::kLabels], "FILE|DIR|-", kRecutInputOutput,
               "Labels: .png (16 bits), .tif or .npy (32 bits); with a scene as --image also "
               "polygons: .gpkg, .geojson or .shp; - writes a PNG to standard output");
  line_.flag("--indexed", options_.labels.indexed, kRecutInputOutput,
             "Write labels as palette indices (PNG, at most 255 regions)");
  line_.flag("--cog", options_.labels.cloud_optimised, kRecutInputOutput,
             "Write .tif results as cloud-optimised GeoTIFF");
  line_.option("--overlay", options_.results[Result::kOverlay], "FILE|DIR", kRecutInputOutput,
               "The image with region boundaries drawn: .png or .jpg");
  line_.option("--image", options_.image, "FILE|DIR|-", kRecutInputOutput,
               "The image that the regions belong to, for annotations, tables, --overlay and "
               "coordinates; of a folder the folder of images: photos/a/b.jpg for a/b.tree or "
               "a/b.png");
  declare_annotations(line_, options_.results, options_.annotations, true);
  if (!is_labels) declare_cuts();
  line_.message_flags(kRecutMessages, "Only errors", "Also what the input holds", false);
}

void RecutLine::declare_cuts() {
  line_.option("--ultrametric", options_.results[Result::kUltrametric], "FILE|DIR",
               kRecutInputOutput,
               "The ultrametric contour map: .png (16 bits), .npy or .tif (floats; with the "
               "coordinates of a scene as --image)");
  line_.option("--html", options_.results[Result::kPage], "FILE|DIR", kRecutInputOutput,
               "A page for a browser, with every cut of the tree (.html)");
  line_.option("--regions", regions_, "K", kCut, "Cut into K regions");
  line_.option("--threshold", threshold_, "T", kCut,
               "Merge regions across boundaries of a height of at most T, 0 to 1");
  line_.option("--min-size", min_size_, "SIZE", kSize,
               "Merge smaller regions into the neighbour across the weakest boundary: pixels, a "
               "share of the picture such as 0.2%, an area such as 0.5ha or 200m2 of a scene as "
               "--image, or auto (default auto, as in segment)");
  line_.flag("--auto", automatic_, kCut, "Cut at the threshold saved with the tree (default)");
  line_.option(
      "--seeds", options_.seeds, "FILE|DIR", kCut,
      "Find the largest regions that do not join seeds of two labels: a PNG, TIFF or NPY of the "
      "image's size with numbers from 1, and 0 elsewhere; a region without seeds has the label 0");
  objects_.declare(line_);
}

CommandDescription RecutLine::describe() const {
  ValueTable values;
  if (options_.is_labels) {
    values[kAnnotateInputs] = files_of(".png .tif .tiff .npy");
  } else {
    values[kRecutInputs] = files_of(".tree");
    values["--score"] = {.words = {"contrast", "nuclei"}};
  }
  describe_places(line_.app(), values);
  return describe_subcommand(options_.is_labels ? kAnnotateName : kRecutName, line_, values);
}

RecutOptions RecutLine::parse(int argc, const char* const* argv) {
  if (!line_.parse(argc, argv, options_)) return options_;
  options_.input =
      options_.is_labels
          ? only_input(kAnnotateProgram, inputs_, {"label image", "label images", "annotated"})
          : only_input(kRecutProgram, inputs_, {"hierarchy", "hierarchies", "cut"});
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
  if (min_size_) options_.least_ground = ground_area(*min_size_);
  if (options_.least_ground && options_.image.empty()) {
    fail_recut("--min-size on the ground needs the scene: add --image");
  }
  if (min_size_ && !options_.least_ground) {
    const std::optional<LeastSize> least = parse_least_size(*min_size_);
    if (!least) {
      throw ConfigError(
          fmt::format("--min-size is '{}', expected a number of pixels, a share such as 0.2%, an "
                      "area such as 0.5ha, or auto",
                      *min_size_));
    }
    options_.min_size = *least;
  }
  check_places(options_);
  return options_;
}

/// The results of a job in folders. `name`: of its files, without extension.
Places mirrored_places(const Places& roots, const fs::path& name, const RecutOptions& options) {
  Places results;
  for (const ResultInfo& info : kResults) {
    const std::string& root = roots[info.result];
    if (root.empty() || info.of_run(root)) continue;
    const std::string extension = options.labels.cloud_optimised && info.result == Result::kLabels
                                      ? ".tif"
                                      : extensions_in(info.extensions).front();
    results[info.result] = (fs::path(root) / with_suffix(name, extension.c_str())).string();
  }
  return results;
}

/// The file of a name without its extension in a folder, of these extensions. Throws InputError
/// where there is none, or more than one.
fs::path file_of_name(const char* option, const fs::path& folder, const fs::path& name,
                      const std::vector<std::string>& extensions) {
  // Where b.jpg and b.png are both there, results are called b.jpg.tree and b.png.tree.
  if (has_image_extension(name) && fs::exists(folder / name)) return name;
  fs::path found;
  for (const std::string& extension : extensions) {
    const fs::path file = with_suffix(name, extension.c_str());
    if (!fs::exists(folder / file)) continue;
    if (!found.empty()) {
      throw InputError(fmt::format("{}: '{}' and '{}' would both be the one of '{}'", option,
                                   found.string(), file.string(), name.string()));
    }
    found = file;
  }
  if (!found.empty()) return found;
  throw InputError(
      fmt::format("{}: '{}' has no file of the name '{}' with the extension of an image", option,
                  folder.string(), name.string()));
}

/// The files of a folder and of those in it that are inputs, in the order of their names.
std::vector<fs::path> inputs_in(const RecutOptions& options) {
  const std::vector<std::string> extensions =
      extensions_in(options.is_labels ? ".png .tif .tiff .npy" : ".tree");
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::recursive_directory_iterator each(options.input, failed), end; !failed && each != end;
       each.increment(failed)) {
    if (!each->is_regular_file()) continue;
    const std::string extension = each->path().extension().string();
    if (std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) continue;
    found.push_back(each->path());
  }
  if (failed) {
    throw InputError(fmt::format("'{}' cannot be read: {}", options.input, failed.message()));
  }
  if (found.empty()) {
    throw InputError(fmt::format("no {} found in '{}': looked for {}",
                                 options.is_labels ? "label image" : "tree", options.input,
                                 fmt::join(extensions, ", ")));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<RecutJob> jobs_of(const RecutOptions& options) {
  if (!is_input_folder(options.input)) {
    const std::string& named = options.image.empty() ? options.input : options.image;
    return {{options.input, options.image, options.seeds, options.results,
             fs::path(named).filename().string()}};
  }
  std::vector<std::string> image_types = image_extensions();
  image_types.insert(image_types.end(), map_extensions().begin(), map_extensions().end());
  std::vector<RecutJob> jobs;
  for (const fs::path& input : inputs_in(options)) {
    fs::path name = input.lexically_relative(options.input);
    name.replace_extension();
    RecutJob job{input.string(),
                 {},
                 {},
                 mirrored_places(options.results, name, options),
                 name.generic_string(),
                 static_cast<std::int64_t>(jobs.size()) + 1};
    if (!options.image.empty()) {
      const fs::path file = file_of_name("--image", options.image, name, image_types);
      job.image = (fs::path(options.image) / file).string();
      job.name = file.generic_string();
    }
    if (!options.seeds.empty()) {
      const fs::path file =
          file_of_name("--seeds", options.seeds, name, extensions_in(kCompanions[1].extensions));
      job.seeds = (fs::path(options.seeds) / file).string();
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// Throws for a place that cannot be written to, before anything is written.
void check_results(const RecutOptions& options, const std::vector<RecutJob>& jobs, bool batch) {
  std::vector<std::string> read;
  for (const RecutJob& job : jobs) read.insert(read.end(), {job.input, job.image, job.seeds});
  ResultNames names(read);
  const auto check = [&](const ResultInfo& info, const std::string& place, const RecutJob& job) {
    if (place.empty()) return;
    check_name(info.result, place, options.labels);
    if (batch && !info.of_run(place)) make_folder_of(place);
    check_writable(place);
    names.add(info.option, place, batch ? job.input : "");
  };
  if (!batch) {
    for (const ResultInfo& info : kResults) {
      const std::string& place = options.results[info.result];
      if (!place.empty()) check_name(info.result, place, options.labels);
    }
  }
  for (const ResultInfo& info : kResults) {
    for (const RecutJob& job : jobs) check(info, job.results[info.result], job);
    const std::string& root = options.results[info.result];
    if (batch && info.of_run(root)) check(info, root, {});
  }
}

/// The image that regions belong to, and where it lies if it is a scene.
struct Source {
  Image image;
  std::optional<MapFrame> frame;
  std::shared_ptr<const ImageFile> file;  ///< Of a picture.
  PictureFacts facts;
};

Source read_source(const std::string& name) {
  Source source;
  if (is_map(name)) {
    Map map = read_map(name);
    source.image = std::move(map.image);
    source.frame = std::move(map.frame);
    return source;
  }
  source.file = std::make_shared<const ImageFile>(name);
  source.image = source.file->read({}, {});
  source.facts = source.file->facts({});
  return source;
}

/// What results are made of.
struct Found {
  std::optional<Hierarchy> hierarchy;
  SeededRegions regions;
  std::vector<std::int64_t> names;  ///< Of a label image: its number of each region.
};

Source matching_source(const RecutOptions& options, const RecutJob& job, const Labels& labels) {
  Source source = read_source(job.image);
  const Image& image = source.image;
  if (image.width == labels.width && image.height == labels.height) return source;
  throw InputError(fmt::format(
      "{}: the image has {} x {} pixels, but the {} {} was made from one of {} x {}", job.image,
      image.width, image.height, options.is_labels ? "label image" : "hierarchy", job.input,
      labels.width, labels.height));
}

/// Reads labels, which then are 1, 2, ... in the order of their numbers.
Found read_labels(const std::string& path) {
  const LabelImage read = read_label_image(path);
  return {std::nullopt, {read.labels, {}}, read.numbers};
}

/// The labels as files hold them.
Labels labels_of(const Found& found) {
  if (found.names.empty()) return written_labels(found.regions);
  constexpr std::int64_t kMost = 50'000'000;
  if (found.names.back() > kMost) {
    throw InputError(fmt::format(
        "-o: its labels go up to {}, and files of labels are written up to {}: number them anew",
        found.names.back(), kMost));
  }
  Labels labels = found.regions.regions;
  for (std::int32_t& label : labels.values) {
    if (label == 0) continue;
    label = static_cast<std::int32_t>(found.names[static_cast<std::size_t>(label) - 1]);
  }
  labels.count = found.names.back();
  return labels;
}

/// The regions that were asked for. Without seeds SeededRegions::seed_labels is empty.
SeededRegions regions_of(const RecutOptions& options, const RecutJob& job,
                         const Hierarchy& hierarchy, const Source* source,
                         const RegionParameters& wanted, std::vector<std::string>& notes) {
  if (!job.seeds.empty()) {
    const Labels& leaves = hierarchy.leaves;
    const Seeds seeds = read_seeds(job.seeds, {}, leaves.width, leaves.height);
    notes.insert(notes.end(), seeds.notes.begin(), seeds.notes.end());
    return cut_by_seeds(hierarchy, seeds, notes);
  }
  if (!options.objects) return {cut(hierarchy, wanted, notes), {}};
  const Image* image = source != nullptr ? &source->image : nullptr;
  return {find_objects(hierarchy, *options.objects, image, notes), {}};
}

void write_results(const RecutOptions& options, const RecutJob& job, const Found& found,
                   const Source* source, const RegionParameters& wanted, SharedFiles& shared,
                   std::vector<std::string>& notes) {
  const Image* image = source != nullptr ? &source->image : nullptr;
  const MapFrame* frame = source != nullptr && source->frame ? &*source->frame : nullptr;
  const PictureFacts facts = source != nullptr ? source->facts : PictureFacts();
  const Labels& labels = found.regions.regions;
  const Hierarchy* hierarchy = found.hierarchy ? &*found.hierarchy : nullptr;
  const Annotations annotations(
      options.results, options.annotations, labels,
      measured_in(options.annotations, frame, source != nullptr ? source->file : nullptr, facts, {},
                  {}),
      hierarchy, found.names);
  for (const ResultInfo& info : kResults) {
    const std::string& place = job.results[info.result];
    if (place.empty() || !is_annotation(info.result)) continue;
    const std::string& named = job.image.empty() ? job.input : job.image;
    annotations.write(
        info.result, place,
        annotated_name(named, job.name, info.result == Result::kLabelMe ? place : ""));
  }
  shared.add(annotations, annotated_name(job.image, job.name, ""), job.name, job.number, 1);
  if (job.results.has(Result::kOverlay)) {
    write_overlay(job.results[Result::kOverlay], *image, labels);
  }
  if (job.results.has(Result::kPage)) {
    write_page(job.results[Result::kPage], *image, *hierarchy, nullptr,
               {page_title(job.image), wanted, &labels}, notes);
  }
  if (job.results.has(Result::kUltrametric)) {
    write_map_strength(job.results[Result::kUltrametric], ultrametric_map(*hierarchy),
                       ultrametric_frame(frame_or_size(frame, labels.width, labels.height)),
                       options.labels.cloud_optimised);
  }
  if (!job.results.has(Result::kLabels)) return;
  write_labels_of(job.results[Result::kLabels], labels_of(found), frame, options.labels,
                  options.annotations.simplify(), facts);
}

/// Does one job. Throws what ends it.
void recut_one(const RecutOptions& options, const RecutJob& job, SharedFiles& shared,
               Console& console) {
  const Stopwatch stopwatch;
  const std::string name = input_name(job.input);
  std::vector<std::string> notes;
  RegionParameters wanted;
  Found found;
  std::optional<Source> source;
  if (options.is_labels) {
    found = read_labels(job.input);
    if (!job.image.empty()) source = matching_source(options, job, found.regions.regions);
  } else {
    const Hierarchy& hierarchy = found.hierarchy.emplace(read_tree(job.input));
    console.detail(fmt::format("{}: {} x {} pixels, {} leaves, {} merges, automatic threshold {}",
                               name, hierarchy.leaves.width, hierarchy.leaves.height,
                               hierarchy.leaves.count, hierarchy.merges.size(),
                               hierarchy.threshold));
    wanted.regions = static_cast<int>(options.regions.value_or(0));
    wanted.threshold = options.threshold.value_or(hierarchy.threshold);
    wanted.min_size = options.min_size;
    if (!job.image.empty()) source = matching_source(options, job, hierarchy.leaves);
    if (options.least_ground) {
      const MapFrame* frame = source->frame ? &*source->frame : nullptr;
      wanted.min_size = {LeastSize::Unit::kPixels, static_cast<double>(pixels_of_area(
                                                       *options.least_ground, job.image, frame))};
    }
    found.regions = regions_of(options, job, hierarchy, source ? &*source : nullptr, wanted, notes);
  }
  write_results(options, job, found, source ? &*source : nullptr, wanted, shared, notes);
  for (const std::string& note : notes) console.note(fmt::format("{}: {}", name, note));
  console.message(
      fmt::format("{}: {} ({:.0f} ms)", name,
                  counted(found.regions.regions.count, options.objects ? "object" : "region"),
                  stopwatch.milliseconds()));
}

}  // namespace

bool is_recut(int argc, const char* const* argv) {
  return is_subcommand(argc, argv, kRecutName) || is_subcommand(argc, argv, kAnnotateName);
}

CommandDescription describe_recut() { return RecutLine().describe(); }
CommandDescription describe_annotate() { return RecutLine(true).describe(); }

ExitCode run_recut(int argc, const char* const* argv, Console& console) {
  const bool is_labels = is_subcommand(argc, argv, kAnnotateName);
  const RecutOptions options = RecutLine(is_labels).parse(argc - 1, argv + 1);
  if (!begin(options, console)) return ExitCode::kDone;
  const bool batch = is_input_folder(options.input);
  const std::vector<RecutJob> jobs = jobs_of(options);
  check_results(options, jobs, batch);
  SharedFiles shared(options.results, options.annotations, batch);
  ExitCode code = ExitCode::kDone;
  std::size_t failed = 0;
  for (const RecutJob& job : jobs) {
    if (!batch) {
      recut_one(options, job, shared, console);
      continue;
    }
    if (const auto failure =
            attempt(job.input, [&] { recut_one(options, job, shared, console); })) {
      console.error(failure->message);
      code = worse(code, failure->code);
      ++failed;
    }
  }
  shared.commit();
  if (batch) console.message(fmt::format("{} done, {} failed", jobs.size() - failed, failed));
  return code;
}

}  // namespace diacut::app
