#include <algorithm>
#include <cstddef>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "diacut/annotations.hpp"
#include "diacut/output.hpp"
#include "output/format.hpp"
#include "output/picture.hpp"

namespace diacut {
namespace {

/// Share of a region's mean colour in the colour of its pixels.
constexpr float kTint = 0.25F;
/// Share of its brightness that the halo beside a line keeps.
constexpr float kHalo = 0.45F;

/// The mean colours of each label's pixels with data, from 0 on. `rgb`: of the image.
std::vector<cv::Vec3f> mean_colours(const Image& image, const cv::Mat3b& rgb,
                                    const Labels& labels) {
  std::vector<cv::Vec4d> sums(static_cast<std::size_t>(labels.count) + 1, cv::Vec4d::all(0));
  std::size_t at = 0;
  for (const cv::Vec3b& pixel : rgb) {
    const cv::Vec4d one(pixel[0], pixel[1], pixel[2], 1);
    if (image.has_data(at)) sums[labels.values[at]] += one;
    ++at;
  }
  std::vector<cv::Vec3f> means;
  for (const cv::Vec4d& sum : sums) {
    const double count = std::max(sum[3], 1.0);
    means.emplace_back(cv::Vec3d(sum[0], sum[1], sum[2]) / count);
  }
  return means;
}

cv::Mat1b thicken(const cv::Mat1b& mask, int width) {
  if (width <= 1) return mask;
  cv::Mat1b thick;
  cv::dilate(mask, thick, cv::getStructuringElement(cv::MORPH_ELLIPSE, {width, width}));
  return thick;
}

}  // namespace

std::vector<RegionColour> region_colours(const Image& image, const Labels& labels) {
  check_one_size("image", image.width, image.height, "labels", labels.width, labels.height);
  std::vector<RegionColour> colours;
  for (const cv::Vec3b mean : mean_colours(image, to_rgb(image), labels)) {
    colours.push_back({mean[0], mean[1], mean[2]});
  }
  return colours;
}

std::vector<std::uint8_t> flat_picture(const Image& image, const Labels& labels) {
  check_one_size("image", image.width, image.height, "labels", labels.width, labels.height);
  cv::Mat3b rgb = to_rgb(image);
  const std::vector<cv::Vec3f> means = mean_colours(image, rgb, labels);
  std::size_t at = 0;
  for (cv::Vec3b& pixel : rgb) {
    if (image.has_data(at)) pixel = means[labels.values[at]];
    ++at;
  }
  return {rgb.datastart, rgb.dataend};
}

void write_flat(const std::string& path, const Image& image, const Labels& labels) {
  const PictureFormat format = picture_format(path);
  write_file(path, encode_for(path, [&] {
               std::vector<std::uint8_t> flat = flat_picture(image, labels);
               if (format == PictureFormat::kPng) {
                 return encode_png(image.width, image.height, 3, flat, {.flat = true});
               }
               return encode_rgb(
                   cv::Mat3b(image.height, image.width, reinterpret_cast<cv::Vec3b*>(flat.data())),
                   format);
             }));
}

std::vector<std::uint8_t> encode_overlay(const Image& image, const Labels& labels,
                                         PictureFormat format) {
  check_one_size("image", image.width, image.height, "labels", labels.width, labels.height);
  cv::Mat3b rgb = to_rgb(image);
  const std::vector<cv::Vec3f> means = mean_colours(image, rgb, labels);
  const std::int32_t* label = labels.values.data();
  for (cv::Vec3b& pixel : rgb) {
    if (*label > 0) pixel = cv::Vec3f(pixel) * (1 - kTint) + means[*label] * kTint;
    ++label;
  }
  // Lines stay visible when a large picture is shown small.
  const int line = std::max(1, std::min(image.width, image.height) / 400);
  const cv::Mat1b boundary = boundary_mask(labels);
  const cv::Mat1b core = thicken(boundary, line);
  const cv::Mat1b halo = thicken(boundary, line + 2 * std::max(1, line / 2));
  for (int y = 0; y < rgb.rows; ++y) {
    for (int x = 0; x < rgb.cols; ++x) {
      if (core(y, x) != 0) {
        rgb(y, x) = kOutline;
      } else if (halo(y, x) != 0) {
        rgb(y, x) = cv::Vec3f(rgb(y, x)) * kHalo;
      }
    }
  }
  return encode_rgb(rgb, format);
}

void write_overlay(const std::string& path, const Image& image, const Labels& labels) {
  const PictureFormat format = picture_format(path);
  write_file(path, encode_for(path, [&] { return encode_overlay(image, labels, format); }));
}

}  // namespace diacut
