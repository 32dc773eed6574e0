#include "options.hpp"

#include <fmt/format.h>

#include <cctype>
#include <limits>
#include <utility>

#include "diacut/device.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "interrupt.hpp"
#include "kernel_cache.hpp"
#include "output/program_json.hpp"
#include "parameters/parameter_table.hpp"
#include "report.hpp"
#include "segment_help.hpp"
#include "subcommand.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

constexpr const char* kOptionsInputOutput = "Input and output";
constexpr const char* kSegmentation = "Segmentation";
constexpr const char* kParameters = "Parameters";

/// The meaning of an option, after what the option is for if that is neither of the methods that
/// find regions.
std::string said(Methods asked, const std::string& meaning) {
  constexpr Methods kRegions = kForCuts | kForDirectCuts;
  if ((asked & kRegions) == kRegions) return meaning;
  std::vector<std::string_view> methods;
  for (const MethodInfo& info : kMethods) {
    if ((asked & info.method) != 0 && *info.value != '\0') methods.emplace_back(info.value);
  }
  std::string text = methods.empty() ? "With --seeds: "
                                     : fmt::format("--method {}: ", fmt::join(methods, " and "));
  text += static_cast<char>(std::tolower(meaning.front()));
  return text + meaning.substr(1);
}

/// The meaning of an option, with the names that it takes, if it takes names, and its default.
std::string described(const ParameterEntry& entry) {
  std::string text = said(entry.text.option.methods, entry.text.option.meaning);
  if (entry.names.size() > 1) text += ", " + entry.allowed;
  const std::string value = plain_text(entry.get(Parameters{}));
  if (!value.empty()) text += fmt::format(" (default {})", value);
  return text;
}

/// An option that sets one parameter, and what it was given.
struct ParameterArgument {
  const ParameterEntry* entry;
  std::optional<std::string> text;
};

/// The options that set parameters, those of regions first.
std::vector<ParameterArgument> parameter_options() {
  std::vector<ParameterArgument> options;
  for (const ParameterEntry& entry : parameter_table()) {
    if (!entry.text.option.flag.empty()) options.push_back({&entry, {}});
  }
  std::stable_partition(options.begin(), options.end(), [](const ParameterArgument& each) {
    return each.entry->table == "region";
  });
  return options;
}

/// Sets what a text of --set says, as "eigen.vectors=9". Throws ConfigError.
void set_from_assignment(Parameters& parameters, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError(fmt::format(
        "--set: '{}' is not of the form KEY=VALUE, as in --set eigen.vectors=9 (--print-config "
        "lists the keys)",
        assignment));
  }
  set_from_option(parameters, "--set", assignment.substr(0, equals), assignment.substr(equals + 1));
}

/// "4,3,2" as numbers of bands. Throws ConfigError unless there are one or three, from 1 on.
std::vector<int> parse_bands(const std::string& text) {
  std::vector<int> bands;
  for (const std::string_view each : split_text(text, ',')) {
    const auto band = number_in<int>(each, 1);
    if (!band || text.ends_with(',')) {
      throw ConfigError(fmt::format(
          "--bands: '{}' is not a list of bands; bands are counted from 1, as in --bands 4,3,2",
          text));
    }
    bands.push_back(*band);
  }
  if (bands.size() == 1 || bands.size() == 3) return bands;
  throw ConfigError(
      fmt::format("--bands: '{}' names {} bands; name one, which is read as grey, or three, which "
                  "are read as red, green and blue",
                  text, bands.size()));
}

void list_devices(const Options& options, Console& console) {
  const std::vector<DeviceInfo> devices = diacut::list_devices();
  std::optional<DeviceInfo> chosen;
  try {
    chosen = choose_device(options.device);
  } catch (const ConfigError& error) {
    if (!options.device.empty()) throw;
    // The environment variable names no device: the list shows what it may name.
    console.note(error.what());
  }
  const DeviceInfo* mark = chosen ? &*chosen : nullptr;
  if (options.json.empty()) {
    write_file("-", device_table(devices, mark));
  } else {
    write_file(options.json, devices_json(devices, mark));
  }
}

/// "segment" itself: its options, declared by the constructor, and what they set.
class SegmentCommand : public Command {
 public:
  SegmentCommand()
      : Command("segment", "Segments images by normalized cuts, on any OpenCL device.",
                "segment [OPTION]... IMAGE|FOLDER|-...", segment_examples()) {
    line_.inputs("IMAGE|FOLDER|-", options_.inputs,
                 "Images, folders of images, or - for standard input",
                 files_of(fmt::format("{}", fmt::join(image_extensions(), " "))));
    declare_places();
    declare_many();
    declare_annotations(line_, options_.results, options_.annotations);
    declare_parameters();
    declare_run();
    declare_pairs();
    line_.brief_help(kSegmentBrief);
    line_.message_flags("Only errors", "Also the device, the time of each stage, and each file",
                        true);
  }

  ExitCode run(Console& console, const CancelToken& cancel) override {
    // Before there are threads, and before anything of a device or of a file is in memory.
    if (options_.parameters.image.untrusted) start_sandbox();
    if (options_.time_limit > 0) limit_time(options_.time_limit);
    const KernelCache kernels(console);
    if (options_.list_devices) {
      list_devices(options_, console);
    } else if (options_.print_config) {
      write_file("-", print_parameters(options_.parameters));
    } else {
      return segment_images(std::move(options_), console, cancel);
    }
    return ExitCode::kDone;
  }

 private:
  void resolve() override {
    options_.batch.shard = parse_shard(options_.batch.share, "segment", "images");
    options_.json = place_of_shard(options_.json, options_.batch.shard);
    set_memory(line_, options_);
    options_.all_pages = page_ == "all";
    if (given("--page") && !options_.all_pages) options_.part.page = page_number(line_, page_);
    if (given("--time-limit")) options_.time_limit = seconds_of(time_limit_);
    if (given("--bands")) options_.bands = parse_bands(bands_);
    set_parameters();
    const Methods method = asked();
    check_methods(method);
    check_values(method);
    set_links(line_, options_);
    check_cutout(options_.cutout);
    const bool names_no_image = options_.list_devices || options_.print_config;
    if (!names_no_image && options_.batch.list.empty() == options_.inputs.empty()) {
      line_.fail(options_.inputs.empty()
                     ? "no image given: name a file, a folder, or - for standard input"
                     : "--files-from names all images: leave out the inputs, or the list");
    }
  }

  void declare_places() {
    for (const ResultInfo& info : kResults) {
      if (!info.is_annotation()) {
        const bool usual = (info.methods & kForCuts) != 0;
        declare_result(line_, info.result, options_.results, kOptionsInputOutput,
                       usual ? nullptr : said(info.methods, info.meaning).c_str());
      }
    }
    declare_cutout(line_, options_.cutout, kOptionsInputOutput);
    line_.flag("--indexed", options_.labels.indexed, kOptionsInputOutput,
               "Write labels as palette indices (PNG, at most 255 regions)");
    line_.flag("--cog", options_.labels.cloud_optimised, kOptionsInputOutput,
               "Write .tif results as cloud-optimised GeoTIFF");
    line_.option(
        "--json", options_.json, "FILE|-", kOptionsInputOutput,
        "A report as JSON; for several images JSON Lines; with --list-devices, the devices",
        files_of(".json .jsonl"));
    for (const SidecarInfo& info : kSidecars) {
      line_.option(
          info.option, options_.sidecars[info.sidecar], "FILE|DIR", kOptionsInputOutput,
          info.sidecar == Sidecar::kSeeds ? info.meaning : said(info.methods, info.meaning),
          files_of(info.extensions));
    }
    line_.option(
        "--page", page_, "N|all", kOptionsInputOutput,
        "Read this page of a TIFF, frame of an animation or picture of a collection, from 1 "
        "(default: the first); all: each page is an image, and the labels of all pages are one "
        "TIFF",
        {.words = {"all"}});
    line_.option("--channel", options_.part.channel, "N|NAME", kOptionsInputOutput,
                 "Read this channel as grey: its number from 1, or its name in an OME-TIFF; --page "
                 "then counts its pages");
    declare_links(line_, options_.links);
    line_.option("--bands", bands_, "N|N,N,N", kOptionsInputOutput,
                 "Scenes: use these bands as grey or as red, green and blue (default: all; the "
                 "principal components if there are two, or four and more)");
    line_.flag("--damaged", damaged_, kOptionsInputOutput, kTakesDamaged);
    line_.flag("--untrusted", untrusted_, kOptionsInputOutput,
               "Decode untrusted files in a sandboxed process; scenes are read as pictures");
  }

  void declare_many() {
    constexpr const char* kMany = "Many images";
    BatchOptions& batch = options_.batch;
    line_.option("--files-from", batch.list, "FILE|-", kMany,
                 "Read the images' names from a file or standard input, one a line, instead of "
                 "inputs; results go into folders",
                 {.files = true});
    line_.flag("-0,--null", batch.null, kMany,
               "Names of --files-from end with a null byte, as from find -print0");
    line_.option(
        "--base", batch.base, "DIR", kMany,
        "With --files-from: results keep their images' place below this folder, DIR/a/b.jpg "
        "gives a/b.png (default: b.png)");
    line_.option(
        "--shard", batch.share, "I/N|auto", kMany,
        "Do the I-th of N shares of the images, I from 1; auto: the share of this job in an "
        "array of Slurm, AWS Batch or Kubernetes (with DIACUT_SHARDS)",
        {.words = {"auto"}});
    line_.flag("--skip-existing", batch.skip_existing, kMany,
               "Leave out images whose results exist; --json FILE is continued");
    constexpr const char* kTiles = "One picture of any size";
    TileOptions& tiles = options_.tiles;
    line_.option(
        "--tile-size", tiles.size, "N|auto", kTiles,
        "Segment one picture in tiles of N x N pixels, with the labels of the whole (-o FILE.tif, "
        "or "
        "polygons of a scene); auto: as large as --memory allows; an interrupted run continues");
    line_.option(
        "--tiles-in", tiles.folder, "DIR", kTiles,
        "Keep the tiles in this folder (default: the name of -o with .tiles, removed at the end)");
    line_.flag("--plan-only", tiles.plan_only, kTiles,
               "Only make the plan, for segment tile, join and paint");
  }

  void declare_parameters() {
    for (auto& [entry, text] : values_) {
      Values offered{.words = {entry->names.begin(), entry->names.end()}};
      if (entry->text.option.flag == "--weights") {
        offered = {.words = network_names(), .list = true, .extensions = {".safetensors"}};
      }
      line_.option(entry->text.option.flag, text, entry->text.option.value,
                   entry->table == "region" ? kSegmentation : kParameters, described(*entry),
                   offered);
    }
    line_.option("--config", config_, "NAME|FILE", kParameters,
                 fmt::format("A preset ({}) or a TOML file; other options override it",
                             fmt::join(preset_names(), ", ")),
                 {.words = preset_names(), .extensions = {".toml"}});
    line_.option("--set", assignments_, "KEY=VALUE", kParameters,
                 "Set one parameter by its key; may be repeated", {.words = assignments_offered()});
    line_.flag("--print-config", options_.print_config, kParameters,
               "Print every parameter as TOML and exit");
  }

  void declare_run() {
    line_.flag("--list-devices", options_.list_devices, kDeviceGroup,
               "List the OpenCL devices and exit");
    line_.flag(
        "--verify", options_.verify, kDeviceGroup,
        "Segment each image twice, and fail if the results differ in a byte: for devices that "
        "may compute wrongly now and then; takes twice the time");
    line_.option("--time-limit", time_limit_, "SECONDS", kDeviceGroup,
                 "End the run after this time, even if the device hangs, with exit code 130; "
                 "continue with --skip-existing");
    declare_device(line_, options_, "larger images use a solver that needs less, or are refused");
  }

  void declare_pairs() {
    line_.need("--files-from", {"--null", "--base"});
    line_.need("--tile-size", {"--tiles-in", "--plan-only"});
    line_.exclude("--bands", {"--page", "--channel"});
    line_.exclude("--boundary-map", {"--boundary", "--weights"});
    line_.exclude("--link", {"--skip-existing", "--shard"});
    line_.exclude("--compactness", {"--html"});
    line_.exclude("--correct", {"--probabilities", "--html", "--tree", "--ultrametric"});
    line_.exclude("--tile-size", {"--files-from", "--verify", "--json", "--skip-existing", "--page",
                                  "--channel", "--indexed"});
    for (const SidecarInfo& info : kSidecars) line_.exclude("--tile-size", {info.option});
    for (const ResultInfo& info : kResults) {
      const Result result = info.result;
      if (result == Result::kLabels || result == Result::kContours || result == Result::kTree) {
        continue;
      }
      line_.exclude("--tile-size", {info.option});
    }
  }

  bool given(const std::string& name) const { return line_.given(name); }

  /// Fails where one of some options is given, which "{}" in the message stands for.
  void refuse(bool when, const std::vector<std::string>& names, std::string_view message) const {
    for (const std::string& name : names) {
      if (when && given(name)) line_.fail(fmt::format(fmt::runtime(message), name));
    }
  }

  /// "90" or "0.5" as seconds.
  double seconds_of(const std::string& text) const {
    constexpr double kMost = 1e8;  // Three years.
    const auto seconds = number_in<double>(text, 0.001, kMost);
    if (!seconds) {
      line_.fail(fmt::format("--time-limit: '{}' is not a time; expected seconds, 0.001 to {:.0f}",
                             text, kMost));
    }
    return *seconds;
  }

  void set_parameters() {
    if (!config_.empty()) options_.parameters = load_parameters(config_);
    for (const std::string& assignment : assignments_) {
      set_from_assignment(options_.parameters, assignment);
    }
    for (const auto& [entry, text] : values_) {
      if (!text) continue;
      set_from_option(options_.parameters, entry->text.option.flag, entry->key(), *text);
    }
    if (untrusted_) options_.parameters.image.untrusted = true;
    if (damaged_) options_.parameters.image.damaged = true;
    refuse(options_.parameters.image.untrusted, {"--bands", "--tile-size"},
           "{} applies to scenes, which are not read with --untrusted: leave out one of them");
    validate(options_.parameters);
  }

  /// What is asked for. Seeds choose the random walker, unless --method names another way.
  Methods asked() {
    RegionMethod& method = options_.parameters.region.method;
    const bool seeds = given("--seeds");
    if (seeds && !given("--method")) method = RegionMethod::kWalker;
    if (method == RegionMethod::kHierarchy) return seeds ? kForSeededCuts : kForCuts;
    if (method == RegionMethod::kObjects) return kForObjects;
    if (method == RegionMethod::kKway) return kForDirectCuts;
    if (!seeds) line_.fail("--method walker needs seeds: add --seeds");
    return kForGrowth;
  }

  /// Refuses options that are for other methods than the one that is asked.
  void check_methods(Methods asked) const {
    const auto names = [](Methods methods) {
      std::vector<std::string_view> some;
      for (const MethodInfo& info : kMethods) {
        const bool is_said = info.method == kForSeededCuts && (methods & kForCuts) != 0;
        if ((methods & info.method) != 0 && !is_said) some.emplace_back(info.name);
      }
      return fmt::format("{}", fmt::join(some, " or "));
    };
    const auto check = [&](const std::string& option, Methods methods) {
      if ((methods & asked) != 0 || !given(option)) return;
      line_.fail(fmt::format("{} is not for {}: leave it out, or ask for {}", option, names(asked),
                             names(methods)));
    };
    for (const ResultInfo& info : kResults) check(info.option, info.methods);
    for (const SidecarInfo& info : kSidecars) check(info.option, info.methods);
    for (const auto& [entry, text] : values_) {
      check(entry->text.option.flag, entry->text.option.methods);
    }
  }

  /// Refuses options that have no effect because of what others are set to.
  void check_values(Methods asked) const {
    const Parameters& parameters = options_.parameters;
    refuse(options_.all_pages, {"--seeds", "--features"},
           "{} belong to one page: leave out --page all");
    refuse(given("--features") && !parameters.affinity.with_boundary,
           {"--boundary-map", "--boundary", "--weights"},
           "--features take the place of all boundary maps: leave out {}, or multiply both "
           "affinities (--set affinity.with_boundary=true)");
    refuse(parameters.region.regions != 0, {"--threshold", "--max-ncut"},
           fmt::format("{{}} has no effect with a number of regions ({}): leave out one of them",
                       parameters.region.regions));
    refuse(parameters.region.regions == 0, {"--compactness"},
           "{} evens a number of regions: add --regions");
    refuse(options_.tiles.wanted(), {"--simplify"},
           "{} needs all outlines in memory: with --tile-size write labels (-o labels.tif), then "
           "segment annotate labels.tif --image SCENE -o FILE.gpkg --simplify PIXELS");
    refuse(options_.tiles.wanted(), {"--tree"},
           "{} is of a picture that fits into memory: leave out --tile-size and name a --detail "
           "that fits, or try thresholds with --tile-size on a part (gdal_translate -srcwin)");
    refuse(options_.tiles.wanted(), {"--shard"},
           "{} applies to many images: with --tile-size, segment tile has one of its own");
    refuse(parameters.boundary.kind != BoundaryKind::kLearned, {"--weights"},
           "{} names the network: it needs --boundary learned");
    const bool uses_vectors = (asked & kForHierarchies) == 0 || given("--features") ||
                              parameters.contour.spectral == SpectralUse::kFull ||
                              options_.results.has(Result::kEigenvectors) ||
                              given("--print-config");
    refuse(
        !uses_vectors, {"--vectors", "--tolerance", "--solver", "--matvec"},
        "{} applies to eigenvectors of the image's own grid, which nothing in this run uses: leave "
        "it out, or add --spectral full, which uses them in the contours, or --eigenvectors");
  }

  Options options_;
  std::string config_;
  std::string page_;
  std::string bands_;
  std::string time_limit_;
  std::vector<std::string> assignments_;
  std::vector<ParameterArgument> values_ = parameter_options();
  bool untrusted_ = false;
  bool damaged_ = false;
};

}  // namespace

int page_number(const CommandLine& line, const std::string& text) {
  if (text.ends_with(".html") || text.ends_with(".htm")) {
    line.fail(fmt::format(
        "--page chooses a page of the file that is read; a page for a browser is --html {}", text));
  }
  const auto number = number_in<int>(text, 1);
  if (number) return *number;
  line.fail(fmt::format("--page: '{}' is not a page; expected a number from 1, or all", text));
}

void declare_links(CommandLine& line, LinkOptions& links) {
  line.flag("--link", links.wanted, kOptionsInputOutput,
            "With --page all: regions of consecutive pages that overlap are one thing, with one "
            "number; notes say which split and merge");
  line.option("--link-overlap", links.least, "SHARE", kOptionsInputOutput,
              "With --link: the least overlap, intersection over union (default 0.25)");
  line.need("--link", {"--link-overlap"});
}

void set_links(const CommandLine& line, Options& options) {
  LinkOptions& links = options.links;
  if (!links.wanted) return;
  if (!options.all_pages) line.fail("--link links the pages of a file: add --page all");
  links.overlap = 0.25;
  if (links.least.empty()) return;
  links.overlap = number_in<double>(links.least, std::numeric_limits<double>::min(), 1);
  if (links.overlap) return;
  line.fail(fmt::format("--link-overlap is '{}', expected a share above 0, up to 1", links.least));
}

void set_from_option(Parameters& parameters, std::string_view flag, const std::string& key,
                     const std::string& value) {
  try {
    set_parameter(parameters, key, value);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", flag, error.what()));
  }
}

std::unique_ptr<Command> make_segment(const std::string& /*name*/) {
  return std::make_unique<SegmentCommand>();
}

}  // namespace diacut::app
