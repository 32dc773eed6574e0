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

void add_rows(const BandRows& rows, std::size_t width, const std::int32_t* labels,
              std::vector<BandFigures>& figures) {
  const std::size_t pixels = static_cast<std::size_t>(rows.rows) * width;
  const std::size_t bands = rows.values.size() / pixels;
  for (std::size_t b = 0; b < bands; ++b) {
    const double* values = rows.values.data() + b * pixels;
    const std::uint8_t* valid = rows.valid.data() + b * pixels;
    for (std::size_t i = 0; i < pixels; ++i) {
      if (labels[i] == 0 || valid[i] == 0) continue;
      add(values[i], figures[static_cast<std::size_t>(labels[i] - 1) * bands + b]);
    }
  }
}

std::vector<BandFigures> measure_bands(const Scene& scene, const Labels& labels) {
  const std::vector<int>& bands = scene.bands();
  std::vector<BandFigures> figures(static_cast<std::size_t>(labels.count) * bands.size());
  const int at_once = scene.rows_at_once(bands.size() * (sizeof(double) + 1));
  const auto width = static_cast<std::size_t>(labels.width);
  BandRows rows;
  for (int first = 0; first < labels.height; first += at_once) {
    scene.read_rows(first, std::min(at_once, labels.height - first), bands, rows);
    add_rows(rows, width, labels.values.data() + static_cast<std::size_t>(first) * width, figures);
  }
  return figures;
}

}  // namespace diacut
