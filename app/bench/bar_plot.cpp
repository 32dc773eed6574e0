#include "bar_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/split_text.hpp"
#include "svg.hpp"

namespace diacut::bench {

namespace {

constexpr double kBarPlotLeft = 76;
constexpr double kBoundNames = 190;  ///< Right of the bars.
constexpr double kBarStep = 74;
constexpr double kBarWidth = 50;
constexpr double kKindsAt = 54;   ///< The names of the colours, below the picture's title.
constexpr double kPanelTop = 74;  ///< Of the first panel.
constexpr double kPanelTitle = 30;
constexpr double kBarsHeight = 260;
constexpr double kNameLine = 15;
constexpr double kLetter = 6.7;  ///< About the width of one.
constexpr double kPanelHeight = kPanelTitle + kBarsHeight + 3 * kNameLine + 20;

/// 1, 2 or 5 times a power of ten, so that there are about five steps up to `most`.
double tick_step(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(most / 5)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= most / 6) return step * power;
  }
  return 10 * power;
}

std::string text_at(double x, double y, std::string_view text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more,
                     svg_escaped(text));
}

/// Three digits, or all before the point.
std::string short_number(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

class PanelDrawing {
 public:
  PanelDrawing(const BarPanel& panel, double top, double right)
      : panel_(panel), bottom_(top + kPanelTitle + kBarsHeight), right_(right) {
    for (const Bar& bar : panel.bars) most_ = std::max(most_, bar.value);
    for (const Bound& bound : panel.bounds) most_ = std::max(most_, bound.value);
    most_ *= 1.08;  // Room for the number above a bar.
  }

  std::string axis() const {
    std::string svg =
        text_at(kBarPlotLeft, bottom_ - kBarsHeight - 10, panel_.title, " font-size=\"13\"");
    const double step = tick_step(most_);
    for (double tick = 0; tick <= most_; tick += step) {
      svg += line(tick, "#dddddd", "") + text_at(kBarPlotLeft - 8, height(tick) + 4,
                                                 short_number(tick), " text-anchor=\"end\"");
    }
    return svg;
  }

  std::string bars() const {
    std::string svg;
    double middle = kBarPlotLeft + kBarStep / 2;
    for (const Bar& bar : panel_.bars) {
      const double top = height(bar.value);
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
          middle - kBarWidth / 2, top, kBarWidth, bottom_ - top, bar.colour);
      // A bound behind the number would strike it through.
      svg += text_at(middle, top - 5, short_number(bar.value),
                     " text-anchor=\"middle\" stroke=\"white\" stroke-width=\"4\" "
                     "stroke-linejoin=\"round\" paint-order=\"stroke\"");
      double y = bottom_ + 4;
      for (const std::string_view word : split_text(bar.name, ' ')) {
        svg += text_at(middle, y += kNameLine, word, " text-anchor=\"middle\"");
      }
      middle += kBarStep;
    }
    return svg;
  }

  std::string bounds() const {
    std::string svg;
    double name_y = bottom_ + kNameLine;
    for (const Bound& bound : panel_.bounds) {
      // Names keep apart where their lines do not.
      name_y = std::min(height(bound.value) + 4, name_y - kNameLine);
      svg +=
          line(bound.value, "#555555", " stroke-dasharray=\"6 4\"") +
          text_at(right_ + 8, name_y, fmt::format("{}: {}", bound.name, short_number(bound.value)),
                  " fill=\"#555555\"");
    }
    return svg;
  }

 private:
  double height(double value) const { return bottom_ - kBarsHeight * value / most_; }
  std::string line(double value, const char* colour, const char* more) const {
    return fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n",
                       kBarPlotLeft, right_, height(value), height(value), colour, more);
  }

  const BarPanel& panel_;
  double bottom_;
  double right_;
  double most_ = 1e-9;
};

}  // namespace

std::string bar_plot(const std::string& title, const std::string& unit,
                     const std::vector<BarKind>& kinds, const std::vector<BarPanel>& panels) {
  std::size_t most = 0;
  for (const BarPanel& panel : panels) most = std::max(most, panel.bars.size());
  const double right = kBarPlotLeft + kBarStep * static_cast<double>(most);
  double top = kPanelTop;
  std::string svg;
  double left = kBarPlotLeft;
  for (const BarKind& kind : kinds) {
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"11\" height=\"11\" fill=\"{}\"/>\n",
                       left, kKindsAt - 10, kind.colour) +
           text_at(left + 17, kKindsAt, kind.name);
    left += 40 + kLetter * static_cast<double>(kind.name.size());
  }
  for (const BarPanel& panel : panels) {
    const PanelDrawing drawing(panel, top, right);
    svg += drawing.axis() + drawing.bounds() + drawing.bars() +
           fmt::format(
               "<text transform=\"translate(22 {:.1f}) rotate(-90)\" "
               "text-anchor=\"middle\">{}</text>\n",
               top + kPanelTitle + kBarsHeight / 2, svg_escaped(unit));
    top += kPanelHeight;
  }
  return svg_head(right + kBoundNames, top, title, kBarPlotLeft) + svg + "</svg>\n";
}

}  // namespace diacut::bench
