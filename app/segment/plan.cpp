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
  const bool others = !options.overlay.empty() || !options.eigenvectors.empty() ||
                      !options.tree.empty() || !options.ultrametric.empty() ||
                      !options.contours.empty() || !options.json.empty();
  if (!options.output.empty() || others) return options.output;
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
  for (const auto& [option, place] : {std::pair("--overlay", options.overlay),
                                      {"--eigenvectors", options.eigenvectors},
                                      {"--tree", options.tree},
                                      {"--ultrametric", options.ultrametric},
                                      {"--contours", options.contours}}) {
    if (place != "-") continue;
    throw ConfigError(fmt::format(
        "{}: only labels (-o) and the report (--json) can go to standard output (-)", option));
  }
  if (options.output == "-" && options.json == "-") {
    throw ConfigError("-o - and --json - would both write to standard output; give one a file");
  }
  if (batch && options.output == "-") {
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
  for (const std::string& folder : {plan.roots.labels, plan.roots.overlay, plan.roots.eigenvectors,
                                    plan.roots.tree, plan.roots.ultrametric, plan.roots.contours}) {
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
  const auto in = [&](const std::string& root, const char* extension) {
    if (root.empty()) return root;
    return (fs::path(root) / with_suffix(image.name, extension)).string();
  };
  return {image.input,
          in(roots.labels, ".png"),
          in(roots.overlay, ".png"),
          in(roots.eigenvectors, ""),
          in(roots.tree, ".tree"),
          in(roots.ultrametric, ".png"),
          in(roots.contours, ".png"),
          mirrored_edges(roots.edges, image.name)};
}

/// The results of a single image: as named, or in the folder that was named.
Job single(const Job& roots, const Found& image) {
  const auto file = [&](const std::string& root, const char* extension) {
    return is_folder(root) ? (fs::path(root) / with_suffix(image.name, extension)).string() : root;
  };
  const bool folder = is_folder(roots.edges);
  return {image.input,
          file(roots.labels, ".png"),
          file(roots.overlay, ".png"),
          roots.eigenvectors,
          file(roots.tree, ".tree"),
          file(roots.ultrametric, ".png"),
          file(roots.contours, ".png"),
          folder ? mirrored_edges(roots.edges, image.name) : roots.edges};
}

void check_names(const Options& options, const Plan& plan) {
  ResultNames names(plan);
  for (const Job& job : plan.jobs) {
    names.add("-o", job.labels, job.input);
    names.add("--overlay", job.overlay, job.input);
    names.add("--eigenvectors", job.eigenvectors, job.input);
    names.add("--tree", job.tree, job.input);
    names.add("--ultrametric", job.ultrametric, job.input);
    names.add("--contours", job.contours, job.input);
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

}  // namespace

std::string display_name(const std::string& path) {
  return path == "-" ? "standard input" : fmt::format("'{}'", path);
}

Plan make_plan(const Options& options) {
  Plan plan;
  plan.batch = options.inputs.size() > 1 || is_folder(options.inputs.front());
  check_streams(options, plan.batch);
  plan.roots.labels = labels_place(options, plan.batch);
  plan.roots.overlay = options.overlay;
  plan.roots.eigenvectors = options.eigenvectors;
  plan.roots.tree = options.tree;
  plan.roots.ultrametric = options.ultrametric;
  plan.roots.contours = options.contours;
  plan.roots.edges = options.edges;
  if (options.indexed && plan.roots.labels.empty()) {
    throw ConfigError("--indexed says how labels are written; say with -o where");
  }
  if (plan.batch) {
    check_folder_name("-o", plan.roots.labels);
    check_folder_name("--overlay", plan.roots.overlay);
    check_folder_name("--eigenvectors", plan.roots.eigenvectors);
    check_folder_name("--tree", plan.roots.tree);
    check_folder_name("--ultrametric", plan.roots.ultrametric);
    check_folder_name("--contours", plan.roots.contours);
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
    prepare_folder("-o", plan.roots.labels);
    prepare_folder("--overlay", plan.roots.overlay);
    prepare_folder("--eigenvectors", plan.roots.eigenvectors);
    prepare_folder("--tree", plan.roots.tree);
    prepare_folder("--ultrametric", plan.roots.ultrametric);
    prepare_folder("--contours", plan.roots.contours);
    return;
  }
  for (const Job& job : plan.jobs) {
    if (!job.labels.empty()) {
      check_file("-o", job.labels);
      label_format(job.labels, options.indexed);
    }
    if (!job.overlay.empty()) {
      check_file("--overlay", job.overlay);
      picture_format(job.overlay);
    }
    if (!job.tree.empty()) check_file("--tree", job.tree);
    if (!job.ultrametric.empty()) {
      check_file("--ultrametric", job.ultrametric);
      ultrametric_format(job.ultrametric);
    }
    if (!job.contours.empty()) {
      check_file("--contours", job.contours);
      ultrametric_format(job.contours);
    }
    if (job.eigenvectors.empty()) continue;
    check_folder_name("--eigenvectors", job.eigenvectors);
    if (is_folder(job.eigenvectors)) {
      check_takes_files(job.eigenvectors);
    } else {
      const fs::path folder(job.eigenvectors);
      check_writable((folder.has_filename() ? folder : folder.parent_path()).string());
    }
  }
}

bool is_done(const Job& job) {
  const std::string vectors =
      job.eigenvectors.empty() ? "" : (fs::path(job.eigenvectors) / kEigenvectorsFile).string();
  bool any = false;
  for (const std::string& file :
       {job.labels, job.overlay, vectors, job.tree, job.ultrametric, job.contours}) {
    if (file.empty()) continue;
    if (file == "-" || !exists(file)) return false;
    any = true;
  }
  return any;
}

}  // namespace diacut::app
