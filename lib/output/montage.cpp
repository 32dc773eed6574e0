#include "output/montage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
const cv::Vec3b kNoData(150, 150, 150);

/// From dark blue (share 0) over light grey (1/2) to dark red (1).
cv::Vec3b diverging_colour(float share) {
  static const std::array<cv::Vec3f, 7> anchors = {
      cv::Vec3f(20, 60, 120),   cv::Vec3f(60, 125, 180),  cv::Vec3f(160, 200, 225),
      cv::Vec3f(242, 242, 240), cv::Vec3f(245, 190, 160), cv::Vec3f(210, 100, 75),
      cv::Vec3f(140, 20, 35)};
  const float position = share * static_cast<float>(anchors.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(position), anchors.size() - 2);
  const float rest = position - static_cast<float>(low);
  return anchors[low] * (1 - rest) + anchors[low + 1] * rest;
}

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
  std::vector<float> magnitudes;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (sqrt_degree[i] > 0) magnitudes.push_back(std::abs(y[i]));
  }
  float full = 0;
  if (!magnitudes.empty()) {
    const auto nth =
        magnitudes.begin() + static_cast<std::ptrdiff_t>((magnitudes.size() - 1) * 98 / 100);
    std::nth_element(magnitudes.begin(), nth, magnitudes.end());
    full = *nth;
  }
  cv::Mat3b picture(picture_pixels_);
  std::size_t i = 0;
  for (cv::Vec3b& pixel : picture) {
    const float share = full > 0 ? std::clamp(y[i] / full, -1.0F, 1.0F) : 0.0F;
    pixel = sqrt_degree[i] > 0 ? diverging_colour((share + 1) / 2) : kNoData;
    ++i;
  }
  add(picture, fmt::format("{}: {:.3g}", number, eigenvalue));
}

std::vector<std::uint8_t> Montage::encode() const {
  return encode_rgb(canvas_, PictureFormat::kPng);
}

}  // namespace diacut
