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
/// A merge tree as one HTML file, in which a browser shows any cut on the image, also offline.
namespace diacut {

/// A page's title and content.
struct PageParameters {
  std::string title;  ///< The name of the image.
  /// The first cut to show: regions, threshold and min_size; with RegionMethod::kObjects only its
  /// regions that objects_of_regions() takes.
  RegionParameters region;
  /// The labels of that cut, of the image's size; an index of pages counts and outlines them. Not
  /// owned; never null.
  const Labels* labels = nullptr;
  /// Objects::inside, with which the page can show objects; empty: none.
  std::span<const float> inside = {};
};

/// A page, in UTF-8: the image, its merge tree, and a script that cuts the tree as diacut::cut()
/// does. An image of more than 16,777,216 pixels, or with a side longer than 16,384, is reduced in
/// the page, because phones' browsers do not draw it: each pixel of the reduced picture belongs to
/// the leaf at its centre, and leaves without a pixel are removed from the tree. The inside map is
/// sampled at the same places. `hierarchy`: a hierarchy of the image's size for which check()
/// holds. `eigenvectors`: to show beside the image, except for the first, constant one; or null.
/// `notes` gets a sentence for the user when the page shows the image reduced. The bytes depend
/// only on the arguments. Throws InputError when the sizes of image and hierarchy differ, or
/// objects are asked for and the inside map lacks a value for each pixel.
std::string encode_page(const Image& image, const Hierarchy& hierarchy,
                        const Eigenvectors* eigenvectors, const PageParameters& parameters,
                        std::vector<std::string>& notes);

/// Writes the page of encode_page(), with the errors of that and of diacut/output.hpp. `path`:
/// .html, .htm or "-".
void write_page(const std::string& path, const Image& image, const Hierarchy& hierarchy,
                const Eigenvectors* eigenvectors, const PageParameters& parameters,
                std::vector<std::string>& notes);

/// Writes an index of pages, in the order of `pages`: thumbnails, names and sizes, each a link to
/// its page. Reads what it shows from the pages. Leaves out missing files and files that are no
/// pages. Returns the number of pages in the index; with none, writes no index. Throws
/// InputError when the index cannot be written.
std::size_t write_page_index(const std::string& path, const std::string& title,
                             const std::vector<std::string>& pages);

}  // namespace diacut
