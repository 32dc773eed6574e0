#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exit_code.hpp"
#include "paths.hpp"
#include "text.hpp"

namespace diacut::app {

/// One of several shares of the work of a run: every count-th piece.
struct Shard {
  std::size_t index = 1;  ///< From 1 to count.
  std::size_t count = 1;

  /// Whether the work is divided at all.
  bool divides() const { return count > 1; }
  /// Whether the piece of work at `place`, from 0, is in the share.
  bool has(std::size_t place) const { return place % count == index - 1; }
};

/// Looks an environment variable up.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// Reads a share. `text`: "I/N" with I from 1 to N; "auto": that of this job in an array of jobs,
/// from the variables of Slurm, of AWS Batch, or of an indexed job of Kubernetes; empty:
/// everything. `program` and `things` are what messages name, as "segment" and "images". Throws
/// ConfigError for other texts, and for "auto" where there is no such array.
Shard parse_shard(std::string_view text, const char* program, const char* things,
                  const Environment& environment = environment_variable);

/// "out/report.jsonl" as "out/report-03-of-16.jsonl": a place of this share alone. Places that are
/// empty or "-", and those of a run that is not divided, stay as they are.
std::string place_of_shard(const std::string& place, const Shard& shard);

/// A path without its file's extension, as std::filesystem finds it.
std::string_view without_extension(std::string_view name);

/// An image and the name of its results: a path relative to an output folder.
struct FoundImage {
  std::string input;
  std::filesystem::path name;
};

/// The images that the inputs of a command line name.
struct FoundImages {
  /// In the order of the inputs, within folders in the order of names. Their names have no
  /// extension, unless several would be equal without it.
  std::vector<FoundImage> images;
  std::vector<Failure> failures;  ///< Folders that cannot be read.
  std::size_t ignored = 0;        ///< Files and folders within folders that are not images.
  std::size_t others = 0;         ///< Images that are in other shares of the run.
};

/// Finds the images. `inputs`: files, folders, and "-" for standard input; folders are walked,
/// those of `results` left out. With several inputs each folder keeps its own name in the names of
/// results. `scenes`: whether files that only GDAL knows count as images, for which GDAL looks at
/// them. Throws ConfigError when an input is one of `results`.
FoundImages find_images(const std::vector<std::string>& inputs, const std::set<Identity>& results,
                        bool scenes = true);

/// Leaves the images of a share. `pages`: whether each page is an image. Throws ConfigError when
/// two images would have one result, whatever the share.
void take_share(FoundImages& found, const Shard& shard, bool pages);

/// Which images a run of many takes, and which it leaves out.
struct BatchOptions {
  std::string list;   ///< A file of the images' names, "-" for standard input; empty: none.
  bool null = false;  ///< Whether names in the list end with a null byte, not with a line.
  std::string base;   ///< The folder that the results' places are relative to; empty: none.
  std::string share;  ///< As parse_shard() takes it.
  Shard shard;        ///< What `share` says.
  bool skip_existing = false;
};

/// The images of a list that are in the share of a run. Names and collisions are those of the whole
/// list. `results`: folders whose files are left out. `pages`: whether each page is an image.
/// Throws InputError when the list cannot be read or holds no name; ConfigError for names that are
/// not below the base, for "-", and when two images would have one result.
FoundImages list_images(const BatchOptions& options, const std::set<Identity>& results, bool pages);

}  // namespace diacut::app
