#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "annotate.hpp"
#include "core/extension.hpp"
#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "diacut/output.hpp"
#include "diacut/page.hpp"
#include "map/region_format.hpp"
#include "output/format.hpp"
#include "page/page_part.hpp"
#include "paths.hpp"
#include "text.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEigenvectorsFile = "eigenvectors.npy";

/// Throws InputError if files cannot be made in a folder.
void check_takes_files(const std::string& folder) {
  check_writable((fs::path(folder) / kEigenvectorsFile).string());
}

void prepare_folder(const char* option, const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw InputError(
        fmt::format("{}: cannot create the folder '{}': {}", option, folder, failed.message()));
  }
  check_takes_files(folder);
}

/// Makes the folders of a file. Throws InputError if it cannot be written there.
void prepare_file(const std::string& file) {
  make_folder_of(file);
  check_writable(file);
}

/// Throws ConfigError if a result cannot be written to a file of this name.
void check_name(Result result, const std::string& place, const LabelStyle& labels) {
  switch (result) {
    case Result::kLabels:
      return check_labels_name(place, labels);
    case Result::kOverlay:
    case Result::kFlat:
      picture_format(place);
      return;
    case Result::kCutout:
      return check_extension(place, "cut-outs", ".png");
    case Result::kUltrametric:
    case Result::kContours:
      return check_strength_name(place);
    case Result::kPage:
      return check_page_name(place);
    case Result::kRegionGraph:
      graph_format(place);
      return;
    default:
      const ResultInfo& info = info_of(result);
      return check_extension(place, fmt::format("results of {}", info.option).c_str(),
                             info.extensions);
  }
}

/// Throws InputError or ConfigError if a single image's result cannot be written to its place.
void prepare_single(const ResultInfo& info, const std::string& place, const Options& options) {
  if (info.result == Result::kEigenvectors) {
    check_folder_name(info.option, place);
    const fs::path folder(place);
    is_folder(place)
        ? check_takes_files(place)
        : prepare_file((folder.has_filename() ? folder : folder.parent_path()).string());
    return;
  }
  check_name(info.result, place, options.labels);
  prepare_file(place);
}

bool is_part_chosen(const Options& options) {
  return options.part.page != 0 || !options.part.channel.empty();
}

/// Whether an input is a scene. GDAL, which reads them, opens more files than it is given: no file
/// of a stranger is shown to it.
bool is_scene_for(const Options& options, const std::string& input) {
  return !options.parameters.image.untrusted && is_map(input);
}

/// Whether an input is read as a scene, with its coordinates.
bool reads_as_map(const Options& options, const std::string& input) {
  return !options.bands.empty() || (!is_part_chosen(options) && is_scene_for(options, input));
}

/// Where labels go when no result is asked for: beside the input.
std::string default_labels(const Options& options) {
  const std::string& input = options.inputs.front();
  if (is_input_folder(input)) return with_suffix(whole_path(input), "-labels").string();
  const char* extension =
      options.all_pages ? ".tif" : labels_extension(options.labels, reads_as_map(options, input));
  const fs::path stem = with_suffix(fs::path(input).replace_extension(), "-labels");
  return with_suffix(stem, extension).string();
}

/// The place of the labels: of a batch a folder, of a single image or of all pages of one a file;
/// empty when labels are not wanted.
std::string labels_place(const Options& options) {
  if (options.results.any() || !options.json.empty()) return options.results[Result::kLabels];
  const auto fail = [](const char* what) {
    return ConfigError(fmt::format("{}: name a file for the labels with -o", what));
  };
  if (options.inputs.empty()) throw fail("a list of images");
  const std::string& last = options.inputs.back();
  if (options.inputs.size() == 2 && last != "-" && !exists(last) && has_image_extension(last)) {
    throw ConfigError(fmt::format("there is no '{0}': if it is to be made, write -o {0}", last));
  }
  if (options.inputs.size() > 1) throw fail("several inputs");
  if (options.inputs.front() == "-") throw fail("standard input");
  const std::string& input = options.inputs.front();
  if (!exists(input) && is_scene_for(options, input)) throw fail("no plain file");
  return default_labels(options);
}

void check_streams(const Options& options, bool batch) {
  if (std::count(options.inputs.begin(), options.inputs.end(), "-") > 1) {
    throw ConfigError("standard input (-) is named twice");
  }
  if (!options.bands.empty() && std::count(options.inputs.begin(), options.inputs.end(), "-") > 0) {
    throw ConfigError("--bands: a scene is read from a file, not from standard input (-)");
  }
  const std::string& labels = options.results[Result::kLabels];
  for (const auto& [info, place] : named(options.results)) {
    if (info.result == Result::kLabels || place != "-") continue;
    throw ConfigError(fmt::format(
        "{}: only labels (-o) and the report (--json) can go to standard output (-)", info.option));
  }
  if (labels == "-" && options.json == "-") {
    throw ConfigError("-o - and --json - would both write to standard output; give one a file");
  }
  if (batch && labels == "-") {
    throw ConfigError("-o -: standard output holds the labels of one image; several need a folder");
  }
}

Sidecars companions_of(const Sidecars& roots, const fs::path& name, bool batch) {
  Sidecars sidecars = roots;
  for (const SidecarInfo& info : kSidecars) {
    const std::string& root = roots[info.sidecar];
    if (root.empty() || (!batch && !is_folder(root))) continue;
    sidecars[info.sidecar] = mirrored_file(info.option, extensions_in(info.extensions), root, name);
  }
  // A picture of several without marks keeps the labels that are corrected.
  std::string& seeds = sidecars[Sidecar::kSeeds];
  if (roots.has(Sidecar::kCorrected) && seeds != roots[Sidecar::kSeeds] && !exists(seeds)) {
    seeds.clear();
  }
  return sidecars;
}

/// The file of an image's result in a folder of results. `labels`: the extension of labels.
std::string file_in(const std::string& folder, const FoundImage& image, const ResultInfo& info,
                    const char* labels) {
  const std::string_view all = info.extensions;
  const std::string extension(info.result == Result::kLabels ? labels
                                                             : all.substr(0, all.find(' ')));
  return (fs::path(folder) / with_suffix(image.name, extension.c_str())).string();
}

/// The job of a single image, whose results are named files or go into named folders.
Job single(const Job& roots, const FoundImage& image, const char* labels) {
  Job job{image.input, roots.results, companions_of(roots.sidecars, image.name, false)};
  for (const auto& [info, place] : named(roots.results)) {
    const bool folder = is_folder(place) || place.back() == '/';
    if (info.result == Result::kEigenvectors || !folder) continue;
    job.results[info.result] = file_in(place, image, info, labels);
  }
  return job;
}

/// Throws ConfigError for an input of --page all that can be read once only.
void check_read_again(const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code unknown;
    if (input != "-" && (!exists(input) || is_folder(input) || fs::is_regular_file(input, unknown)))
      continue;
    throw ConfigError(fmt::format(
        "--page all: {} can be read only once, and pages are read one by one; name a file",
        quoted_input_name(input)));
  }
}

/// Adds the jobs of an image: one, or with --page all one for each page.
void add_jobs(const Options& options, const FoundImage& image, Plan& plan) {
  const std::string extension = fs::path(image.input).extension().string();
  const bool map = reads_as_map(options, image.input);
  const bool as_picture = is_part_chosen(options) && is_scene_for(options, image.input);
  const char* labels = labels_extension(options.labels, map);
  // What a scene has as pages are smaller versions of itself.
  const int pages = options.all_pages && !map
                        ? pages_to_do(image.input, options.parameters.image, options.part.channel)
                        : 1;
  if (options.links.wanted && pages > 1 && options.part.channel.empty()) {
    const PictureFacts facts = ImageFile(image.input).facts(options.parameters.image);
    if (facts.channel > 0) {
      plan.failures.push_back(
          {ExitCode::kInputOutput,
           fmt::format("{}: its {} pages are planes of {} channels, which --link would tie to one "
                       "another: name one with --channel (1 to {})",
                       quoted_input_name(image.input), pages, facts.channels.size(),
                       facts.channels.size())});
      return;
    }
  }
  for (int page = 1; page <= pages; ++page) {
    FoundImage named = image;
    if (pages > 1) named.name = page_name(image.name, page, pages);
    plan.jobs.push_back(plan.batch ? mirrored(plan.roots, named, labels)
                                   : single(plan.roots, named, labels));
    Job& job = plan.jobs.back();
    job.map = map;
    job.as_picture = as_picture;
    job.bands = options.bands;
    const fs::path file = pages > 1 ? fs::path(named.name.filename().string() + extension)
                                    : fs::path(image.input).filename();
    job.name = (image.name.parent_path() / file).generic_string();
    job.number = static_cast<std::int64_t>(plan.jobs.size());
    job.part = options.part;
    if (pages > 1) job.part.page = page;
    job.pages = pages;
    if (map && !plan.stack.empty()) {
      job.results[Result::kLabels] = plan.stack;
    } else if (pages > 1 || !plan.stack.empty()) {
      give_stack(plan, image.name, job);
    }
  }
}

/// Throws ConfigError when the page of an image would take the place of the pages' index.
void check_index(const Plan& plan) {
  const std::string index = page_index(plan);
  for (const Job& job : plan.jobs) {
    if (index.empty() || fs::path(job.results[Result::kPage]) != fs::path(index)) continue;
    throw ConfigError(fmt::format(
        "--html: '{}' would be the page of {} and the index of all pages; rename the image, or "
        "make its page in a run of its own",
        index, quoted_input_name(job.input)));
  }
}

/// The folders that the results of a batch go to.
std::set<Identity> result_folders(const Job& roots) {
  std::set<Identity> folders;
  for (const std::string& folder : roots.results) {
    if (const auto id = identity(folder); id && is_folder(folder)) folders.insert(*id);
  }
  return folders;
}

/// Throws ConfigError or InputError if a batch's places cannot be folders, or files that it fills.
void check_batch_places(const Job& roots, bool skip_existing) {
  for (const NamedResult& each : named(roots.results)) {
    if (!each.of_run()) {
      check_folder_name(each.info.option, each.place);
    } else if (skip_existing) {
      throw ConfigError(
          fmt::format("{}: one file for all images would lack those that --skip-existing leaves "
                      "out; leave out one of the two",
                      each.info.option));
    }
  }
  for (const SidecarInfo& info : kSidecars) {
    const std::string& place = roots.sidecars[info.sidecar];
    if (place.empty() || is_folder(place)) continue;
    throw ConfigError(fmt::format(
        "{}: '{}' is not a folder; several images need a folder of files with their names",
        info.option, place));
  }
}

/// Throws ConfigError for files of all images, which would lack those of other shares.
void check_shares(const Options& options) {
  if (!options.batch.shard.divides()) return;
  for (const NamedResult& each : named(options.results)) {
    if (!each.of_run()) continue;
    throw ConfigError(
        fmt::format("{}: one file for all images would hold those of one share only; leave it out "
                    "of runs with --shard",
                    each.info.option));
  }
}

bool is_batch(const Options& options) {
  return !options.batch.list.empty() || options.batch.shard.divides() ||
         options.inputs.size() > 1 || is_input_folder(options.inputs.front()) || options.all_pages;
}

/// The images of the run. Throws InputError where there is none; the share of a run may be empty.
FoundImages images_of(const Options& options, const std::set<Identity>& results) {
  const BatchOptions& batch = options.batch;
  FoundImages found =
      batch.list.empty() ? find_images(options.inputs, results, !options.parameters.image.untrusted)
                         : list_images(batch, results, options.all_pages);
  if (batch.list.empty()) take_share(found, batch.shard, options.all_pages);
  if (!found.images.empty() || !found.failures.empty() || found.others > 0) return found;
  if (!batch.list.empty()) {
    throw InputError(
        fmt::format("no image: all {} that the list '{}' names are in folders that results go to",
                    counted(static_cast<std::int64_t>(found.ignored), "file"), batch.list));
  }
  throw InputError(fmt::format(
      "no image found in {}: looked for files with an image's extension (.jpg, .png, .heic, .tif "
      "and others), hidden ones left out",
      options.inputs.size() > 1 ? "these folders" : quoted_input_name(options.inputs.front())));
}

}  // namespace

std::string take_stack(bool is_one_file, Job& roots) {
  std::string& labels = roots.results[Result::kLabels];
  if (!is_one_file || labels.empty() || is_folder(labels)) return {};
  if (labels.back() == '/' || !fs::path(labels).has_extension()) return {};
  if (label_format(labels) != LabelFormat::kTiff) {
    throw ConfigError(fmt::format(
        "-o: '{}' cannot hold the labels of all pages; name a .tif file, or a folder", labels));
  }
  return std::exchange(labels, {});
}

int pages_to_do(const std::string& input, const ImageParameters& parameters,
                const std::string& channel) {
  try {
    return count_pages(input, parameters, channel);
  } catch (const InputError&) {
    return 1;
  }
}

fs::path page_name(const fs::path& name, int page, int pages) {
  const std::size_t digits = std::to_string(pages).size();
  return with_suffix(name, fmt::format("-{:0{}}", page, digits).c_str());
}

void give_stack(const Plan& plan, const fs::path& name, Job& job) {
  if (!plan.stack.empty()) {
    job.stack = plan.stack;
  } else if (std::string& labels = job.results[Result::kLabels]; !labels.empty()) {
    job.stack =
        (fs::path(plan.roots.results[Result::kLabels]) / with_suffix(name, ".tif")).string();
    labels.clear();
  }
}

const char* labels_extension(const LabelStyle& style, bool map) {
  return style.cloud_optimised || (map && !style.indexed) ? ".tif" : ".png";
}

std::string mirrored_file(const char* option, const std::vector<std::string>& extensions,
                          const std::string& folder, const fs::path& name) {
  const fs::path base = fs::path(folder) / name;
  std::string found;
  for (const std::string& extension : extensions) {
    const fs::path file = with_suffix(base, extension.c_str());
    if (!exists(file.string())) continue;
    if (!found.empty()) {
      throw ConfigError(fmt::format("{}: '{}' and '{}' would both be of one image", option, found,
                                    file.string()));
    }
    found = file.string();
  }
  return found.empty() ? base.string() : found;
}

Job mirrored(const Job& roots, const FoundImage& image, const char* labels) {
  Job job{image.input, {}, companions_of(roots.sidecars, image.name, true)};
  for (const NamedResult& each : named(roots.results)) {
    if (each.of_run()) continue;
    job.results[each.info.result] = file_in(each.place, image, each.info, labels);
  }
  return job;
}

void check_names(const Options& options, const Plan& plan) {
  std::vector<std::string> inputs;
  for (const Job& job : plan.jobs) {
    inputs.insert(inputs.end(), {job.input, job.made});
    inputs.insert(inputs.end(), job.sidecars.begin(), job.sidecars.end());
  }
  ResultNames names(inputs);
  for (const Job& job : plan.jobs) {
    if (job.part.page <= 1) names.add("-o", job.stack, job.input);
    for (const auto& [info, place] : named(job.results)) names.add(info.option, place, job.input);
  }
  for (const NamedResult& each : named(plan.roots.results)) {
    if (plan.batch && each.of_run()) names.add(each.info.option, each.place, "");
  }
  names.add("--table", objects_place(options), "");
  names.add("--json", options.json, "");
  std::vector<std::string> files;
  for (const Job& job : plan.jobs) files.push_back(job.name);
  check_class_files(options.annotations, files);
}

Plan make_plan(const Options& options) {
  Plan plan;
  plan.batch = is_batch(options);
  check_streams(options, plan.batch);
  plan.roots.results = options.results;
  plan.roots.results[Result::kLabels] = labels_place(options);
  plan.roots.sidecars = options.sidecars;
  if (plan.roots.results[Result::kLabels].empty()) {
    const char* styled = options.labels.indexed           ? "--indexed"
                         : options.labels.cloud_optimised ? "--cog"
                                                          : nullptr;
    if (styled != nullptr) {
      throw ConfigError(
          fmt::format("{} describes how labels are written: name a file for them with -o", styled));
    }
  }
  check_annotations(options.results, options.annotations, plan.batch);
  if (options.all_pages) {
    check_read_again(options.inputs);
    const bool is_one = options.inputs.size() == 1 && !is_folder(options.inputs.front());
    plan.stack = take_stack(is_one, plan.roots);
  }
  if (plan.batch) check_batch_places(plan.roots, options.batch.skip_existing);
  check_shares(options);
  FoundImages found = images_of(options, result_folders(plan.roots));
  plan.failures = std::move(found.failures);
  plan.ignored = found.ignored;
  plan.jobs.reserve(found.images.size());
  for (const FoundImage& image : found.images) add_jobs(options, image, plan);
  const auto has_marks = [](const Job& job) { return job.sidecars.has(Sidecar::kSeeds); };
  if (plan.batch && options.sidecars.has(Sidecar::kCorrected) &&
      std::none_of(plan.jobs.begin(), plan.jobs.end(), has_marks)) {
    throw ConfigError(
        fmt::format("--seeds: '{}' has marks of none of the {}; marks/a.png are those "
                    "of photos/a.jpg",
                    options.sidecars[Sidecar::kSeeds],
                    counted(static_cast<std::int64_t>(plan.jobs.size()), "image")));
  }
  check_names(options, plan);
  check_index(plan);
  return plan;
}

void set_least_size(const std::vector<Job>& jobs, Options& options) {
  LeastSize& size = options.parameters.region.min_size;
  if (size.unit != LeastSize::Unit::kSquareMetres) return;
  std::optional<LeastSize> least;
  for (const Job& job : jobs) {
    std::optional<MapFrame> frame;
    if (job.map) frame = read_map_frame(job.input);
    const LeastSize pixels =
        size_in_pixels("--min-size", size, quoted_input_name(job.input), frame ? &*frame : nullptr);
    if (least && *least != pixels) {
      throw InputError(
          fmt::format("{}: --min-size is {} of its pixels, and {} of those of the scenes before: "
                      "segment scenes "
                      "of different pixels in runs of their own",
                      quoted_input_name(job.input), pixels.value, least->value));
    }
    least = pixels;
  }
  if (least) size = *least;
}

std::string shown_name(const Job& job) {
  const std::string name = quoted_input_name(job.input);
  return job.pages > 1 ? fmt::format("{}, page {}", name, job.part.page) : name;
}

std::string objects_place(const Options& options) {
  const std::string& table = options.results[Result::kTable];
  if (!options.links.wanted || table.empty()) return {};
  if (is_folder(table) || !diacut::has_extension(table, ".csv")) {
    return (fs::path(table) / "objects.csv").string();
  }
  return with_suffix(fs::path(table).replace_extension(), "-objects.csv").string();
}

std::string page_index(const Plan& plan) {
  const std::string& folder = plan.roots.results[Result::kPage];
  return plan.batch && !folder.empty() ? (fs::path(folder) / "index.html").string() : "";
}

void check_folder_name(const char* option, const std::string& path) {
  if (path.empty() || is_folder(path)) return;
  if (exists(path)) {
    throw InputError(fmt::format("{}: '{}' is a file; a folder is needed", option, path));
  }
  if (names_polygons(path)) {
    throw ConfigError(fmt::format(
        "{}: '{}' would hold the polygons of one scene; several images need a folder, in which "
        "each scene has its labels as a GeoTIFF: name a folder, or segment the scenes one by one",
        option, path));
  }
  const auto names_file = [&path](const ResultInfo& info) {
    return fs::path(path).has_extension() && has_extension(path, extensions_in(info.extensions));
  };
  if (has_image_extension(path) || std::any_of(kResults.begin(), kResults.end(), names_file)) {
    throw ConfigError(fmt::format("{}: '{}' is a file's name; a folder is needed", option, path));
  }
}

void prepare_results(const Options& options, const Plan& plan) {
  if (!options.json.empty()) prepare_file(options.json);
  if (!plan.stack.empty()) prepare_file(plan.stack);
  if (plan.batch) {
    for (const NamedResult& each : named(plan.roots.results)) {
      if (!each.of_run()) {
        prepare_folder(each.info.option, each.place);
        continue;
      }
      if (!is_folder(each.place)) check_name(each.info.result, each.place, options.labels);
      prepare_file(each.place);
    }
    return;
  }
  for (const Job& job : plan.jobs) {
    for (const auto& [info, place] : named(job.results)) prepare_single(info, place, options);
  }
}

bool is_done(const Job& job) {
  const auto has_bytes = [](const std::string& file) {
    std::error_code gone;
    return fs::file_size(file, gone) > 0 && !gone;
  };
  if (!job.stack.empty() && !has_bytes(job.stack)) return false;
  for (const auto& [info, place] : named(job.results)) {
    const bool folder = info.result == Result::kEigenvectors;
    const std::string file = folder ? (fs::path(place) / kEigenvectorsFile).string() : place;
    // No region gives YOLO no line.
    const bool may_be_empty = info.result == Result::kYolo;
    if (file == "-" || !(may_be_empty ? exists(file) : has_bytes(file))) return false;
  }
  return !job.stack.empty() || job.results.any();
}

}  // namespace diacut::app
