#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diacut/labels.hpp"
#include "map/scene.hpp"

namespace diacut {

/// What a band holds in a region. Values are summed less the first one that was met, so that a flat
/// region has a deviation of exactly 0.
struct BandFigures {
  std::int64_t count = 0;  ///< The region's pixels with data in the band.
  double first = 0;
  double sum = 0;      ///< Of the values less the first.
  double squares = 0;  ///< Of the same.
  double least = 0;
  double greatest = 0;

  double mean() const;
  /// The standard deviation of the pixels (divided by their number).
  double deviation() const;
};

/// Adds rows of bands to the figures of regions, which are laid out as measure_bands() gives them.
/// `labels`: of the same rows, of this width.
void add_rows(const BandRows& rows, std::size_t width, const std::int32_t* labels,
              std::vector<BandFigures>& figures);

/// The figures of each band of a scene in each region, region after region: those of region L in
/// the k-th of scene.bands() are at (L - 1) * bands + k. Reads the scene once. Throws InputError.
std::vector<BandFigures> measure_bands(const Scene& scene, const Labels& labels);

}  // namespace diacut
