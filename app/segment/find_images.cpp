#include "find_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut::app {

std::string_view without_extension(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t file = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot <= file || name.substr(file) == "..") return name;
  return name.substr(0, dot);
}

void strip_extensions(std::vector<std::string_view>& names) {
  std::unordered_map<std::string_view, std::size_t> count;
  for (const std::string_view name : names) ++count[without_extension(name)];
  for (std::string_view& name : names) {
    if (count[without_extension(name)] == 1) name = without_extension(name);
  }
}

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

namespace fs = std::filesystem;

namespace {

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

  bool is_image(const fs::path& path) const {
    return has_image_extension(path.filename()) || (scenes_ && is_scene(path));
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

}  // namespace diacut::app
