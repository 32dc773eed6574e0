#include "find_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "command_line.hpp"
#include "core/file_bytes.hpp"
#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "image/naming.hpp"

namespace diacut::app {

std::string_view without_extension(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t file = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot <= file || name.substr(file) == "..") return name;
  return name.substr(0, dot);
}

namespace fs = std::filesystem;

namespace {

/// What messages call the image at a place.
using ShownImage = std::function<std::string(std::size_t)>;

/// Takes the extension off each name, unless several names would be equal without it.
void strip_extensions(std::vector<std::string_view>& names) {
  std::unordered_map<std::string_view, std::size_t> count;
  for (const std::string_view name : names) ++count[without_extension(name)];
  for (std::string_view& name : names) {
    if (count[without_extension(name)] == 1) name = without_extension(name);
  }
}

/// Throws ConfigError where two images have one name.
void check_equal_names(const std::vector<std::string_view>& names, const ShownImage& shown) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [first, is_new] = places.emplace(names[i], i);
    if (is_new) continue;
    throw ConfigError(fmt::format(
        "'{}' and '{}' would both give results called '{}'; segment them in separate runs, or keep "
        "the folders of a list apart (--base)",
        shown(first->second), shown(i), names[i]));
  }
}

/// Throws ConfigError where a page of one image might have the name of another image.
void check_page_names(const std::vector<std::string_view>& names, const ShownImage& shown) {
  std::unordered_map<std::string_view, std::size_t> places;
  places.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t last = names[i].find_last_not_of("0123456789");
    if (last == std::string_view::npos || last + 1 == names[i].size()) continue;
    if (names[i][last] != '-') continue;
    const auto file = places.find(names[i].substr(0, last));
    if (file == places.end()) continue;
    throw ConfigError(fmt::format(
        "--page all: a page of '{}' may be called '{}', as '{}' is; segment them in separate runs",
        shown(file->second), names[i], shown(i)));
  }
}

/// Walks one input folder after the other, each in the order of names.
class FolderWalk {
 public:
  /// Adds what it finds to `found`. `results`: folders not to enter.
  FolderWalk(FoundImages& found, const std::set<Identity>& results, bool scenes)
      : found_(found), results_(results), scenes_(scenes) {}

  /// `name`: the folder's part in the names of results.
  void walk(const fs::path& folder, const fs::path& name) {
    std::vector<fs::directory_entry> entries;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end;
         it.increment(failed)) {
      entries.push_back(*it);
    }
    if (failed) {
      found_.failures.push_back(
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
        ++found_.ignored;
      } else if (const auto id = identity(entry.path()); !id || results_.count(*id) == 0) {
        walk(entry.path(), name / file);
      }
      return;
    }
    // Pipes are left out, whatever their names, because reading them waits for a writer. A broken
    // link counts as an image, so that the run reports that it cannot be read.
    const bool readable = entry.is_regular_file(unknown) || (link && !entry.exists(unknown));
    if (hidden || !readable || !is_image(entry.path())) {
      ++found_.ignored;
      return;
    }
    found_.images.push_back({entry.path().string(), name / file});
  }

  /// Whether a file is a picture by its extension, or a scene by one that no picture has and by its
  /// content.
  bool is_image(const fs::path& path) const {
    return has_image_extension(path.filename()) ||
           (scenes_ && has_extension(path, map_extensions()) && is_map(path.string()));
  }

  FoundImages& found_;
  const std::set<Identity>& results_;
  bool scenes_;
};

std::vector<std::string_view> names_of(const FoundImages& found) {
  std::vector<std::string_view> names;
  names.reserve(found.images.size());
  for (const FoundImage& image : found.images) names.emplace_back(image.name.native());
  return names;
}

}  // namespace

FoundImages find_images(const std::vector<std::string>& inputs, const std::set<Identity>& results,
                        bool scenes) {
  FoundImages found;
  FolderWalk folders(found, results, scenes);
  std::set<std::string> seen;
  for (const std::string& input : inputs) {
    if (input == "-") {
      found.images.push_back({input, "stdin"});
      continue;
    }
    fs::path whole = fs::absolute(input).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    if (!seen.insert(whole.string()).second) continue;
    bool folder = false;
    try {
      folder = is_input_folder(input);
    } catch (const InputError& error) {
      found.failures.push_back({ExitCode::kInputOutput, error.what()});
      continue;
    }
    if (!folder) {
      found.images.push_back({input, whole.filename()});
      continue;
    }
    if (const auto id = identity(input); id && results.count(*id) != 0) {
      throw ConfigError(fmt::format(
          "the folder '{}' is both input and output; results need their own folder", input));
    }
    folders.walk(input, inputs.size() > 1 ? whole_path(input).filename() : fs::path());
  }
  std::vector<std::string_view> names = names_of(found);
  strip_extensions(names);
  for (std::size_t i = 0; i < names.size(); ++i) found.images[i].name = fs::path(names[i]);
  return found;
}

void take_share(FoundImages& found, const Shard& shard, bool pages) {
  if (!shard.divides()) return;
  const std::vector<std::string_view> names = names_of(found);
  const auto shown = [&found](std::size_t i) { return found.images[i].input; };
  check_equal_names(names, shown);
  if (pages) check_page_names(names, shown);
  std::vector<FoundImage> own;
  for (std::size_t i = 0; i < found.images.size(); ++i) {
    if (shard.has(i)) own.push_back(std::move(found.images[i]));
  }
  found.others = found.images.size() - own.size();
  found.images = std::move(own);
}

namespace {

/// An absolute path without "." and "..", with a slash at its end.
std::string folder_text(const fs::path& folder) {
  std::string text = fs::absolute(folder).lexically_normal().string();
  if (text.back() != '/') text += '/';
  return text;
}

/// Tells the files that lie in one of several folders, and looks at each folder once.
class FilesIn {
 public:
  explicit FilesIn(const std::set<Identity>& folders) : folders_(folders) {}

  bool has(const fs::path& file) {
    if (folders_.empty()) return false;
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    const auto [known, is_new] = known_.emplace(folder.string(), false);
    if (is_new) known->second = lies_within(folder);
    return known->second;
  }

 private:
  bool lies_within(const fs::path& folder) const {
    std::error_code failed;
    for (fs::path each = fs::weakly_canonical(folder, failed); !failed; each = each.parent_path()) {
      if (const auto id = identity(each); id && folders_.count(*id) != 0) return true;
      if (each == each.root_path() || each.empty()) return false;
    }
    return false;
  }

  const std::set<Identity>& folders_;
  std::map<std::string, bool> known_;
};

/// Throws ConfigError for what no list may name.
void check_listed(std::string_view name) {
  if (name == "-") {
    throw ConfigError("--files-from: a list cannot name standard input (-); name files");
  }
  if (name.find('\0') != std::string_view::npos) {
    throw ConfigError(
        "--files-from: a name holds a null byte: with names that end so the list needs --null");
  }
}

/// Paths without "." and "..": relative to --base, or else to the current folder, if they are below
/// it.
class BasePaths {
 public:
  explicit BasePaths(const std::string& base)
      : folder_(folder_text(".")),
        base_(base.empty() ? folder_ : folder_text(base)),
        based_(!base.empty()) {}

  /// Throws ConfigError for a file that is not below --base.
  std::string of(std::string_view name) const {
    std::string path = (fs::path(folder_) / name).lexically_normal().string();
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    if (path.starts_with(base_)) return path.substr(base_.size());
    if (!based_) return path;
    throw ConfigError(fmt::format("--base: '{}' of the list is not below the folder '{}'", name,
                                  base_.substr(0, base_.size() - 1)));
  }
  /// The part of such a path that the results of the file keep below the folder of results.
  std::string_view kept(std::string_view path) const {
    return based_ ? path : path.substr(path.rfind('/') + 1);
  }

 private:
  std::string folder_;  ///< The current one, absolute, with a slash at its end.
  std::string base_;    ///< As folder_ is.
  bool based_;          ///< Whether --base is given.
};

}  // namespace

FoundImages list_images(const BatchOptions& options, const std::set<Identity>& results,
                        bool pages) {
  const std::string text = naming("--files-from: " + quoted_input_name(options.list),
                                  [&] { return read_text(options.list, "a list of images"); });
  const BasePaths base(options.base);
  std::unordered_set<std::string> known;
  std::vector<std::string_view> given;  // As the list has them.
  std::vector<std::string_view> names;  // Of the results.
  for (std::string_view name : split_text(text, options.null ? '\0' : '\n')) {
    if (!options.null && name.ends_with('\r')) name.remove_suffix(1);
    if (name.empty()) continue;
    check_listed(name);
    const auto [path, is_new] = known.insert(base.of(name));
    if (!is_new) continue;
    given.push_back(name);
    names.push_back(base.kept(*path));
  }
  if (given.empty()) {
    throw InputError(
        fmt::format("no image: the list {} is empty",
                    options.list == "-" ? "on standard input" : fmt::format("'{}'", options.list)));
  }
  strip_extensions(names);
  const auto shown = [&given](std::size_t i) { return std::string(given[i]); };
  check_equal_names(names, shown);
  if (pages && options.shard.divides()) check_page_names(names, shown);
  FoundImages found;
  FilesIn own(results);
  for (std::size_t i = options.shard.index - 1; i < given.size(); i += options.shard.count) {
    FoundImage image{std::string(given[i]), fs::path(names[i])};
    if (own.has(image.input)) {
      ++found.ignored;
    } else {
      found.images.push_back(std::move(image));
    }
  }
  found.others = given.size() - found.images.size() - found.ignored;
  return found;
}

namespace {

constexpr const char* kIndexInSlurm = "SLURM_ARRAY_TASK_ID";
constexpr const char* kIndexInAws = "AWS_BATCH_JOB_ARRAY_INDEX";
constexpr const char* kIndexInKubernetes = "JOB_COMPLETION_INDEX";
constexpr const char* kShards = "DIACUT_SHARDS";

/// The number in a variable that an engine sets for its jobs. Throws ConfigError where there is
/// none.
std::size_t number(const Environment& environment, const char* name) {
  const std::optional<std::string> text = environment(name);
  if (!text) {
    throw ConfigError(fmt::format("--shard auto: the environment variable {} is not set", name));
  }
  if (const auto found = number_in(*text)) return *found;
  throw ConfigError(
      fmt::format("--shard auto: the environment variable {} is '{}', not a number", name, *text));
}

/// The share at `place`, from 0. `index`, `size`: the variables that said so.
Shard checked(std::size_t place, std::size_t count, const char* index, const char* size) {
  if (place < count) return {place + 1, count};
  throw ConfigError(
      fmt::format("--shard auto: {} says that this is job {} of {}, counted from 0, by {}", index,
                  place, count, size));
}

/// The share of a task of a Slurm array, whose numbers may begin anywhere and have a step.
Shard slurm_shard(const Environment& environment) {
  const std::size_t first = number(environment, "SLURM_ARRAY_TASK_MIN");
  const std::size_t last = number(environment, "SLURM_ARRAY_TASK_MAX");
  const std::size_t count = number(environment, "SLURM_ARRAY_TASK_COUNT");
  const std::size_t id = number(environment, kIndexInSlurm);
  const char* step_name = "SLURM_ARRAY_TASK_STEP";
  const std::size_t step = environment(step_name) ? number(environment, step_name) : 1;
  if (step == 0 || id < first || last < first || (id - first) % step != 0 ||
      (last - first) / step + 1 != count) {
    throw ConfigError(
        "--shard auto: the numbers of this Slurm array have gaps, so the share is unknown; submit "
        "it as --array=1-N, or use --shard $SLURM_ARRAY_TASK_ID/N");
  }
  return checked((id - first) / step, count, kIndexInSlurm, "SLURM_ARRAY_TASK_COUNT");
}

Shard kubernetes_shard(const Environment& environment) {
  if (!environment(kShards)) {
    throw ConfigError(fmt::format(
        "--shard auto: Kubernetes gives a pod its index, but not how many there are: set the "
        "environment variable {} to the job's completions",
        kShards));
  }
  return checked(number(environment, kIndexInKubernetes), number(environment, kShards),
                 kIndexInKubernetes, kShards);
}

Shard aws_shard(const Environment& environment) {
  const char* size = "AWS_BATCH_JOB_ARRAY_SIZE";
  return checked(number(environment, kIndexInAws), number(environment, size), kIndexInAws, size);
}

Shard shard_of_job(const Environment& environment) {
  struct Engine {
    const char* variable;  ///< What it sets for the jobs of an array alone.
    Shard (*shard)(const Environment& environment);
  };
  constexpr std::array kEngines = {Engine{kIndexInSlurm, slurm_shard},
                                   Engine{kIndexInAws, aws_shard},
                                   Engine{kIndexInKubernetes, kubernetes_shard}};
  const Engine* found = nullptr;
  for (const Engine& engine : kEngines) {
    if (!environment(engine.variable)) continue;
    if (found != nullptr) {
      throw ConfigError(
          fmt::format("--shard auto: the environment variables {} and {} of two engines are both "
                      "set, so the share is unknown; unset the wrong one, or use --shard I/N",
                      found->variable, engine.variable));
    }
    found = &engine;
  }
  if (found != nullptr) return found->shard(environment);
  throw ConfigError(
      fmt::format("--shard auto: this is not a job of an array: none of the environment variables "
                  "{}, {} and {} is set; use --shard I/N",
                  kIndexInSlurm, kIndexInAws, kIndexInKubernetes));
}

}  // namespace

Shard parse_shard(std::string_view text, const char* program, const char* things,
                  const Environment& environment) {
  if (text.empty()) return {};
  if (text == "auto") return shard_of_job(environment);
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto index = number_in(text.substr(0, slash));
    const auto count = number_in(text.substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count) return {*index, *count};
  }
  fail_usage(program, fmt::format("--shard: '{}' is not a share of the {}; expected I/N with I "
                                  "from 1 to N, such as 3/16, or auto",
                                  text, things));
}

std::string place_of_shard(const std::string& place, const Shard& shard) {
  if (!shard.divides() || place.empty() || place == "-") return place;
  const std::filesystem::path path(place);
  const std::size_t digits = std::to_string(shard.count).size();
  const std::string name = fmt::format("{}-{:0{}}-of-{}{}", path.stem().string(), shard.index,
                                       digits, shard.count, path.extension().string());
  return (path.parent_path() / name).string();
}

}  // namespace diacut::app
