#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "diacut/labels.hpp"

/// @file
/// The boundaries of regions as closed polygons along the sides of pixels.
namespace diacut {

/// A corner of a pixel: pixel (x, y) has (x, y), (x + 1, y), (x + 1, y + 1) and (x, y + 1).
struct Corner {
  std::int32_t x = 0;  ///< To the right, 0 to the image's width.
  std::int32_t y = 0;  ///< Downwards, 0 to the image's height.
  /// Compares both coordinates.
  bool operator==(const Corner&) const = default;
};

/// A closed polygon in Outlines::corners.
struct Ring {
  std::int32_t region = 0;  ///< The region's label, 1 or more.
  std::int32_t piece = 0;   ///< The 4-connected piece of the region, 1 or more in scan order.
  bool hole = false;        ///< Whether it bounds a hole of the piece, else the piece itself.
  std::size_t first = 0;    ///< Index of its first corner.
  std::size_t count = 0;    ///< Number of its corners; the first is not repeated at the end.
};

/// The outlines of all regions. Each 4-connected piece of a region has one outer ring, followed by
/// a ring for each 4-connected part of what it encloses. Filling the rings of a region by the
/// even-odd rule gives its pixels back, exactly. Rings are simple: none meets a corner twice. Two
/// rings of one piece may share a corner, as the simple-feature rules allow. Along a ring the
/// region lies on the right as the image is seen, so that x_i y_(i+1) - x_(i+1) y_i, summed over
/// the ring, is twice its area for an outer ring and negative for a hole. Every corner is a turn.
struct Outlines {
  int width = 0;                ///< Width of the image, pixels.
  int height = 0;               ///< Height of the image, pixels.
  std::vector<Corner> corners;  ///< The corners of all rings.
  std::vector<Ring> rings;      ///< By region, then piece; an outer ring before its holes.
  /// rings[first_ring[label]] to before rings[first_ring[label + 1]] are those of a region. It has
  /// count + 2 elements.
  std::vector<std::size_t> first_ring;

  /// The rings of region `label`, 1 to count; they live as long as the outlines.
  std::span<const Ring> of(std::int64_t label) const {
    const auto at = static_cast<std::size_t>(label);
    return {rings.data() + first_ring[at], first_ring[at + 1] - first_ring[at]};
  }
  /// The corners of a ring; they live as long as the outlines.
  std::span<const Corner> of(const Ring& ring) const {
    return {corners.data() + ring.first, ring.count};
  }
};

/// Traces the outlines of all regions in one scan. Time and memory grow with the pixels. A region
/// may lie in several pieces. Pixels of label 0 have no outline.
Outlines trace_outlines(const Labels& labels);

/// Removes corners from outlines, those of the smallest triangles first, as long as no removed
/// corner is further than `distance` from the side that replaces it, and no side meets another.
/// Regions stay apart and keep their neighbours, which share every corner of their common boundary.
/// Corners where three regions or more meet, those of the image, and at least three of each ring
/// remain. Filling the rings no longer gives the pixels back. `distance`: in pixels; 0 removes only
/// corners on straight lines. Rings also get the corners where others meet their sides.
Outlines simplify_outlines(const Outlines& outlines, double distance);

}  // namespace diacut
