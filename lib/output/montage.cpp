#include "output/montage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "output/picture.hpp"

namespace diacut {
namespace {

constexpr int kLongest = 320;    ///< Longest side of a picture, pixels.
constexpr int kThinnest = 8;     ///< Least shorter side of a picture, pixels.
constexpr int kNarrowest = 150;  ///< Least width of a cell, in which the caption must fit, pixels.
constexpr int kGap = 10;
constexpr int kCaption = 24;
constexpr double kFont = 0.45;
const cv::Vec3b kPaper(255, 255, 255);
const cv::Scalar kInk(40, 40, 40);

cv::Size picture_size(int width, int height) {
  const int longest = std::max(width, height);
  // Enlarged by whole factors only, so that pixels stay squares of one size.
  const double scale =
      longest > kLongest ? static_cast<double>(kLongest) / longest : kLongest / longest;
  const auto side = [&](int pixels) {
    return std::max(kThinnest, static_cast<int>(std::lround(pixels * scale)));
  };
  return {side(width), side(height)};
}

}  // namespace

Montage::Montage(int width, int height, std::size_t count)
    : picture_pixels_(width, height), picture_size_(picture_size(width, height)) {
  cell_ = {std::max(picture_size_.width, kNarrowest) + kGap,
           picture_size_.height + kCaption + kGap};
  // The montage has a width to height ratio of about 4:3.
  const int cells = std::max(1, static_cast<int>(count));
  columns_ =
      static_cast<int>(std::lround(std::sqrt(4.0 / 3.0 * cells * cell_.height / cell_.width)));
  columns_ = std::clamp(columns_, 1, cells);
  const int rows = (cells + columns_ - 1) / columns_;
  canvas_ = cv::Mat3b(rows * cell_.height + kGap, columns_ * cell_.width + kGap, kPaper);
  if (count == 0) {
    cv::putText(canvas_, "no vectors", {kGap, picture_size_.height + 2 * kGap},
                cv::FONT_HERSHEY_SIMPLEX, kFont, kInk, 1, cv::LINE_AA);
  }
}

void Montage::add(const cv::Mat3b& picture, const std::string& caption) {
  const cv::Point corner(kGap + next_ % columns_ * cell_.width,
                         kGap + next_ / columns_ * cell_.height);
  ++next_;
  cv::Mat3b scaled;
  const bool smaller = picture.total() > static_cast<std::size_t>(picture_size_.area());
  cv::resize(picture, scaled, picture_size_, 0, 0, smaller ? cv::INTER_AREA : cv::INTER_NEAREST);
  scaled.copyTo(canvas_(cv::Rect(corner, picture_size_)));
  cv::putText(canvas_, caption, corner + cv::Point(0, picture_size_.height + 17),
              cv::FONT_HERSHEY_SIMPLEX, kFont, kInk, 1, cv::LINE_AA);
}

void Montage::add_image(const Image& image) { add(to_rgb(image), "image"); }

void Montage::add_vector(const std::vector<float>& y, const std::vector<float>& sqrt_degree,
                         std::size_t number, double eigenvalue) {
  const cv::Mat3b picture =
      vector_picture(y, sqrt_degree, picture_pixels_.width, picture_pixels_.height);
  add(picture, fmt::format("{}: {:.3g}", number, eigenvalue));
}

std::vector<std::uint8_t> Montage::encode() const {
  return encode_rgb(canvas_, PictureFormat::kPng);
}

}  // namespace diacut
