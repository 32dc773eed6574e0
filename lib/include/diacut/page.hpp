#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"

/// @file
/// A merge tree as a page to look at: one HTML file that needs no network, in which a browser shows
/// any cut of the tree on the image.
namespace diacut {

/// Most pixels of the picture in a page: browsers of phones draw no larger one.
inline constexpr std::int64_t kMostPagePixels = 16'777'216;
inline constexpr int kMostPageSide = 16'384;  ///< Longest side of the picture in a page, pixels.

/// What a page is called and what it shows.
struct PageParameters {
  std::string title;  ///< The name of the image.
  /// The cut that is shown at first: regions, threshold and min_size. With RegionMethod::kObjects
  /// those of its regions that objects_of_regions() takes.
  RegionParameters region;
  /// The regions or objects at first, of the image's size, which an index of pages counts and
  /// outlines. Not owned; never null.
  const Labels* labels = nullptr;
  /// How likely each pixel lies inside of an object (Segmentation::inside), by which the page can
  /// show objects; empty: nothing tells it.
  std::span<const float> inside = {};
};

/// A page: the image, its merge tree, and a script that cuts the tree as diacut::cut() does. An
/// image of more than kMostPagePixels, or with a side longer than kMostPageSide, is reduced in the
/// page, and each pixel of the reduced picture is in the leaf that its middle lies in; leaves
/// without such a pixel leave the tree. The inside map is taken at these places too. `hierarchy`: a
/// hierarchy of the image's size for which check() holds. `eigenvectors`: eigenvectors to show
/// beside the image, or null. The first, constant one is not shown. `notes` gets a sentence for a
/// person when the page shows the image reduced. Returns the page, in UTF-8. Its bytes depend on
/// the arguments alone. Throws InputError when the sizes of image and hierarchy differ, or objects
/// are asked for and the inside map has not a value for each pixel.
std::string encode_page(const Image& image, const Hierarchy& hierarchy,
                        const Eigenvectors* eigenvectors, const PageParameters& parameters,
                        std::vector<std::string>& notes);

/// Writes the page of encode_page() to a temporary file, which is renamed when it is complete.
/// `path`: "-" is standard output. `hierarchy`: a hierarchy of the image's size for which
/// check() holds. `eigenvectors`: eigenvectors to show beside the image, or null. `notes` gets a
/// sentence for a person when the page shows the image reduced. Throws InputError when the sizes of
/// image and hierarchy differ, or the file cannot be written. Throws ConfigError when the extension
/// is not .html or .htm.
void write_page(const std::string& path, const Image& image, const Hierarchy& hierarchy,
                const Eigenvectors* eigenvectors, const PageParameters& parameters,
                std::vector<std::string>& notes);

/// Sees whether a path has the extension of a page, in upper or lower case. `path`: the path; "-"
/// has none and is fine. Throws ConfigError when the extension is not .html or .htm.
void check_page_name(const std::string& path);

/// Writes an index of pages: thumbnails, names and sizes, each a link to its page. What it shows is
/// read from the pages. Files that are not there, or are no pages, are left out. `pages`: the files
/// of the pages, in the order of the index. Returns how many pages the index holds. With none, no
/// index is written. Throws InputError when the index cannot be written.
std::size_t write_page_index(const std::string& path, const std::string& title,
                             const std::vector<std::string>& pages);

}  // namespace diacut
