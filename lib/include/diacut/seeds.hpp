#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"

/// @file
/// Seeds: painted labels of a few pixels. Labels of all pixels grow from them
/// (RegionMethod::kWalker), or they cut a hierarchy (RegionMethod::kHierarchy).
namespace diacut {

/// The largest label of a seed.
inline constexpr std::int32_t kMostSeedLabel = 65'535;

/// The labels of a few pixels.
struct Seeds {
  int width = 0;   ///< Width of the image, pixels.
  int height = 0;  ///< Height of the image, pixels.
  /// width * height labels, row by row from the top left: 1 to kMostSeedLabel, at least two
  /// different ones, and 0 where no label was given.
  std::vector<std::int32_t> labels;
  std::vector<std::string> notes = {};  ///< For the user: which colour became which label.
};

/// Reads seeds from a file:
///   - a PNG or TIFF of one channel (with a palette: the index), or a .npy array of two dimensions:
///     numbers are labels, 0 and pixels without data have none;
///   - a PNG or TIFF in colour, as paint programs save it: each colour is a label, numbered by red,
///     green and blue. The background has none (transparent, else the most common colour), nor have
///     the mixed colours of soft edges;
///   - GeoJSON whose points, lines and areas have a label each (properties.label) and coordinates
///     in pixels from the upper left corner, x to the right and y down. A line marks the pixels
///     that it passes, an area those whose centres it contains.
/// `parameters`: as read_boundary_map() takes them. `width`, `height`: of the image, pixels; only
/// GeoJSON needs them. Throws InputError naming the file when it cannot be read, contains a number
/// that is no label, too many colours, a point outside the image, or two labels for one pixel.
Seeds read_seeds(const std::string& path, const ImageParameters& parameters = {}, int width = 0,
                 int height = 0);

/// Lines that growing labels must not cross.
struct Barriers {
  int width = 0;   ///< Width of the image, pixels.
  int height = 0;  ///< Height of the image, pixels.
  /// width * height values, row by row from the top left: 0 where there is no barrier. Pixels that
  /// touch at a corner alone are closed: labels do not pass between them.
  std::vector<std::uint8_t> pixels;
};

/// Reads barriers from a file as read_seeds() does: a PNG, TIFF or .npy array, whose pixels other
/// than 0 are barriers, or GeoJSON, whose points, lines and outlines of areas are. Throws
/// InputError naming the file when it cannot be read, or has a point outside of the image.
Barriers read_barriers(const std::string& path, const ImageParameters& parameters = {},
                       int width = 0, int height = 0);

/// The probability of each label at each pixel (SeedGrowth::probabilities), to start another random
/// walk from.
struct Probabilities {
  int width = 0;   ///< Width of the image, pixels.
  int height = 0;  ///< Height of the image, pixels.
  /// For each label, ascending, width * height values in [0, 1], row by row from the top left.
  std::vector<std::vector<float>> of_label;
};

/// Reads a file that write_probabilities() wrote. Throws InputError naming the file when it cannot
/// be read, is of another kind, or holds a number that is not in [0, 1].
Probabilities read_probabilities(const std::string& path);

/// Checks that seeds can be used with an image. `width`, `height`, `valid`: as Image has them.
/// Throws InputError when the seeds have another size, hold a number that is no label, lie where
/// the image has no data, or have fewer than two different labels.
void check_seeds(const Seeds& seeds, int width, int height, const std::vector<std::uint8_t>& valid);

/// Regions of an image, and the seeds that they hold or grew from.
struct SeededRegions {
  Labels regions;                         ///< The regions.
  std::vector<std::int32_t> seed_labels;  ///< Of each region's seeds, from region 1 on; 0: none.
};

/// The largest regions of a hierarchy none of which holds seeds of two labels: the nodes of the
/// merge tree that hold at most one label and whose parents, if they have one, hold more. Each
/// pixel with data lies in one of them. Of two regions that merge in the end, the one has no seed
/// where the other could not stay whole. Time grows with the pixels. `seeds`: seeds of the
/// hierarchy's size. `notes` gets a sentence for a person where regions have no seed, and where a
/// leaf, which nothing divides, holds seeds of several labels: it has the label of most of them, of
/// equally many the smallest. Throws InputError as check_seeds() does, for an image that has data
/// where the leaves are.
SeededRegions cut_by_seeds(const Hierarchy& hierarchy, const Seeds& seeds,
                           std::vector<std::string>& notes);

/// Labels as files and arrays hold them: regions have the labels of their seeds instead of their
/// numbers, and the count is the largest of these.
Labels written_labels(const SeededRegions& seeded);

}  // namespace diacut
