#pragma once

#include <cstddef>
#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "diacut/image.hpp"

namespace diacut {

/// Pictures of one size in a grid, each with a line of text under it. Large pictures are shown
/// smaller than they are, tiny ones larger.
class Montage {
 public:
  /// A grid with room for `count` pictures of width * height pixels.
  Montage(int width, int height, std::size_t count);

  /// Adds the image that the pictures are of.
  void add_image(const Image& image);
  /// Adds an eigenvector, drawn by vector_picture().
  void add_vector(const std::vector<float>& y, const std::vector<float>& sqrt_degree,
                  std::size_t number, double eigenvalue);

  /// The montage as the bytes of a PNG. Without pictures it shows a text that says so.
  std::vector<std::uint8_t> encode() const;

 private:
  void add(const cv::Mat3b& picture, const std::string& caption);

  cv::Size picture_pixels_;  ///< Size of the pictures that are added.
  cv::Size picture_size_;    ///< Size at which they are shown.
  cv::Size cell_;
  int columns_ = 1;
  int next_ = 0;
  cv::Mat3b canvas_;
};

}  // namespace diacut
