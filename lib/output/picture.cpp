#include "output/picture.hpp"

#include <algorithm>
#include <cstddef>

#include "diacut/errors.hpp"
#include "output/format.hpp"
#include "output/png.hpp"

namespace diacut {

PictureFormat picture_format(const std::string& path) {
  const std::string extension = lower_extension(path);
  if (path == "-" || extension == ".png") return PictureFormat::kPng;
  if (extension == ".jpg" || extension == ".jpeg") return PictureFormat::kJpeg;
  throw unknown_extension(path, "pictures", ".png, .jpg, .jpeg");
}

cv::Mat3b to_rgb(const Image& image) {
  constexpr std::uint8_t kLight = 204, kDark = 178;
  const int square = std::clamp(std::min(image.width, image.height) / 40, 2, 16);
  cv::Mat3b rgb(image.height, image.width);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const std::size_t pixel = static_cast<std::size_t>(y) * image.width + x;
      if (!image.valid.empty() && image.valid[pixel] == 0) {
        rgb(y, x) = cv::Vec3b::all((x / square + y / square) % 2 == 0 ? kLight : kDark);
        continue;
      }
      const float* values = &image.pixels[pixel * image.channels];
      for (int c = 0; c < 3; ++c) {
        const float value = values[image.channels == 3 ? c : 0];
        rgb(y, x)[c] = cv::saturate_cast<std::uint8_t>(value * 255.0F);
      }
    }
  }
  return rgb;
}

cv::Mat1b boundary_mask(const Labels& labels) {
  cv::Mat1b mask(labels.height, labels.width, std::uint8_t{0});
  for (int y = 0; y < labels.height; ++y) {
    const std::int32_t* row = &labels.values[static_cast<std::size_t>(y) * labels.width];
    for (int x = 0; x < labels.width; ++x) {
      const bool right = x + 1 < labels.width && row[x + 1] != row[x];
      const bool below = y + 1 < labels.height && row[x + labels.width] != row[x];
      if (right || below) mask(y, x) = 255;
    }
  }
  return mask;
}

std::vector<std::uint8_t> encode_rgb(const cv::Mat3b& rgb, PictureFormat format) {
  if (format == PictureFormat::kPng) {
    return encode_png(rgb.cols, rgb.rows, 3, std::vector<std::uint8_t>(rgb.datastart, rgb.dataend));
  }
  // Checked here, because the encoder's own error would not say why.
  constexpr int kLargestJpeg = 65'500;
  if (std::max(rgb.cols, rgb.rows) > kLargestJpeg) {
    throw InputError("a JPEG is at most 65500 pixels wide and high; write the picture as .png");
  }
  return encode_jpeg(rgb);
}

}  // namespace diacut
