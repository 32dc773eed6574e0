#include "map/band_figures.hpp"

#include <algorithm>
#include <cmath>

namespace diacut {

double BandFigures::mean() const { return first + sum / static_cast<double>(count); }

double BandFigures::deviation() const {
  const double shift = sum / static_cast<double>(count);
  return std::sqrt(std::max(squares / static_cast<double>(count) - shift * shift, 0.0));
}

namespace {

void add(double value, BandFigures& figures) {
  if (figures.count++ == 0) figures.first = figures.least = figures.greatest = value;
  const double shifted = value - figures.first;
  figures.sum += shifted;
  figures.squares += shifted * shifted;
  figures.least = std::min(figures.least, value);
  figures.greatest = std::max(figures.greatest, value);
}

}  // namespace

std::vector<BandFigures> measure_bands(const Scene& scene, const Labels& labels) {
  const std::vector<int>& bands = scene.bands();
  std::vector<BandFigures> figures(static_cast<std::size_t>(labels.count) * bands.size());
  const int at_once = scene.rows_at_once(bands.size() * (sizeof(double) + 1));
  const auto width = static_cast<std::size_t>(labels.width);
  BandRows rows;
  for (int first = 0; first < labels.height; first += at_once) {
    scene.read_rows(first, std::min(at_once, labels.height - first), bands, rows);
    const std::size_t pixels = static_cast<std::size_t>(rows.rows) * width;
    const std::int32_t* label = labels.values.data() + static_cast<std::size_t>(first) * width;
    for (std::size_t b = 0; b < bands.size(); ++b) {
      const double* values = rows.values.data() + b * pixels;
      const std::uint8_t* valid = rows.valid.data() + b * pixels;
      for (std::size_t i = 0; i < pixels; ++i) {
        if (label[i] == 0 || valid[i] == 0) continue;
        add(values[i], figures[static_cast<std::size_t>(label[i] - 1) * bands.size() + b]);
      }
    }
  }
  return figures;
}

}  // namespace diacut
