#pragma once

#include <string>
#include <vector>

namespace diacut::bench {

/// One line of a plot.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};

/// Both axes logarithmic with ticks at powers of ten, as an SVG picture; `across` and `up` name
/// what they show. Precondition: x, y > 0.
std::string log_plot(const std::string& title, const std::string& across, const std::string& up,
                     const std::vector<Series>& series);

}  // namespace diacut::bench
