#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/image.hpp"

/// @file
/// Seeds: labels of a few pixels of an image, as somebody painted them, from which labels of all
/// pixels grow (RegionMethod::kWalker).
namespace diacut {

/// The largest number of a label.
inline constexpr std::int32_t kMostSeedLabel = 65'535;

/// The labels of a few pixels.
struct Seeds {
  int width = 0;   ///< Width of the image, pixels.
  int height = 0;  ///< Height of the image, pixels.
  /// width * height labels, row by row from the top left: 1 to kMostSeedLabel, and 0 where
  /// no label was given. At least two labels have to be there.
  std::vector<std::int32_t> labels;
};

/// Reads seeds from a file: a PNG or TIFF of one channel (of a palette the index counts), or a .npy
/// array of two dimensions. Its numbers are the labels, 0 is no label.
/// @param path The file.
/// @param parameters The most pixels, and whether the file is trusted; the others have no effect.
/// @return The seeds.
/// @throws InputError naming the file when it cannot be read, or holds a number that is negative,
///     fractional or larger than kMostSeedLabel.
Seeds read_seeds(const std::string& path, const ImageParameters& parameters = {});

}  // namespace diacut
