#pragma once

#include <string>
#include <vector>

namespace diacut::bench {

/// One line of a plot: throughput over the size of the image.
struct LadderLine {
  std::string name;
  std::vector<double> pixels;
  std::vector<double> gflops;
  bool bound = false;  ///< What the memory allows, not what was measured: drawn dashed.
};

/// Throughput over size, both axes logarithmic, as an SVG picture.
std::string ladder_plot(const std::string& title, const std::vector<LadderLine>& lines);

}  // namespace diacut::bench
