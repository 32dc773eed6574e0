#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// @file
/// Features that the caller brings: a vector of numbers for each pixel, from filters or from a
/// network, by whose likeness pixels belong together.
namespace diacut {

/// The size of features, which is known before they are read.
struct FeatureSize {
  int width = 0;            ///< Width of the map, pixels.
  int height = 0;           ///< Height of the map, pixels.
  int channels = 0;         ///< Numbers of each pixel; 0: there are no features.
  int bytes_per_value = 4;  ///< Bytes of one number in main memory: 4 (float32) or 2 (float16).

  /// The main memory that they take.
  std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) *
           static_cast<std::uint64_t>(channels) * static_cast<std::uint64_t>(bytes_per_value);
  }
};

/// Features of the pixels of an image. The map has the image's size or, in the image's proportions,
/// a smaller one: it is then interpolated.
struct FeatureMap {
  int width = 0;     ///< Width of the map, pixels.
  int height = 0;    ///< Height of the map, pixels.
  int channels = 0;  ///< Numbers of each pixel, at least 1.
  /// width * height * channels finite numbers of magnitude at most 1e15, not all equal in each
  /// channel: a pixel's side by side, row by row from the top left. Of 16 bits: as IEEE 754
  /// binary16.
  std::variant<std::vector<float>, std::vector<std::uint16_t>> values;

  /// The size of the map.
  FeatureSize size() const { return {width, height, channels, values.index() == 0 ? 4 : 2}; }
};

/// Reads features from a .npy file: an array of float32 or float16, (height, width, channels), or
/// (height, width) for one channel, in C or in Fortran order. Throws InputError naming the file
/// when it cannot be read, is no such file, holds fewer bytes than its header claims (before memory
/// is taken), or its features are not as FeatureMap says.
FeatureMap read_features(const std::string& path);

/// Reads the header of such a file alone. Throws as read_features() does, for what the header says.
FeatureSize read_feature_size(const std::string& path);

}  // namespace diacut
