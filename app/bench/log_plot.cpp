#include "log_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

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

/// A logarithmic axis over whole powers of a base.
class Scale {
 public:
  Scale(double base, double least, double most, double from, double to) : from_(from), to_(to) {
    begin_ = std::floor(std::log(least) / std::log(base));
    end_ = std::max(begin_ + 1, std::ceil(std::log(most) / std::log(base)));
    base_ = base;
  }
  double place(double value) const {
    const double share = (std::log(value) / std::log(base_) - begin_) / (end_ - begin_);
    return from_ + share * (to_ - from_);
  }
  std::vector<double> ticks() const {
    std::vector<double> result;
    for (double power = begin_; power <= end_; ++power) result.push_back(std::pow(base_, power));
    return result;
  }

 private:
  double base_ = 10;
  double begin_ = 0;
  double end_ = 1;
  double from_;
  double to_;
};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

/// The two axes of a plot, and the SVG elements that are drawn in them.
class Canvas {
 public:
  Canvas(const LogAxis& across_axis, const LogAxis& up_axis, const Range& x, const Range& y)
      : across_axis_(across_axis),
        up_axis_(up_axis),
        across_(across_axis.base, x.least, x.most, kLeft, kWidth - kRight),
        up_(up_axis.base, y.least, y.most, kHeight - kBottom, kTop) {}

  std::string head(const std::string& title) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        "<text x=\"{2}\" y=\"28\" font-size=\"15\">{3}</text>\n",
        kWidth, kHeight, kLeft, escaped(title));
  }

  /// Lines at the ticks of both axes, and the axes' labels.
  std::string axes() const {
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
                     (kLeft + kWidth - kRight) / 2, kHeight - 16, escaped(across_axis_.label),
                     (kTop + kHeight - kBottom) / 2, escaped(up_axis_.label));
  }

  /// A series with its marks, and its name at the height `name_y`. Measured series are told apart
  /// by the colour `number`; after all colours were used, marks are hollow.
  std::string series(const Series& line, std::size_t number, double name_y) const {
    const char* const ink = line.bound ? "#888888" : kColours[number % kColours.size()];
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
      if (!line.bound) marks += mark(x, y);
    }
    const char* const dashes = line.bound ? " stroke-dasharray=\"6 4\"" : " stroke-width=\"1.5\"";
    const double name_x = kWidth - kRight + 14;
    if (!line.bound) marks += mark(name_x + 11, name_y - 4);
    return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"{}/>\n", points, ink,
                       dashes) +
           fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n",
                       name_x, name_x + 22, name_y - 4, name_y - 4, ink, dashes) +
           marks +
           fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", name_x + 30, name_y,
                       ink, escaped(line.name));
  }

 private:
  const LogAxis& across_axis_;
  const LogAxis& up_axis_;
  Scale across_;
  Scale up_;
};

}  // namespace

std::string log_plot(const std::string& title, const LogAxis& across, const LogAxis& up,
                     const std::vector<Series>& series) {
  Range x;
  Range y;
  for (const Series& line : series) {
    for (const double each : line.x) x.add(each);
    for (const double each : line.y) y.add(each);
  }
  if (x.empty()) x = y = {1, 1};
  const Canvas canvas(across, up, x, y);
  std::string svg = canvas.head(title) + canvas.axes();
  double name_y = kTop + 10;
  std::size_t measured = 0;
  for (const Series& line : series) {
    if (line.x.empty()) continue;
    svg += canvas.series(line, measured, name_y);
    if (!line.bound) ++measured;
    name_y += 17;
  }
  return svg + "</svg>\n";
}

}  // namespace diacut::bench
