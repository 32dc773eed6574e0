#include "log_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "svg.hpp"

namespace diacut::bench {

namespace {

constexpr double kWidth = 900;
constexpr double kHeight = 560;
constexpr double kLeft = 80;
constexpr double kRight = 230;  // The names of the lines.
constexpr double kTop = 50;
constexpr double kBottom = 60;
/// The palette of Okabe and Ito, which all eyes tell apart, without yellow.
constexpr std::array<const char*, 7> kColours = {"#000000", "#d55e00", "#0072b2", "#009e73",
                                                 "#cc79a7", "#56b4e9", "#e69f00"};

struct Range {
  double least = 1e300;
  double most = 1e-300;

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  bool empty() const { return least > most; }
};

/// A logarithmic axis over whole powers of ten.
class Scale {
 public:
  Scale(double least, double most, double from, double to) : from_(from), to_(to) {
    begin_ = std::floor(std::log10(least));
    end_ = std::max(begin_ + 1, std::ceil(std::log10(most)));
  }
  double place(double value) const {
    const double share = (std::log10(value) - begin_) / (end_ - begin_);
    return from_ + share * (to_ - from_);
  }
  std::vector<double> ticks() const {
    std::vector<double> result;
    for (double power = begin_; power <= end_; ++power) result.push_back(std::pow(10.0, power));
    return result;
  }

 private:
  double begin_ = 0;
  double end_ = 1;
  double from_;
  double to_;
};

/// The two axes of a plot, and the SVG elements that are drawn in them.
class Canvas {
 public:
  Canvas(const Range& x, const Range& y)
      : across_(x.least, x.most, kLeft, kWidth - kRight),
        up_(y.least, y.most, kHeight - kBottom, kTop) {}

  /// Lines at the ticks of both axes, and what these show.
  std::string axes(const std::string& across, const std::string& up) const {
    std::string svg;
    for (const double tick : across_.ticks()) {
      svg += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#dddddd\"/>\n"
          "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:.4g}</text>\n",
          across_.place(tick), kTop, kHeight - kBottom, kHeight - kBottom + 18, tick);
    }
    for (const double tick : up_.ticks()) {
      svg += fmt::format(
          "<line x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\" stroke=\"#dddddd\"/>\n"
          "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
          up_.place(tick), kLeft, kWidth - kRight, kLeft - 8, up_.place(tick) + 4, tick);
    }
    return svg + fmt::format(
                     "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n"
                     "<text transform=\"translate(24 {}) rotate(-90)\" "
                     "text-anchor=\"middle\">{}</text>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 16, svg_escaped(across),
                     (kTop + kHeight - kBottom) / 2, svg_escaped(up));
  }

  /// A series with its marks, and its name at the height `name_y`. Series are told apart by the
  /// colour `number`; after all colours were used, marks are hollow.
  std::string series(const Series& line, std::size_t number, double name_y) const {
    const char* const ink = kColours[number % kColours.size()];
    const bool hollow = number / kColours.size() % 2 == 1;
    const auto mark = [&](double x, double y) {
      return fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\" stroke=\"{}\"/>\n", x, y,
          hollow ? "white" : ink, ink);
    };
    std::string points;
    std::string marks;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      const double x = across_.place(line.x[i]);
      const double y = up_.place(line.y[i]);
      points += fmt::format("{:.1f},{:.1f} ", x, y);
      marks += mark(x, y);
    }
    const char* const thick = " stroke-width=\"1.5\"";
    const double name_x = kWidth - kRight + 14;
    marks += mark(name_x + 11, name_y - 4);
    return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"{}/>\n", points, ink,
                       thick) +
           fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n",
                       name_x, name_x + 22, name_y - 4, name_y - 4, ink, thick) +
           marks +
           fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", name_x + 30, name_y,
                       ink, svg_escaped(line.name));
  }

 private:
  Scale across_;
  Scale up_;
};

}  // namespace

std::string log_plot(const std::string& title, const std::string& across, const std::string& up,
                     const std::vector<Series>& series) {
  Range x;
  Range y;
  for (const Series& line : series) {
    for (const double each : line.x) x.add(each);
    for (const double each : line.y) y.add(each);
  }
  if (x.empty()) x = y = {1, 1};
  const Canvas canvas(x, y);
  std::string svg = svg_head(kWidth, kHeight, title, kLeft) + canvas.axes(across, up);
  double name_y = kTop + 10;
  std::size_t measured = 0;
  for (const Series& line : series) {
    if (line.x.empty()) continue;
    svg += canvas.series(line, measured, name_y);
    ++measured;
    name_y += 17;
  }
  return svg + "</svg>\n";
}

}  // namespace diacut::bench
