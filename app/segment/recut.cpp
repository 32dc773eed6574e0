#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "annotate.hpp"
#include "command_line.hpp"
#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/image_file.hpp"
#include "diacut/map.hpp"
#include "diacut/objects.hpp"
#include "diacut/output.hpp"
#include "diacut/parameters.hpp"
#include "diacut/seeds.hpp"
#include "exit_code.hpp"
#include "image/input_checks.hpp"
#include "map/region_format.hpp"
#include "maps.hpp"
#include "options.hpp"
#include "output/format.hpp"
#include "paths.hpp"
#include "plan.hpp"
#include "progress.hpp"
#include "reader.hpp"
#include "stacks.hpp"
#include "stopwatch.hpp"
#include "subcommand.hpp"
#include "text.hpp"
#include "writer.hpp"

namespace diacut::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTrees = ".tree";
constexpr const char* kLabelImages = ".png .tif .tiff .npy";
constexpr const char* kRecutInputOutput = "Input and output";
constexpr const char* kCut = "Where to cut (one of)";
constexpr const char* kSize = "Sizes";

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
  segment recut trees/ --page all --image stack.tif --regions 40 -o labels.tif
      the trees of all pages of a stack, with labels in one file

A file that is itself called recut is segmented as ./recut.
)";

constexpr const char* kAnnotateExamples = R"(Examples:
  segment annotate labels.png --image photo.jpg --coco regions.json --table regions.csv
      the regions of any label image as annotations and as a table
  segment annotate labels.tif --image photo.jpg --class classes.csv --cvat annotations.xml
      with classes: lines of label,class
  segment annotate classes.png --image photo.jpg --flat flat.png
      each class in its mean colour, where labels are classes
  segment annotate labels/ --image photos/ --labelme photos/ --simplify 1
      a folder: labels/a/b.png for photos/a/b.jpg
  segment annotate labels.tif --image stack.tif --page all --link --table cells.csv
      the corrected labels of a stack

Labels are whole numbers: a PNG or TIFF of one channel, with a palette its
indices, or .npy; or regions of COCO JSON or CVAT XML. 0 is background; regions
may lie in pieces. A file that is itself called annotate is segmented as
./annotate.
)";

struct RecutOptions : Options {
  bool is_labels = false;  ///< Whether the inputs are label images.
  bool colours = false;    ///< Whether the labels are colours.
  std::string input;       ///< A tree, a label image, or a folder of them.
  std::string image;
  std::optional<double> threshold;
  std::optional<ObjectConditions> objects;  ///< In place of a cut.
  bool corrects = false;                    ///< Whether seeds correct a cut, in place of one.
  bool needs_ground = false;                ///< Whether a size is an area on the ground.

  const std::string& seeds() const { return sidecars[Sidecar::kSeeds]; }
  /// A size that may be an area on the ground, and the option that gives it.
  struct Size {
    const char* option;
    LeastSize* size;
    bool is_greatest = false;
  };
  std::vector<Size> sizes() {
    std::vector<Size> all = {{"--min-size", &parameters.region.min_size}};
    if (!objects) return all;
    if (objects->least_area) all.push_back({"--area", &*objects->least_area});
    if (objects->greatest_area) all.push_back({"--area", &*objects->greatest_area, true});
    return all;
  }
  bool needs_brightness() const {
    return objects &&
           (std::isfinite(objects->brightness.low) || std::isfinite(objects->brightness.high) ||
            objects->score == ObjectScoring::kNuclei);
  }
};

/// Whether a result is written to a file that holds coordinates, and a scene that has some is
/// named.
bool takes_coordinates(const RecutOptions& options) {
  if (!is_map(options.image)) return false;
  if (names_tiff(options.results[Result::kUltrametric])) return true;
  if (!options.results.has(Result::kLabels) || options.results[Result::kLabels] == "-")
    return false;
  return names_polygons(options.results[Result::kLabels]) ||
         label_format(options.results[Result::kLabels], options.labels.indexed) ==
             LabelFormat::kTiff;
}

constexpr const char* kObjectLineGroup = "Objects before a background";

std::optional<LeastSize> parse_area(const std::string& text) {
  const std::optional<LeastSize> size = parse_least_size(text);
  return size && size->unit != LeastSize::Unit::kAutomatic ? size : std::nullopt;
}

/// The two ends of LOW:HIGH, of which either may be empty, by `parse`.
template <class Parse>
auto parse_range(const char* option, const std::string& text, const char* numbers,
                 const Parse& parse) {
  using End = decltype(parse(text));
  std::pair<End, End> ends;
  const std::size_t colon = text.find(':');
  bool good = colon != std::string::npos && text.size() > 1;
  if (good) {
    const std::string low = text.substr(0, colon);
    const std::string high = text.substr(colon + 1);
    ends = {parse(low), parse(high)};
    good = (low.empty() || ends.first) && (high.empty() || ends.second);
  }
  if (good) return ends;
  throw ConfigError(
      fmt::format("{} is '{}', expected LOW:HIGH, LOW: or :HIGH, with {}", option, text, numbers));
}

[[noreturn]] void refuse_order(const char* option, const std::string& text) {
  throw ConfigError(fmt::format("{} is '{}': LOW is above HIGH", option, text));
}

void set_area(ObjectConditions& conditions, const std::string& text) {
  const auto [low, high] = parse_range(
      "--area", text, "numbers of pixels, shares such as 0.2%, or areas such as 2ha", parse_area);
  if (low && high && low->unit == high->unit && low->value > high->value) {
    refuse_order("--area", text);
  }
  conditions.least_area = low;
  conditions.greatest_area = high;
}

Interval interval(const char* option, const std::string& text) {
  const auto [low, high] = parse_range(option, text, "numbers from 0 to 1", [](const auto& end) {
    return number_in<double>(end, 0, 1);
  });
  Interval range;
  if (low) range.low = *low;
  if (high) range.high = *high;
  if (range.low > range.high) refuse_order(option, text);
  return range;
}

double difference(const char* option, const std::string& text) {
  return number_of<double>(option, text, 0, 1, "a number from 0 to 1");
}

/// The options of a command line that ask for objects.
class ObjectLine {
 public:
  void declare(CommandLine& line) {
    line.flag("--objects", objects_, kObjectLineGroup,
              "Keep only objects, each one region of the tree; the rest is 0");
    line.option(
        "--area", area_, "LOW:HIGH", kObjectLineGroup,
        "Objects of this area: pixels, shares of the picture such as 0.2%, or areas such as "
        "2ha of a scene as --image; 60: means at least 60");
    line.option("--solidity", solidity_, "LOW:HIGH", kObjectLineGroup,
                "Objects whose area is this share of their convex hull's (default 0.9:)");
    line.option(
        "--contrast", contrast_, "LOW:HIGH", kObjectLineGroup,
        "Objects whose boundary is stronger by this than any removed inside (default 0.08:)");
    line.option("--brighter", brighter_, "D", kObjectLineGroup,
                "Objects brighter by at least D, 0 to 1, than what they merge with; needs --image");
    line.option("--darker", darker_, "D", kObjectLineGroup,
                "Objects darker by at least D, 0 to 1, than what they merge with; needs --image");
    line.option(
        "--score", score_, "NAME", kObjectLineGroup,
        "How objects are scored: contrast, or nuclei, learned from cell nuclei, which needs "
        "--image (default contrast)",
        {.words = {"contrast", "nuclei"}});
    line.need("--objects",
              {"--area", "--solidity", "--contrast", "--brighter", "--darker", "--score"});
    line.exclude("--brighter", {"--darker"});
  }

  /// What objects must meet, or nothing if they are not asked for. Throws ConfigError.
  std::optional<ObjectConditions> conditions() const {
    if (!objects_) return std::nullopt;
    if (score_ && *score_ != "contrast" && *score_ != "nuclei") {
      throw ConfigError(fmt::format("--score is '{}', expected contrast or nuclei", *score_));
    }
    ObjectConditions conditions = score_ == "nuclei" ? nuclei_conditions() : ObjectConditions();
    if (area_) set_area(conditions, *area_);
    if (solidity_) conditions.solidity = interval("--solidity", *solidity_);
    if (contrast_) conditions.contrast = interval("--contrast", *contrast_);
    if (brighter_) conditions.brightness.low = difference("--brighter", *brighter_);
    if (darker_) conditions.brightness.high = -difference("--darker", *darker_);
    return conditions;
  }

 private:
  bool objects_ = false;
  std::optional<std::string> area_;
  std::optional<std::string> solidity_;
  std::optional<std::string> contrast_;
  std::optional<std::string> brighter_;
  std::optional<std::string> darker_;
  std::optional<std::string> score_;
};

/// "recut" and "annotate".
class RecutCommand : public Command {
 public:
  explicit RecutCommand(bool is_labels)
      : Command(is_labels ? "segment annotate" : "segment recut",
                is_labels ? "Writes the regions of a label image, from any program, as "
                            "annotations and tables."
                          : "Cuts a merge tree that segment --tree saved, without segmenting "
                            "again.",
                is_labels ? "segment annotate LABELS|FOLDER [OPTION]..."
                          : "segment recut TREE|FOLDER|- [OPTION]...",
                is_labels ? kAnnotateExamples : kRecutExamples) {
    options_.is_labels = is_labels;
    if (is_labels) {
      line_.inputs("LABELS|FOLDER", inputs_, "A label image, or a folder of them",
                   files_of(kLabelImages + std::string(" .json .xml")));
      line_.flag("--colours", options_.colours, kRecutInputOutput,
                 "Each colour of the label image is a label, numbered as they first appear; black "
                 "and what is transparent is background");
    } else {
      line_.inputs("TREE|FOLDER|-", inputs_,
                   "A merge tree, a folder of them, or - for standard input", files_of(kTrees));
    }
    declare_result(line_, Result::kLabels, options_.results, kRecutInputOutput);
    line_.flag("--indexed", options_.labels.indexed, kRecutInputOutput,
               "Write labels as palette indices (PNG, at most 255 regions)");
    line_.flag("--cog", options_.labels.cloud_optimised, kRecutInputOutput,
               "Write .tif results as cloud-optimised GeoTIFF");
    declare_result(line_, Result::kOverlay, options_.results, kRecutInputOutput);
    declare_result(line_, Result::kFlat, options_.results, kRecutInputOutput);
    declare_result(line_, Result::kCutout, options_.results, kRecutInputOutput);
    declare_cutout(line_, options_.cutout, kRecutInputOutput);
    line_.option("--image", options_.image, "FILE|DIR|-", kRecutInputOutput,
                 "The image that the regions belong to, for annotations, tables, --overlay, "
                 "--flat, --cutout and coordinates; of a folder the folder of images: "
                 "photos/a/b.jpg for a/b.tree or "
                 "a/b.png");
    line_.option(
        "--page", page_, "N|all", kRecutInputOutput,
        "The page of --image, and of labels of several pages, from 1 (default: that of the "
        "tree, else the first); all: each page, with the labels of all as one TIFF",
        {.words = {"all"}});
    line_.option("--channel", options_.part.channel, "N|NAME", kRecutInputOutput,
                 "The channel of --image, as in segment (default: that of the tree, else all)");
    line_.flag("--damaged", options_.parameters.image.damaged, kRecutInputOutput, kTakesDamaged);
    declare_links(line_, options_.links);
    line_.need("--image", {"--channel", "--damaged"});
    declare_annotations(line_, options_.results, options_.annotations);
    // Pictures have the image's colours, and files of some formats name it.
    line_.need("--image", {"--overlay", "--flat", "--cutout"});
    for (const ResultInfo& info : kResults) {
      const bool named = info.span == Span::kRun || info.result == Result::kLabelMe;
      if (named) line_.need("--image", {info.option});
    }
    if (!is_labels) declare_cuts();
    line_.message_flags("Only errors", "Also what the input holds", false);
  }

 private:
  void declare_cuts() {
    declare_result(line_, Result::kUltrametric, options_.results, kRecutInputOutput);
    declare_result(line_, Result::kPage, options_.results, kRecutInputOutput,
                   "A page for a browser, with every cut of the tree (.html)");
    line_.option("--regions", regions_, "K", kCut, "Cut into K regions");
    line_.option("--compactness", compactness_, "C", kSize,
                 "How even the sizes of --regions are, from 0 to 1 (default 0)");
    line_.option("--threshold", threshold_, "T", kCut,
                 "Merge regions across boundaries of a height of at most T, 0 to 1");
    line_.option("--min-size", min_size_, "SIZE", kSize,
                 "Merge smaller regions into a neighbour, as in segment; an area needs a scene as "
                 "--image (default auto)");
    line_.flag("--auto", automatic_, kCut, "Cut at the threshold saved with the tree (default)");
    line_.option(
        "--seeds", options_.sidecars[Sidecar::kSeeds], "FILE|DIR", kCut,
        "Find the largest regions that do not join seeds of two labels: a PNG, TIFF or NPY of the "
        "image's size with numbers from 1, and 0 elsewhere; a region without seeds has the label "
        "0. With --regions, --threshold or --auto they correct that cut, as segment --correct does",
        files_of(info_of(Sidecar::kSeeds).extensions));
    objects_.declare(line_);
    line_.need("--image", {"--html"});
    // A cut by heights, one by seeds, and objects.
    line_.exclude("--objects",
                  {"--seeds", "--regions", "--threshold", "--auto", "--min-size", "--html"});
    line_.exclude("--seeds", {"--html", "--link"});
    line_.exclude("--regions", {"--threshold", "--auto"});
    line_.need("--regions", {"--compactness"});
    line_.exclude("--compactness", {"--html"});
    line_.exclude("--auto", {"--threshold"});
  }

  void resolve() override {
    options_.input = options_.is_labels
                         ? only_input("label image", "label images", "one, or a folder of them")
                         : only_input("hierarchy", "hierarchies", "one, or a folder of them");
    options_.objects = objects_.conditions();
    options_.all_pages = page_ == "all";
    if (!page_.empty() && !options_.all_pages) {
      if (!options_.is_labels && options_.image.empty()) {
        line_.fail("--page has no effect without --image");
      }
      options_.part.page = page_number(line_, page_);
    }
    set_links(line_, options_);
    check_cutout(options_.cutout);
    options_.corrects = regions_ || threshold_ || automatic_;
    if (min_size_ && !options_.corrects && !options_.seeds().empty()) {
      line_.fail("--min-size is of a cut: with --seeds add --regions, --threshold or --auto");
    }
    if (regions_) {
      options_.parameters.region.regions =
          number_of<int>("--regions", *regions_, 1, INT32_MAX, "an integer of 1 or more");
    }
    if (threshold_) {
      options_.threshold =
          number_of<double>("--threshold", *threshold_, 0, 1, "a number from 0 to 1");
    }
    if (min_size_) {
      set_from_option(options_.parameters, "--min-size", "region.min_size", *min_size_);
    }
    if (compactness_) {
      set_from_option(options_.parameters, "--compactness", "region.compactness", *compactness_);
    }
    for (const auto& [option, size, is_greatest] : options_.sizes()) {
      if (size->unit != LeastSize::Unit::kSquareMetres) continue;
      options_.needs_ground = true;
      if (options_.image.empty()) {
        line_.fail(fmt::format("{} on the ground needs the scene: add --image", option));
      }
    }
    check_places();
  }

  void check_places() const {
    const bool annotated = has_annotations(options_.results, true);
    if (!options_.results.any()) line_.fail("name a file for the labels with -o");
    for (const auto& [name, given] : {std::pair("--indexed", options_.labels.indexed),
                                      std::pair("--cog", options_.labels.cloud_optimised)}) {
      if (given && !options_.results.has(Result::kLabels)) {
        line_.fail(
            fmt::format("{} describes how labels are written: name a file for them with -o", name));
      }
    }
    const std::string& output = options_.results[Result::kLabels];
    const bool polygons = names_polygons(output);
    if (polygons && fs::is_regular_file(options_.image) && !is_map(options_.image)) {
      line_.fail(fmt::format(
          "-o {}: polygons have the coordinates of a scene, and --image '{}' has none: "
          "write labels as .png, .tif or .npy, or regions as annotations (--coco, --yolo)",
          output, options_.image));
    }
    if (options_.image.empty() && options_.results.has(Result::kSvg) &&
        !options_.annotations.outlined) {
      line_.fail("--svg has the colours of the image: add --image, or --svg-outlines");
    }
    // A file of annotations may hold several images, of which --image names one.
    const bool is_drawn = options_.is_labels && has_extension(options_.input, {".json", ".xml"});
    if (!options_.image.empty() && !options_.results.has(Result::kOverlay) &&
        !options_.results.has(Result::kFlat) && !options_.results.has(Result::kCutout) &&
        !is_drawn && !options_.results.has(Result::kPage) && !annotated && !polygons &&
        !options_.all_pages && !takes_coordinates(options_) && !options_.needs_brightness() &&
        !options_.needs_ground) {
      line_.fail(
          "--image has no effect: it is used by --overlay, --flat, --cutout, --html, annotations, "
          "tables, coordinates and the brightness of objects");
    }
    if (options_.needs_brightness() && options_.image.empty()) {
      line_.fail(
          "--brighter, --darker and --score nuclei need --image: the hierarchy does not hold the "
          "brightness");
    }
    if (polygons && options_.image.empty()) {
      line_.fail(
          fmt::format("-o {} needs --image: polygons have the coordinates of a scene", output));
    }
    for (const auto& [info, place] : named(options_.results)) {
      if (place != "-" || info.result == Result::kLabels) continue;
      line_.fail(fmt::format("{}: only labels (-o) can go to standard output (-)", info.option));
    }
    const bool folder = is_input_folder(options_.input);
    if (options_.all_pages && !options_.is_labels && !folder) {
      line_.fail("--page all: the trees of a stack are in a folder, as --tree DIR writes them");
    }
    const bool batch = folder || options_.all_pages;
    check_annotations(options_.results, options_.annotations, batch);
    for (const NamedResult& each : named(options_.results)) {
      if (!batch || each.of_run()) continue;
      // Labels of all pages may be one file: plan_of() sees.
      if (options_.all_pages && each.info.result == Result::kLabels) continue;
      check_folder_name(each.info.option, each.place);
    }
    for (const auto& [name, given] :
         {std::pair("--image", &options_.image), std::pair("--seeds", &options_.seeds())}) {
      if (!batch || given->empty() || is_folder(*given)) continue;
      if (options_.all_pages && given == &options_.image) continue;
      line_.fail(
          fmt::format("{}: '{}' is not a folder; a folder of {} needs a folder with "
                      "their names",
                      name, *given, options_.is_labels ? "labels" : "trees"));
    }
    if (options_.input == "-" && options_.image == "-") {
      line_.fail("standard input (-) is named twice");
    }
  }

  ExitCode run(Console& console, const CancelToken& cancel) override;

  RecutOptions options_;
  std::string page_;
  std::optional<std::string> regions_;
  std::optional<std::string> threshold_;
  std::optional<std::string> min_size_;
  std::optional<std::string> compactness_;
  bool automatic_ = false;
  ObjectLine objects_;
};

/// The files of a folder and of those in it that are inputs, in the order of their names.
std::vector<fs::path> inputs_in(const RecutOptions& options) {
  const std::vector<std::string> extensions =
      extensions_in(options.is_labels ? kLabelImages : kTrees);
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

/// The image of that name, without its extension, in the folder of --image.
fs::path image_of_name(const std::string& folder, const fs::path& name) {
  // Where b.jpg and b.png are both there, results are called b.jpg.tree and b.png.tree.
  if (has_image_extension(name) && app::exists(folder / name)) return folder / name;
  std::vector<std::string> types = image_extensions();
  types.insert(types.end(), map_extensions().begin(), map_extensions().end());
  fs::path file = mirrored_file("--image", types, folder, name);
  if (app::exists(file)) return file;
  throw InputError(
      fmt::format("--image: '{}' has no file of the name '{}' with the extension of an image",
                  folder, name.string()));
}

/// What a job reads: a file, and with --page all its page.
struct RecutInput {
  fs::path file;
  fs::path name;  ///< From the folder that was named, without extension; of trees of a stack
                  ///< without the page.
  ImagePart part = {1};
  int pages = 1;
};

/// What a tree is of, if that is the page that its name ends in.
std::optional<ImagePart> page_of_tree(const fs::path& file) {
  const std::string name = file.stem().string();
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  const auto page = number_in<int>(name.substr(dash + 1), 1);
  if (!page) return std::nullopt;
  ImagePart part{*page};
  attempt(file.string(),
          [&] { read_tree(file.string(), &part); });  // Its job reports what is wrong.
  return part.page == *page ? std::optional(part) : std::nullopt;
}

/// What the jobs read, those of a stack in the order of its pages.
std::vector<RecutInput> recut_inputs(const RecutOptions& options) {
  const bool folder = is_input_folder(options.input);
  std::map<fs::path, std::vector<RecutInput>> of_name;
  for (const fs::path& file : folder ? inputs_in(options) : std::vector<fs::path>{options.input}) {
    fs::path name = folder ? file.lexically_relative(options.input) : file.filename();
    name.replace_extension();
    if (options.all_pages && !options.is_labels) {
      const std::optional<ImagePart> part = page_of_tree(file);
      const std::string whole = name.string();
      if (part) name = whole.substr(0, whole.rfind('-'));
      of_name[name].push_back({file, name, part.value_or(ImagePart{1})});
      continue;
    }
    const int pages =
        options.all_pages ? pages_to_do(file.string(), options.parameters.image, "") : 1;
    for (int k = 1; k <= pages; ++k) of_name[name].push_back({file, name, {k}, pages});
  }
  std::vector<RecutInput> inputs;
  for (auto& [name, each] : of_name) {
    if (options.all_pages && !options.is_labels) {
      std::stable_sort(each.begin(), each.end(),
                       [](const auto& a, const auto& b) { return a.part.page < b.part.page; });
      const auto pages = static_cast<int>(each.size());
      if (each.back().part.page != pages) {
        throw InputError(fmt::format(
            "'{}' has {} of '{}', the last of page {}: --page all needs the tree of each page",
            options.input, counted(pages, "tree"), name.string(), each.back().part.page));
      }
      for (RecutInput& input : each) input.pages = pages;
    }
    inputs.insert(inputs.end(), each.begin(), each.end());
  }
  return inputs;
}

/// The image of an input. Throws InputError where it has another number of pages.
fs::path image_of_input(const RecutOptions& options, const RecutInput& input) {
  const fs::path file =
      is_folder(options.image) ? image_of_name(options.image, input.name) : fs::path(options.image);
  const bool is_stack = options.all_pages && (options.is_labels || input.pages > 1);
  if (!is_stack || input.part.page > 1) return file;
  const std::string& asked = options.part.channel;
  const int pages = pages_to_do(file.string(), options.parameters.image,
                                asked.empty() ? input.part.channel : asked);
  if (pages == input.pages) return file;
  throw InputError(fmt::format(
      "--image: '{}' has {}, and '{}' labels of {}: all must be there, and of several channels "
      "--channel names one",
      file.string(), counted(pages, "page"), input.file.string(), input.pages));
}

/// The job of each tree or label image. Its input is the image, if there is one.
Plan plan_of(const RecutOptions& options) {
  Plan plan;
  plan.batch = is_input_folder(options.input) || options.all_pages;
  plan.roots.results = options.results;
  plan.roots.sidecars = options.sidecars;
  if (!plan.batch) {
    Job& job = plan.jobs.emplace_back(plan.roots);
    job.input = options.image.empty() ? options.input : options.image;
    job.made = options.input;
    job.part = options.part;
    job.name = fs::path(job.input).filename().string();
    return plan;
  }
  const std::vector<RecutInput> inputs = recut_inputs(options);
  if (options.all_pages) {
    const bool is_one = inputs.front().name == inputs.back().name;
    plan.stack = take_stack(is_one, plan.roots);
    check_folder_name("-o", plan.roots.results[Result::kLabels]);
    if (!is_one && !options.image.empty()) check_folder_name("--image", options.image);
  }
  for (const RecutInput& each : inputs) {
    const bool is_page = each.pages > 1;
    const fs::path name = is_page ? page_name(each.name, each.part.page, each.pages) : each.name;
    Job& job = plan.jobs.emplace_back(
        mirrored(plan.roots, {each.file.string(), name}, labels_extension(options.labels, false)));
    job.made = each.file.string();
    job.part = options.part;
    job.pages = each.pages;
    if (is_page) job.part.page = each.part.page;
    if (is_page || !plan.stack.empty()) give_stack(plan, each.name, job);
    job.name = name.generic_string();
    job.number = static_cast<std::int64_t>(plan.jobs.size());
    // All pages have one input.
    if (is_page && !options.is_labels) job.input = (fs::path(options.input) / each.name).string();
    if (options.image.empty()) continue;
    const fs::path file = image_of_input(options, each);
    job.input = file.string();
    const fs::path of_pages = each.name.parent_path() / file.stem();
    job.name = is_page ? page_name(of_pages, job.part.page, job.pages).generic_string() +
                             file.extension().string()
               : is_folder(options.image) ? file.lexically_relative(options.image).generic_string()
                                          : file.filename().string();
  }
  return plan;
}

/// Reads the image that regions belong to, and where it lies if it is a scene. `part`: of its file,
/// that the regions are of; what was asked for takes its place. Returns the one that was read.
ImagePart read_image_of(const RecutOptions& options, const Job& job, ImagePart part, Labels& labels,
                        LoadedImage& loaded) {
  if (options.image.empty()) return part;
  const ImageParameters& parameters = options.parameters.image;
  const bool is_asked = job.part.page != 0 || !job.part.channel.empty();
  if (is_map(job.input) && !is_asked) {
    Map map = read_map(job.input);
    loaded.image = std::move(map.image);
    loaded.frame = std::move(map.frame);
  } else {
    if (job.part.page != 0) part.page = job.part.page;
    loaded.file = std::make_shared<const ImageFile>(job.input);
    std::string note;
    if (!job.part.channel.empty()) {
      part.channel = job.part.channel;
    } else if (!part.channel.empty() && !number_in(part.channel) &&
               loaded.file->facts(parameters, {part.page, ""}).channels.empty()) {
      note = fmt::format(
          "The tree is of channel {}, and the image has no channels: it was read as it is.",
          std::exchange(part.channel, ""));
    }
    loaded.facts = loaded.file->facts(parameters, part);
    loaded.image = loaded.file->read(parameters, part);
    if (!note.empty()) loaded.image.notes.push_back(note);
  }
  const Image& image = loaded.image;
  lay_on(loaded.frame, job.made, labels.width, labels.height, labels.values);
  if (image.width == labels.width && image.height == labels.height) return part;
  throw InputError(fmt::format(
      "{}: the image has {} x {} pixels, but the {} {} was made from one of {} x {}{}", job.input,
      image.width, image.height, options.is_labels ? "label image" : "hierarchy", job.made,
      labels.width, labels.height,
      turned_hint(image.width, image.height, labels.width, labels.height)));
}

/// The page of a job's labels; 0: they have one.
int labels_page(const RecutOptions& options, const Job& job) {
  if (job.pages > 1 || job.part.page == 0 || options.image.empty()) return job.part.page;
  return pages_to_do(job.made, options.parameters.image, "") > 1 ? job.part.page : 0;
}

/// Reads labels, which then are 1, 2, ... in the order of their numbers, and returns these.
std::vector<std::int64_t> read_labels(const RecutOptions& options, const Job& job,
                                      WrittenImage& written) {
  LabelImage read =
      read_label_image(job.made, {}, {labels_page(options, job), options.colours, job.name});
  written.result->notes = std::move(read.notes);
  written.result->labels = std::move(read.labels);
  const bool is_written =
      job.results.has(Result::kLabels) || job.results.has(Result::kCutout) || !job.stack.empty();
  if (!is_written || read.numbers.empty()) return read.numbers;
  // Polygons take memory for each number.
  const bool polygons = names_polygons(job.results[Result::kLabels]);
  const std::int64_t most = polygons ? 50'000'000 : std::numeric_limits<std::int32_t>::max();
  if (read.numbers.back() > most) {
    throw InputError(fmt::format(
        "-o: its labels go up to {}, and such files are written up to {}: number them anew",
        read.numbers.back(), most));
  }
  for (const std::int64_t number : read.numbers) {
    written.seed_labels.push_back(static_cast<std::int32_t>(number));
  }
  return read.numbers;
}

/// Cuts a tree as it was asked for. Returns what files call each region; nothing: by its number.
std::vector<std::int32_t> cut_tree(const RecutOptions& options, const Job& job,
                                   const RegionParameters& wanted, const LoadedImage& loaded,
                                   HierarchyCut& result) {
  const Hierarchy& hierarchy = result.hierarchy;
  const std::string& seeds = job.sidecars[Sidecar::kSeeds];
  if (!seeds.empty()) {
    const Labels& leaves = hierarchy.leaves;
    std::optional<Seeds> read = read_seeds(seeds, {}, leaves.width, leaves.height);
    lay_on(loaded.frame, seeds, read->width, read->height, read->labels);
    SeededRegions found;
    if (options.corrects) {
      Correction correction{{cut(hierarchy, wanted, result.notes), {}}, {}};
      correction.labels.numbers.resize(static_cast<std::size_t>(correction.labels.labels.count));
      std::iota(correction.labels.numbers.begin(), correction.labels.numbers.end(), 1);
      take_marks(correction, "the cut", leaves.values, read);
      std::vector<std::string> of_seeds;
      const Labels grown = read ? written_labels(cut_by_seeds(hierarchy, *read, of_seeds)) : leaves;
      found = correct_labels(correction, grown, result.notes);
    } else {
      found = cut_by_seeds(hierarchy, *read, result.notes);
    }
    if (read) result.notes.insert(result.notes.end(), read->notes.begin(), read->notes.end());
    result.labels = std::move(found.regions);
    return std::move(found.seed_labels);
  }
  if (options.objects) {
    result.labels = find_objects(hierarchy, *options.objects,
                                 options.image.empty() ? nullptr : &loaded.image, result.notes);
  } else {
    result.labels = cut(hierarchy, wanted, result.notes);
  }
  return {};
}

/// What the jobs of a run share.
struct RecutRun {
  const RecutOptions& options;
  const Plan& plan;
  Console& console;
  SharedFiles shared{options.results, options.annotations, plan.batch};
  PageLinks links{options.links};
  Stacks stacks{false};
  ObjectTable objects{options};
};

/// Does one job. Throws what ends it.
void recut_one(RecutRun& run, WrittenImage& written) {
  const RecutOptions& options = run.options;
  const Job& job = *written.job;
  const Stopwatch stopwatch;
  std::string name = input_name(job.made);
  if (job.pages > 1 && options.is_labels) name += fmt::format(", page {}", job.part.page);
  LoadedImage loaded;
  loaded.job = &job;
  RegionParameters wanted = options.parameters.region;
  std::vector<std::int64_t> numbers;
  ImagePart part;
  const Hierarchy* tree = nullptr;
  if (options.is_labels) {
    numbers = read_labels(options, job, written);
    // A stack of labels keeps its axes.
    if (job.pages > 1 && options.image.empty()) {
      loaded.facts = ImageFile(job.made).facts(options.parameters.image, {job.part.page, ""});
    }
    part = read_image_of(options, job, {}, written.result->labels, loaded);
  } else {
    auto cut = std::make_unique<HierarchyCut>();
    cut->hierarchy = read_tree(job.made, &part);
    Hierarchy& hierarchy = cut->hierarchy;
    tree = &hierarchy;
    run.console.detail(
        fmt::format("{}: {} x {} pixels, {} leaves, {} merges, automatic threshold {}", name,
                    hierarchy.leaves.width, hierarchy.leaves.height, hierarchy.leaves.count,
                    hierarchy.merges.size(), hierarchy.threshold));
    wanted.threshold = options.threshold.value_or(hierarchy.threshold);
    part = read_image_of(options, job, part, hierarchy.leaves, loaded);
    RecutOptions sized = options;
    sized.parameters.region = wanted;
    for (const auto& [option, size, is_greatest] : sized.sizes()) {
      *size = size_in_pixels(option, *size, job.input, loaded.frame ? &*loaded.frame : nullptr,
                             is_greatest);
    }
    wanted = sized.parameters.region;
    written.seed_labels = cut_tree(sized, job, wanted, loaded, *cut);
    written.result = std::move(cut);
  }
  Segmentation& result = *written.result;
  written.facts = loaded.facts;
  if (options.links.overlap) {
    run.links.link(loaded.facts, written);
    numbers.assign(written.seed_labels.begin(), written.seed_labels.end());
  }
  const Annotations annotations(
      options.results, options.annotations, loaded.image, job.name, result.labels,
      measured_in(options.annotations, loaded.frame ? &*loaded.frame : nullptr, loaded.file,
                  loaded.facts, options.parameters.image, part),
      tree, numbers);
  const std::vector<std::string>& of_image = loaded.image.notes;
  result.notes.insert(result.notes.end(), of_image.begin(), of_image.end());
  for (std::string& note : annotations.notes()) result.notes.push_back(std::move(note));
  write_results(options, wanted, loaded, written, annotations);
  if (run.plan.batch) {
    const fs::path of_pages = fs::path(job.name).parent_path() / fs::path(job.input).filename();
    run.shared.add(run_parts(options.results, annotations, annotated_name(job.input, job.name, ""),
                             job.pages > 1 ? of_pages.generic_string() : job.name, job.number,
                             std::max(job.part.page, 1)));
  }
  for (const std::string& note : result.notes) run.console.note(fmt::format("{}: {}", name, note));
  run.console.message(fmt::format(
      "{}: {} ({})", name, counted(result.labels.count, options.objects ? "object" : "region"),
      duration_text(stopwatch.seconds())));
}

ExitCode RecutCommand::run(Console& console, const CancelToken& /*cancel*/) {
  const Plan plan = plan_of(options_);
  check_names(options_, plan);
  prepare_results(options_, plan);
  RecutRun run{options_, plan, console};
  ExitCode code = ExitCode::kDone;
  std::size_t failed = 0;
  LinkedThings linked;
  for (const Job& job : plan.jobs) {
    WrittenImage written;
    written.job = &job;
    if (!plan.batch) {
      recut_one(run, written);
      continue;
    }
    written.failure = attempt(job.made, [&] { recut_one(run, written); });
    run.objects.add(written);
    linked.objects += written.linked.objects;
    linked.splits += written.linked.splits;
    linked.merges += written.linked.merges;
    if (written.failure) ++failed;
    for (const std::optional<Failure>& failure : {written.failure, run.stacks.add(written)}) {
      if (!failure) continue;
      console.error(failure->message);
      code = worse(code, failure->code);
    }
  }
  run.shared.commit();
  run.objects.commit();
  if (plan.batch) {
    console.message(fmt::format(
        "{} done, {} failed{}", plan.jobs.size() - failed, failed,
        options_.links.wanted ? fmt::format("; linked into {}", linked_text(linked)) : ""));
  }
  return code;
}

}  // namespace

std::unique_ptr<Command> make_recut(const std::string& name) {
  return std::make_unique<RecutCommand>(name == "annotate");
}

}  // namespace diacut::app
