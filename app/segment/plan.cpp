#include "plan.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEigenvectorsFile = "eigenvectors.npy";
constexpr std::array kEdgesExtensions = {".png", ".tif", ".tiff", ".npy"};

/// An image and the name of its results: a path without extension, relative to an output folder.
struct Found {
  std::string input;
  fs::path name;
};

/// Device and inode: what a file is, whatever it is called.
using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity(const fs::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity(status.st_dev, status.st_ino);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool has_image_extension(const fs::path& path) {
  static constexpr std::array kExtensions = {".jpg", ".jpeg", ".jpe",  ".png", ".bmp",
                                             ".dib", ".webp", ".tiff", ".tif"};
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

/// What a folder's results are called: the last part of its path, also for ".", ".." and "a/".
fs::path folder_name(const fs::path& folder) {
  std::error_code failed;
  const fs::path whole = fs::canonical(folder, failed);
  return failed ? folder.filename() : whole.filename();
}

/// Walks one input folder, in the order of names.
class FolderWalk {
 public:
  /// `results` are folders not to enter: this run, or the one before, writes them.
  FolderWalk(Plan& plan, std::vector<Found>& found, const std::set<Identity>& results)
      : plan_(plan), found_(found), results_(results) {}

  void walk(const fs::path& folder, const fs::path& name) {
    std::vector<fs::directory_entry> entries;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end;
         it.increment(failed)) {
      entries.push_back(*it);
    }
    if (failed) {
      plan_.failures.push_back(
          {ExitCode::kInputOutput,
           fmt::format("the folder '{}' cannot be read: {}", folder.string(), failed.message())});
      return;
    }
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) visit(entry, name);
  }

 private:
  void visit(const fs::directory_entry& entry, const fs::path& name) {
    const fs::path file = entry.path().filename();
    std::error_code unknown;
    const bool hidden = file.string().front() == '.';
    const bool link = entry.is_symlink(unknown);
    if (!hidden && entry.is_directory(unknown)) {
      if (link) {
        ++plan_.ignored;
      } else if (const auto id = identity(entry.path()); !id || results_.count(*id) == 0) {
        walk(entry.path(), name / file);
      }
      return;
    }
    // A pipe would be waited for, however it is called. A broken link is told of as a failed file.
    const bool readable = entry.is_regular_file(unknown) || (link && !entry.exists(unknown));
    if (hidden || !readable || !has_image_extension(file)) {
      ++plan_.ignored;
      return;
    }
    found_.push_back({entry.path().string(), name / file});
  }

  Plan& plan_;
  std::vector<Found>& found_;
  const std::set<Identity>& results_;
};

/// Takes the extension off each name, but for those that would then be equal.
void strip_extensions(std::vector<Found>& found) {
  std::map<fs::path, int> uses;
  for (const Found& one : found) ++uses[fs::path(one.name).replace_extension()];
  for (Found& one : found) {
    const fs::path stem = fs::path(one.name).replace_extension();
    if (uses[stem] == 1) one.name = stem;
  }
}

/// `name` with `extension` after it; replace_extension() would take a part of "a.b" away.
fs::path with_suffix(fs::path name, const char* extension) {
  name += extension;
  return name;
}

/// The files named by one option for every job: none may be another result or an input.
class ResultNames {
 public:
  explicit ResultNames(const Plan& plan) {
    for (const Job& job : plan.jobs) {
      for (const std::string& read : {job.input, job.edges}) {
        if (const auto id = identity(read)) inputs_.emplace(*id, read);
      }
    }
  }

  void add(const std::string& option, const std::string& result, const std::string& input) {
    if (result.empty() || result == "-") return;
    if (const auto id = identity(result)) {
      if (const auto found = inputs_.find(*id); found != inputs_.end()) {
        throw ConfigError(fmt::format(
            "{}: '{}' is to be read ({}): it would be overwritten; choose another place", option,
            result, display_name(found->second)));
      }
    }
    // Devices and pipes hold no result to overwrite.
    std::error_code unknown;
    if (exists(result) && !fs::is_regular_file(result, unknown) && !is_folder(result)) return;
    const std::string key = fs::absolute(result).lexically_normal().string();
    const auto [other, is_new] = names_.emplace(key, std::pair(option, input));
    if (is_new) return;
    const auto& [other_option, other_input] = other->second;
    if (other_option != option) {
      throw ConfigError(fmt::format("{} and {} would both write '{}'; choose different places",
                                    other_option, option, result));
    }
    throw ConfigError(
        fmt::format("{}: {} and {} would both give '{}'; segment them in separate runs", option,
                    display_name(other_input), display_name(input), result));
  }

 private:
  std::map<Identity, std::string> inputs_;
  std::map<std::string, std::pair<std::string, std::string>> names_;
};

/// Where labels go when no result was asked for: beside the input.
std::string default_labels(const std::string& input, bool batch) {
  if (!batch) return with_suffix(fs::path(input).replace_extension(), "-labels.png").string();
  std::error_code failed;
  const fs::path whole = fs::canonical(input, failed);  // Without a "/", "." or ".." at its end.
  return with_suffix(failed ? fs::path(input) : whole, "-labels").string();
}

/// The folder of a batch's labels, or the file of a single image's; empty when they are not wanted.
std::string labels_place(const Options& options, bool batch) {
  const bool any = std::any_of(options.results.begin(), options.results.end(),
                               [](const std::string& place) { return !place.empty(); });
  if (any || !options.json.empty()) return options.results[Result::kLabels];
  const auto fail = [](const char* what) {
    return ConfigError(fmt::format("{}: say with -o where the labels go", what));
  };
  if (options.inputs.size() > 1) throw fail("several inputs");
  if (options.inputs.front() == "-") throw fail("standard input");
  return default_labels(options.inputs.front(), batch);
}

void check_streams(const Options& options, bool batch) {
  if (std::count(options.inputs.begin(), options.inputs.end(), "-") > 1) {
    throw ConfigError("standard input (-) is named twice");
  }
  const std::string& labels = options.results[Result::kLabels];
  for (const ResultInfo& info : kResults) {
    if (info.result == Result::kLabels || options.results[info.result] != "-") continue;
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

/// Finds fault with "segment a.jpg b.jpg -o labels.png".
void check_folder_name(const char* option, const std::string& path) {
  if (path.empty() || is_folder(path)) return;
  if (exists(path)) {
    throw InputError(fmt::format("{}: '{}' is a file; a folder is needed", option, path));
  }
  if (has_image_extension(path)) {
    throw ConfigError(fmt::format("{}: '{}' is a file's name; a folder is needed", option, path));
  }
}

std::vector<Found> find_images(const Options& options, Plan& plan) {
  std::set<Identity> results;
  for (const std::string& folder : plan.roots.results) {
    if (const auto id = identity(folder); id && is_folder(folder)) results.insert(*id);
  }
  const bool several = options.inputs.size() > 1;
  std::vector<Found> found;
  FolderWalk folders(plan, found, results);
  std::set<std::string> seen;
  for (const std::string& input : options.inputs) {
    if (input == "-") {
      found.push_back({input, "stdin"});
      continue;
    }
    fs::path whole = fs::absolute(input).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    if (!seen.insert(whole.string()).second) continue;
    if (!is_folder(input)) {
      found.push_back({input, whole.filename()});
      continue;
    }
    if (const auto id = identity(input); id && results.count(*id) != 0) {
      throw ConfigError(fmt::format(
          "the folder '{}' is both input and output; results need a folder of their own", input));
    }
    folders.walk(input, several ? folder_name(input) : fs::path());
  }
  strip_extensions(found);
  return found;
}

/// The edge map in a folder that mirrors the images'; see Job.
std::string mirrored_edges(const std::string& root, const fs::path& name) {
  if (root.empty()) return root;
  const fs::path base = fs::path(root) / name;
  std::string found;
  for (const char* extension : kEdgesExtensions) {
    const fs::path file = with_suffix(base, extension);
    if (!exists(file.string())) continue;
    if (!found.empty()) {
      throw ConfigError(fmt::format("--edges: '{}' and '{}' would both be the map of one image",
                                    found, file.string()));
    }
    found = file.string();
  }
  return found.empty() ? base.string() : found;
}

/// The results of an image of a batch, in the places' folders.
Job mirrored(const Job& roots, const Found& image) {
  Job job{image.input, {}, mirrored_edges(roots.edges, image.name)};
  for (const ResultInfo& info : kResults) {
    const std::string& root = roots.results[info.result];
    if (root.empty()) continue;
    job.results[info.result] = (fs::path(root) / with_suffix(image.name, info.extension)).string();
  }
  return job;
}

/// The results of a single image: as named, or in the folder that was named.
Job single(const Job& roots, const Found& image) {
  const bool folder = is_folder(roots.edges);
  Job job{image.input, roots.results,
          folder ? mirrored_edges(roots.edges, image.name) : roots.edges};
  for (const ResultInfo& info : kResults) {
    std::string& place = job.results[info.result];
    if (info.result == Result::kEigenvectors || !is_folder(place)) continue;
    place = (fs::path(place) / with_suffix(image.name, info.extension)).string();
  }
  return job;
}

void check_names(const Options& options, const Plan& plan) {
  ResultNames names(plan);
  for (const Job& job : plan.jobs) {
    for (const ResultInfo& info : kResults) {
      names.add(info.option, job.results[info.result], job.input);
    }
  }
  names.add("--json", options.json, "");
}

/// Sees that files can be made in a folder.
void check_takes_files(const std::string& folder) {
  check_writable((fs::path(folder) / kEigenvectorsFile).string());
}

void prepare_folder(const char* option, const std::string& folder) {
  if (folder.empty()) return;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw InputError(
        fmt::format("{}: the folder '{}' cannot be made: {}", option, folder, failed.message()));
  }
  check_takes_files(folder);
}

void check_file(const char* option, const std::string& file) {
  if (file.back() == '/') {
    throw InputError(
        fmt::format("{}: the folder '{}' does not exist; create it first", option, file));
  }
  check_writable(file);
}

/// Sees that one image's result can be written to its place.
void prepare_single(const ResultInfo& info, const std::string& place, const Options& options) {
  if (info.result == Result::kEigenvectors) {
    check_folder_name(info.option, place);
    if (is_folder(place)) {
      check_takes_files(place);
    } else {
      const fs::path folder(place);
      check_writable((folder.has_filename() ? folder : folder.parent_path()).string());
    }
    return;
  }
  check_file(info.option, place);
  switch (info.result) {
    case Result::kLabels:
      label_format(place, options.indexed);
      break;
    case Result::kOverlay:
      picture_format(place);
      break;
    case Result::kUltrametric:
    case Result::kContours:
      ultrametric_format(place);
      break;
    case Result::kTree:
    case Result::kEigenvectors:
      break;
  }
}

}  // namespace

std::string display_name(const std::string& path) {
  return path == "-" ? "standard input" : fmt::format("'{}'", path);
}

Plan make_plan(const Options& options) {
  Plan plan;
  plan.batch = options.inputs.size() > 1 || is_folder(options.inputs.front());
  check_streams(options, plan.batch);
  plan.roots.results = options.results;
  plan.roots.results[Result::kLabels] = labels_place(options, plan.batch);
  plan.roots.edges = options.edges;
  if (options.indexed && plan.roots.results[Result::kLabels].empty()) {
    throw ConfigError("--indexed says how labels are written; say with -o where");
  }
  if (plan.batch) {
    for (const ResultInfo& info : kResults) {
      check_folder_name(info.option, plan.roots.results[info.result]);
    }
  }
  if (plan.batch && !options.edges.empty() && !is_folder(options.edges)) {
    throw ConfigError(
        fmt::format("--edges: '{}' is no folder; several images need a folder of maps, named as "
                    "they are",
                    options.edges));
  }
  const std::vector<Found> found = find_images(options, plan);
  if (found.empty() && plan.failures.empty()) {
    throw InputError(fmt::format(
        "no image found in {}: looked for JPEG, PNG, BMP, WebP and TIFF files by extension, hidden "
        "ones left out",
        options.inputs.size() > 1 ? "these folders" : display_name(options.inputs.front())));
  }
  plan.jobs.reserve(found.size());
  for (const Found& one : found) {
    plan.jobs.push_back(plan.batch ? mirrored(plan.roots, one) : single(plan.roots, one));
  }
  check_names(options, plan);
  return plan;
}

void prepare_results(const Options& options, const Plan& plan) {
  if (!options.json.empty()) check_writable(options.json);
  if (plan.batch) {
    for (const ResultInfo& info : kResults) {
      prepare_folder(info.option, plan.roots.results[info.result]);
    }
    return;
  }
  for (const Job& job : plan.jobs) {
    for (const ResultInfo& info : kResults) {
      const std::string& place = job.results[info.result];
      if (!place.empty()) prepare_single(info, place, options);
    }
  }
}

bool is_done(const Job& job) {
  bool any = false;
  for (const ResultInfo& info : kResults) {
    const std::string& place = job.results[info.result];
    if (place.empty()) continue;
    const bool folder = info.result == Result::kEigenvectors;
    const std::string file = folder ? (fs::path(place) / kEigenvectorsFile).string() : place;
    if (file == "-" || !exists(file)) return false;
    any = true;
  }
  return any;
}

}  // namespace diacut::app
