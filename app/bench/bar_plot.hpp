#pragma once

#include <string>
#include <vector>

namespace diacut::bench {

/// What bars of a colour have in common.
struct BarKind {
  std::string name;
  std::string colour;
};

struct Bar {
  std::string name;  ///< Written below the bar, a word a line.
  double value = 0;
  std::string colour;
};

/// A limit, drawn as a line across the bars.
struct Bound {
  std::string name;
  double value = 0;
};

/// The bars of one measurement, on an axis of their own.
struct BarPanel {
  std::string title;
  std::vector<Bar> bars;
  std::vector<Bound> bounds;  ///< Ascending.
};

/// Panels below one another, as an SVG picture; `unit` names what all bars show. Precondition: no
/// value is negative.
std::string bar_plot(const std::string& title, const std::string& unit,
                     const std::vector<BarKind>& kinds, const std::vector<BarPanel>& panels);

}  // namespace diacut::bench
