#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "find_images.hpp"
#include "paths.hpp"
#include "shard.hpp"

namespace diacut::app {

/// Which images a run of many takes, and which it leaves out.
struct BatchOptions {
  std::string list;   ///< A file of the images' names, "-" for standard input; empty: none.
  bool null = false;  ///< Whether names in the list end with a null byte, not with a line.
  std::string base;   ///< The folder that the results' places are relative to; empty: none.
  std::string share;  ///< As parse_shard() takes it.
  Shard shard;        ///< What `share` says.
  bool skip_existing = false;
};

/// The images that a list names: options --files-from, --null and --base. It looks at no file.
class FileList {
 public:
  /// Reads the list. The last character of a line may be a carriage return; empty names, and those
  /// of a file that was named before, are left out. Throws InputError when it cannot be read or
  /// holds no name, ConfigError for names that are not below the base, and "-".
  explicit FileList(const BatchOptions& options);
  FileList(const FileList&) = delete;
  FileList& operator=(const FileList&) = delete;

  std::size_t size() const { return entries_.size(); }
  /// The name at `place`, as the list has it.
  std::string_view given(std::size_t place) const { return entries_[place].given; }
  /// The path of the results of the image at `place` below the folder of results, with the image's
  /// extension.
  std::string_view result(std::size_t place) const;

 private:
  struct Entry {
    std::string_view given;
    std::string_view whole;  ///< Without "." and "..", relative to the base if it is below it.
  };

  void add(std::string_view name);
  std::string whole(std::string_view name) const;

  std::string list_;    ///< The list's name.
  std::string text_;    ///< All of the list.
  std::string folder_;  ///< The current folder, absolute, with a slash at its end.
  std::string base_;    ///< --base, or else the current folder, as folder_ is.
  bool based_;          ///< Whether --base is given.
  std::unordered_set<std::string> known_;  ///< What Entry::whole refers to.
  std::vector<Entry> entries_;
};

/// The images of a list that are in the share of a run. Names and collisions are those of the whole
/// list. `results`: folders whose files are left out. `pages`: whether each page is an image.
/// Throws as FileList does, and ConfigError when two images would have one result.
FoundImages list_images(const BatchOptions& options, const std::set<Identity>& results, bool pages);

}  // namespace diacut::app
