#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exit_code.hpp"
#include "paths.hpp"
#include "shard.hpp"

namespace diacut::app {

/// A path without its file's extension, as std::filesystem tells it.
std::string_view without_extension(std::string_view name);

/// What messages call the image at a place.
using ShownImage = std::function<std::string(std::size_t)>;

/// Takes the extension off each name, unless several names would be equal without it.
void strip_extensions(std::vector<std::string_view>& names);

/// Throws ConfigError where two images have one name.
void check_equal_names(const std::vector<std::string_view>& names, const ShownImage& shown);

/// Throws ConfigError where a page of one image might have the name of another image.
void check_page_names(const std::vector<std::string_view>& names, const ShownImage& shown);

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
