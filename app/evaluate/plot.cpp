#include <fmt/format.h>

#include <opencv2/imgproc.hpp>
#include <string>

#include "output/png.hpp"
#include "report.hpp"

namespace diacut::app {

namespace {

constexpr int kSize = 900;
constexpr int kLeft = 90;
constexpr int kRight = 60;
constexpr int kTop = 70;
constexpr int kBottom = 90;
constexpr int kFractionBits = 4;  ///< Binary digits after the point in OpenCV's positions.

// Red, green, blue.
const cv::Scalar kInk(40, 40, 40);
const cv::Scalar kGrid(228, 228, 228);
const cv::Scalar kEqualF(140, 190, 150);
const cv::Scalar kCurve(200, 40, 40);

class Plot {
 public:
  Plot() : picture_(kSize, kSize, CV_8UC3, cv::Scalar(255, 255, 255)) {}

  void line(const std::vector<cv::Point2d>& points, const cv::Scalar& colour, int thickness) {
    for (std::size_t i = 1; i < points.size(); ++i) {
      cv::line(picture_, fine(points[i - 1]), fine(points[i]), colour, thickness, cv::LINE_AA,
               kFractionBits);
    }
  }
  void dot(cv::Point2d at, const cv::Scalar& colour, double radius) {
    cv::circle(picture_, fine(at), static_cast<int>(radius * (1 << kFractionBits)), colour,
               cv::FILLED, cv::LINE_AA, kFractionBits);
  }
  /// `anchor`: the share of the text that lies left of and above the position, moved by `offset`
  /// pixels.
  void text(const std::string& text, cv::Point2d at, cv::Point2d anchor, cv::Point2d offset,
            double scale, const cv::Scalar& colour) {
    int baseline = 0;
    const cv::Size size = cv::getTextSize(text, kFont, scale, 1, &baseline);
    const cv::Point2d corner =
        pixel(at) + offset - cv::Point2d(anchor.x * size.width, (anchor.y - 1) * size.height);
    cv::putText(picture_, text, cv::Point(cvRound(corner.x), cvRound(corner.y)), kFont, scale,
                colour, 1, cv::LINE_AA);
  }
  void upright_text(const std::string& text, double scale) {
    cv::Mat turned;
    cv::rotate(picture_, turned, cv::ROTATE_90_CLOCKWISE);
    int baseline = 0;
    const cv::Size size = cv::getTextSize(text, kFont, scale, 1, &baseline);
    const int along = kTop + (kSize - kTop - kBottom) / 2;
    cv::putText(turned, text, {kSize - along - size.width / 2, 34}, kFont, scale, kInk, 1,
                cv::LINE_AA);
    cv::rotate(turned, picture_, cv::ROTATE_90_COUNTERCLOCKWISE);
  }

  std::vector<std::uint8_t> encode() const {
    const std::vector<std::uint8_t> pixels(picture_.data, picture_.data + picture_.total() * 3);
    return encode_png(kSize, kSize, 3, pixels, {.flat = true});
  }

 private:
  static constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;

  static cv::Point2d pixel(cv::Point2d at) {
    return {kLeft + at.x * (kSize - kLeft - kRight), kTop + (1 - at.y) * (kSize - kTop - kBottom)};
  }
  static cv::Point fine(cv::Point2d at) {
    const cv::Point2d p = pixel(at);
    return {cvRound(p.x * (1 << kFractionBits)), cvRound(p.y * (1 << kFractionBits))};
  }

  cv::Mat picture_;
};

void draw_axes(Plot& plot) {
  for (int tenth = 0; tenth <= 10; ++tenth) {
    const double at = tenth / 10.0;
    plot.line({{at, 0}, {at, 1}}, kGrid, 1);
    plot.line({{0, at}, {1, at}}, kGrid, 1);
    const std::string label = fmt::format("{:.1f}", at);
    plot.text(label, {at, 0}, {0.5, 0}, {0, 12}, 0.5, kInk);
    plot.text(label, {0, at}, {1, 0.5}, {-10, 0}, 0.5, kInk);
  }
  plot.text("recall", {0.5, 0}, {0.5, 0}, {0, 45}, 0.7, kInk);
  plot.upright_text("precision", 0.7);
}

void draw_equal_f(Plot& plot) {
  constexpr int kPoints = 200;
  for (int tenth = 1; tenth <= 9; ++tenth) {
    const double f = tenth / 10.0;
    std::vector<cv::Point2d> points;
    // 1/precision + 1/recall = 2/f, from precision 1 to recall 1.
    const double least = f / (2 - f);
    for (int i = 0; i <= kPoints; ++i) {
      const double recall = least + (1 - least) * i / kPoints;
      points.emplace_back(recall, f * recall / (2 * recall - f));
    }
    plot.line(points, kEqualF, 1);
    plot.text(fmt::format("F {:.1f}", f), {1, least}, {0, 0.5}, {6, 0}, 0.42, kEqualF);
  }
}

}  // namespace

std::vector<std::uint8_t> draw_curve(const BoundarySummary& summary) {
  Plot plot;
  draw_axes(plot);
  draw_equal_f(plot);
  plot.line({{0, 1}, {0, 0}, {1, 0}, {1, 1}, {0, 1}}, kInk, 1);
  std::vector<cv::Point2d> points;
  for (const BoundaryCounts& counts : summary.curve) {
    // Precision is undefined at a threshold where no boundary was found.
    if (counts.found > 0) points.emplace_back(counts.recall(), counts.precision());
  }
  plot.line(points, kCurve, 3);
  plot.dot({summary.ods.recall, summary.ods.precision}, kCurve, 7);
  std::string title = fmt::format("F = {:.3f}", summary.ods.f);
  if (summary.ap) {
    title += fmt::format(" (ODS), {:.3f} (OIS); AP = {:.3f}", summary.ois.f, *summary.ap);
  }
  plot.text(title, {0.5, 1}, {0.5, 1}, {0, -22}, 0.75, kInk);
  return plot.encode();
}

}  // namespace diacut::app
