#pragma once

#include <string>
#include <vector>

namespace diacut::bench {

/// One line of a plot.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  bool bound = false;  ///< A limit that no measurement exceeds: drawn dashed.
};

/// A logarithmic axis: ticks at powers of `base`.
struct LogAxis {
  std::string label;
  double base = 10;
};

/// Both axes logarithmic, as an SVG picture. Precondition: x, y > 0.
std::string log_plot(const std::string& title, const LogAxis& across, const LogAxis& up,
                     const std::vector<Series>& series);

}  // namespace diacut::bench
