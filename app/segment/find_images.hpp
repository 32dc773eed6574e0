#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "exit_code.hpp"
#include "paths.hpp"
#include "shard.hpp"

namespace diacut::app {

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

}  // namespace diacut::app
