#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"

/// @file
/// A merge tree as one HTML file, in which a browser without network shows any cut on the image.
namespace diacut {

/// What a page is called and what it shows.
struct PageParameters {
  std::string title;  ///< The name of the image.
  /// The cut that is shown at first: regions, threshold and min_size. With RegionMethod::kObjects
  /// those of its regions that objects_of_regions() takes.
  RegionParameters region;
  /// The regions or objects at first, of the image's size, which an index of pages counts and
  /// outlines. Not owned; never null.
  const Labels* labels = nullptr;
  /// Segmentation::inside, by which the page can show objects; empty: nothing gives it.
  std::span<const float> inside = {};
};

/// A page, in UTF-8: the image, its merge tree, and a script that cuts the tree as diacut::cut()
/// does. An image of more than 16,777,216 pixels, or with a side longer than 16,384, which browsers
/// of phones do not draw, is reduced in the page, and each pixel of the reduced picture is in the
/// leaf that its middle lies in; leaves without such a pixel leave the tree. The inside map is
/// taken at these places too. `hierarchy`: a hierarchy of the image's size for which check() holds.
/// `eigenvectors`: those to show beside the image, but for the first, constant one; or null.
/// `notes` gets a sentence for a person when the page shows the image reduced. The bytes depend on
/// the arguments alone. Throws InputError when the sizes of image and hierarchy differ, or objects
/// are asked for and the inside map has not a value for each pixel.
std::string encode_page(const Image& image, const Hierarchy& hierarchy,
                        const Eigenvectors* eigenvectors, const PageParameters& parameters,
                        std::vector<std::string>& notes);

/// Writes the page of encode_page(), with the errors of that and of diacut/output.hpp. `path`:
/// .html, .htm or "-".
void write_page(const std::string& path, const Image& image, const Hierarchy& hierarchy,
                const Eigenvectors* eigenvectors, const PageParameters& parameters,
                std::vector<std::string>& notes);

/// Writes an index of pages, in the order of `pages`: thumbnails, names and sizes, each a link to
/// its page. What it shows is read from the pages. Files that are not there, or are no pages, are
/// left out. Returns how many pages the index holds; with none, no index is written. Throws
/// InputError when the index cannot be written.
std::size_t write_page_index(const std::string& path, const std::string& title,
                             const std::vector<std::string>& pages);

}  // namespace diacut
