#include "file_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "diacut/errors.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

namespace {

/// An absolute path without "." and "..", with a slash at its end.
std::string folder_text(const fs::path& folder) {
  std::string text = fs::absolute(folder).lexically_normal().string();
  if (text.back() != '/') text += '/';
  return text;
}

std::string read_all(const std::string& list) {
  const std::string shown = list == "-" ? "standard input" : fmt::format("'{}'", list);
  const auto fail = [&shown] {
    return InputError(
        fmt::format("--files-from: {} cannot be read: {}", shown, std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      list == "-" ? stdin : std::fopen(list.c_str(), "rb"),
      [](std::FILE* each) { return each == stdin ? 0 : std::fclose(each); });
  if (!file) throw fail();
  std::string text;
  for (std::size_t done = 0;;) {
    text.resize(std::max<std::size_t>(1U << 16, done + done / 4));
    const std::size_t count = std::fread(text.data() + done, 1, text.size() - done, file.get());
    done += count;
    if (count > 0) continue;
    if (std::ferror(file.get()) != 0) throw fail();
    text.resize(done);
    return text;
  }
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

}  // namespace

FileList::FileList(const BatchOptions& options)
    : list_(options.list),
      text_(read_all(options.list)),
      folder_(folder_text(".")),
      base_(options.base.empty() ? folder_ : folder_text(options.base)),
      based_(!options.base.empty()) {
  const char end = options.null ? '\0' : '\n';
  for (std::string_view left(text_); !left.empty();) {
    const std::size_t length = std::min(left.find(end), left.size());
    std::string_view name = left.substr(0, length);
    left.remove_prefix(std::min(length + 1, left.size()));
    if (!options.null && name.ends_with('\r')) name.remove_suffix(1);
    if (!name.empty()) add(name);
  }
  if (entries_.empty()) {
    throw InputError(fmt::format("no image: the list {} is empty",
                                 list_ == "-" ? "on standard input" : fmt::format("'{}'", list_)));
  }
}

void FileList::add(std::string_view name) {
  if (name == "-") {
    throw ConfigError("--files-from: a list cannot name standard input (-); name files");
  }
  if (name.find('\0') != std::string_view::npos) {
    throw ConfigError(
        "--files-from: a name holds a null byte: with names that end so the list needs --null");
  }
  const auto [path, is_new] = known_.insert(whole(name));
  if (is_new) entries_.push_back({name, *path});
}

std::string FileList::whole(std::string_view name) const {
  std::string path = (fs::path(folder_) / name).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.starts_with(base_)) return path.substr(base_.size());
  if (!based_) return path;
  throw ConfigError(fmt::format("--base: '{}' of the list is not below the folder '{}'", name,
                                base_.substr(0, base_.size() - 1)));
}

std::string_view FileList::result(std::size_t place) const {
  const std::string_view whole = entries_[place].whole;
  const std::size_t slash = whole.rfind('/');
  return based_ || slash == std::string_view::npos ? whole : whole.substr(slash + 1);
}

FoundImages list_images(const BatchOptions& options, const std::set<Identity>& results,
                        bool pages) {
  const FileList list(options);
  std::vector<std::string_view> names(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) names[i] = list.result(i);
  strip_extensions(names);
  const auto shown = [&list](std::size_t i) { return std::string(list.given(i)); };
  check_equal_names(names, shown);
  if (pages && options.shard.divides()) check_page_names(names, shown);
  FoundImages found;
  FilesIn own(results);
  for (std::size_t i = options.shard.index - 1; i < list.size(); i += options.shard.count) {
    FoundImage image{std::string(list.given(i)), fs::path(names[i])};
    if (own.has(image.input)) {
      ++found.ignored;
    } else {
      found.images.push_back(std::move(image));
    }
  }
  found.others = list.size() - found.images.size() - found.ignored;
  return found;
}

}  // namespace diacut::app
