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
/// Okabe and Ito's, told apart by all eyes, without yellow.
constexpr std::array<const char*, 7> kColours = {"#000000", "#d55e00", "#0072b2", "#009e73",
                                                 "#cc79a7", "#56b4e9", "#e69f00"};

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

}  // namespace

std::string log_plot(const std::string& title, const LogAxis& across_axis, const LogAxis& up_axis,
                     const std::vector<Series>& series) {
  double least_x = 1e300;
  double most_x = 1e-300;
  double least_y = 1e300;
  double most_y = 1e-300;
  for (const Series& line : series) {
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      least_x = std::min(least_x, line.x[i]);
      most_x = std::max(most_x, line.x[i]);
      least_y = std::min(least_y, line.y[i]);
      most_y = std::max(most_y, line.y[i]);
    }
  }
  if (least_x > most_x) least_x = most_x = least_y = most_y = 1;
  const Scale across(across_axis.base, least_x, most_x, kLeft, kWidth - kRight);
  const Scale up(up_axis.base, least_y, most_y, kHeight - kBottom, kTop);

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"28\" font-size=\"15\">{3}</text>\n",
      kWidth, kHeight, kLeft, escaped(title));
  for (const double tick : across.ticks()) {
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#dddddd\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:.4g}</text>\n",
        across.place(tick), kTop, kHeight - kBottom, kHeight - kBottom + 18, tick);
  }
  for (const double tick : up.ticks()) {
    svg += fmt::format(
        "<line x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\" stroke=\"#dddddd\"/>\n"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
        up.place(tick), kLeft, kWidth - kRight, kLeft - 8, up.place(tick) + 4, tick);
  }
  svg += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n"
      "<text transform=\"translate(24 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 16, escaped(across_axis.label),
      (kTop + kHeight - kBottom) / 2, escaped(up_axis.label));
  double name_y = kTop + 10;
  std::size_t drawn = 0;
  for (const Series& line : series) {
    if (line.x.empty()) continue;
    const char* const ink = line.bound ? "#888888" : kColours[drawn % kColours.size()];
    // The second time round, marks are hollow.
    const bool hollow = drawn / kColours.size() % 2 == 1;
    if (!line.bound) ++drawn;
    const auto mark = [&](double x, double y) {
      return fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\" stroke=\"{}\"/>\n", x, y,
          hollow ? "white" : ink, ink);
    };
    std::string points;
    std::string marks;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      const double x = across.place(line.x[i]);
      const double y = up.place(line.y[i]);
      points += fmt::format("{:.1f},{:.1f} ", x, y);
      if (!line.bound) marks += mark(x, y);
    }
    const char* const dashes = line.bound ? " stroke-dasharray=\"6 4\"" : " stroke-width=\"1.5\"";
    const double name_x = kWidth - kRight + 14;
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"{}/>\n", points, ink,
                       dashes);
    svg += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n",
                       name_x, name_x + 22, name_y - 4, name_y - 4, ink, dashes);
    if (!line.bound) marks += mark(name_x + 11, name_y - 4);
    svg += marks;
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", name_x + 30, name_y,
                       ink, escaped(line.name));
    name_y += 17;
  }
  return svg + "</svg>\n";
}

}  // namespace diacut::bench
