#pragma once

#include <cstddef>
#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "output/format.hpp"
#include "output/png.hpp"

namespace diacut {

/// `count` colours (at most 256) that are easy to distinguish. The first is black. Each further
/// colour is chosen among colours that are neither very dark nor very light, and far from the few
/// colours before it: it is the one farthest in Lab from all colours before it (C. Glasbey et al.,
/// "Colour displays for categorical images", 2007). Consecutive labels differ clearly, and the
/// first few labels the most. Every call returns these colours.
std::vector<Colour> distinct_colours(int count);

/// The generalized eigenvector y = z / sqrt_degree of eigenvectors.vectors[k], 0 without data.
std::vector<float> generalized(const Eigenvectors& eigenvectors, std::size_t k);

/// An eigenvector of width * height values as a picture (red, green, blue): blue below zero, light
/// grey at zero, red above; full colour from the value that 98% of the magnitudes are below. Pixels
/// where `sqrt_degree` is 0 have no data: mid-grey.
cv::Mat3b vector_picture(const std::vector<float>& y, const std::vector<float>& sqrt_degree,
                         int width, int height);

/// An image in 8 bits as red, green, blue; grey values become three equal values. Pixels without
/// data show a grey checkerboard.
cv::Mat3b to_rgb(const Image& image);

/// The colour of the outlines of regions: red, green, blue.
inline const cv::Vec3b kOutline(255, 236, 64);

/// 255 where the right or lower neighbour has another label.
cv::Mat1b boundary_mask(const Labels& labels);

/// The picture that write_overlay() writes, as the bytes of a file. Throws InputError as that does.
std::vector<std::uint8_t> encode_overlay(const Image& image, const Labels& labels,
                                         PictureFormat format);

/// A picture (red, green, blue) as the bytes of a file.
std::vector<std::uint8_t> encode_rgb(const cv::Mat3b& rgb, PictureFormat format);
/// Of at most 65500 pixels a side.
std::vector<std::uint8_t> encode_jpeg(const cv::Mat3b& rgb);

/// A picture of a montage, as large as it is shown, and the line of text under it.
struct MontagePicture {
  cv::Mat3b picture;
  std::string caption;
};

/// Large pictures are shown smaller than they are, tiny ones larger.
MontagePicture montage_picture(const cv::Mat3b& picture, const std::string& caption);

/// Pictures that were of width x height pixels in a grid, as the bytes of a PNG. Without pictures
/// it shows a text that says so.
std::vector<std::uint8_t> encode_montage(int width, int height,
                                         const std::vector<MontagePicture>& pictures);

}  // namespace diacut
