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

MontagePicture montage_picture(const cv::Mat3b& picture, const std::string& caption) {
  const cv::Size size = picture_size(picture.cols, picture.rows);
  const bool smaller = picture.total() > static_cast<std::size_t>(size.area());
  MontagePicture shown{{}, caption};
  cv::resize(picture, shown.picture, size, 0, 0, smaller ? cv::INTER_AREA : cv::INTER_NEAREST);
  return shown;
}

std::vector<std::uint8_t> encode_montage(int width, int height,
                                         const std::vector<MontagePicture>& pictures) {
  const cv::Size size = picture_size(width, height);
  const cv::Size cell(std::max(size.width, kNarrowest) + kGap, size.height + kCaption + kGap);
  // The montage has a width to height ratio of about 4:3.
  const int cells = std::max(1, static_cast<int>(pictures.size()));
  const int columns = std::clamp(
      static_cast<int>(std::lround(std::sqrt(4.0 / 3.0 * cells * cell.height / cell.width))), 1,
      cells);
  const int rows = (cells + columns - 1) / columns;
  cv::Mat3b canvas(rows * cell.height + kGap, columns * cell.width + kGap, kPaper);
  const auto write = [&](const std::string& text, const cv::Point& at) {
    cv::putText(canvas, text, at, cv::FONT_HERSHEY_SIMPLEX, kFont, kInk, 1, cv::LINE_AA);
  };
  if (pictures.empty()) write("no vectors", {kGap, size.height + 2 * kGap});
  for (int k = 0; k < static_cast<int>(pictures.size()); ++k) {
    const MontagePicture& each = pictures[static_cast<std::size_t>(k)];
    const cv::Point corner(kGap + k % columns * cell.width, kGap + k / columns * cell.height);
    each.picture.copyTo(canvas(cv::Rect(corner, size)));
    write(each.caption, corner + cv::Point(0, size.height + 17));
  }
  return encode_rgb(canvas, PictureFormat::kPng);
}

}  // namespace diacut
