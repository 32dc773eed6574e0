#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <tuple>

#include "diacut/errors.hpp"
#include "diacut/region_table.hpp"

namespace diacut {
namespace {

/// The pixels of a region as they are met. Values are summed less the first one that was met, so
/// that a flat region has a deviation of exactly 0.
struct Sums {
  int left = 0, right = 0, top = 0, bottom = 0;
  std::int64_t area = 0, x = 0, y = 0;
  std::vector<double> first, value, square;
};

void add_pixel(Sums& sums, int x, int y, const float* values, int bands) {
  if (sums.area++ == 0) {
    sums.left = sums.right = x;
    sums.top = y;
    sums.first.assign(values, values + bands);
    sums.value.assign(static_cast<std::size_t>(bands), 0);
    sums.square = sums.value;
  }
  sums.left = std::min(sums.left, x);
  sums.right = std::max(sums.right, x);
  sums.bottom = y;
  sums.x += x;
  sums.y += y;
  for (std::size_t b = 0; b < sums.first.size(); ++b) {
    const double value = values[b] - sums.first[b];
    sums.value[b] += value;
    sums.square[b] += value * value;
  }
}

RegionFigures figures(const Sums& sums) {
  RegionFigures region;
  const auto area = static_cast<double>(sums.area);
  region.area = sums.area;
  region.x = sums.left;
  region.y = sums.top;
  region.width = sums.right - sums.left + 1;
  region.height = sums.bottom - sums.top + 1;
  region.centroid_x = static_cast<double>(sums.x) / area;
  region.centroid_y = static_cast<double>(sums.y) / area;
  for (std::size_t b = 0; b < sums.first.size(); ++b) {
    const double mean = sums.value[b] / area;
    region.mean.push_back(sums.first[b] + mean);
    region.deviation.push_back(std::sqrt(std::max(sums.square[b] / area - mean * mean, 0.0)));
  }
  return region;
}

std::int64_t length(std::span<const Corner> ring) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& next = ring[(i + 1) % ring.size()];
    sum += std::abs(next.x - ring[i].x) + std::abs(next.y - ring[i].y);
  }
  return sum;
}

/// The area of the convex hull of a region's corners.
double hull_area(const Outlines& outlines, std::int64_t label) {
  std::vector<cv::Point> points;
  for (const Ring& ring : outlines.of(label)) {
    if (ring.hole) continue;
    for (const Corner& corner : outlines.of(ring)) points.emplace_back(corner.x, corner.y);
  }
  std::vector<cv::Point> hull;
  cv::convexHull(points, hull);
  return cv::contourArea(hull);
}

/// A side that two pixels of different regions share.
struct Side {
  std::int32_t first, second;
  float height;
};

/// Calls visit(pixel, its neighbour, where a doubled grid has the side between them) for each pixel
/// and its right and its lower neighbour.
template <class Visit>
void sides(const Labels& labels, const Visit& visit) {
  const auto width = static_cast<std::size_t>(labels.width);
  const std::size_t doubled = 2 * width + 1;
  for (std::size_t y = 0; y < static_cast<std::size_t>(labels.height); ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t i = y * width + x;
      if (x + 1 < width) visit(i, i + 1, (2 * y + 1) * doubled + 2 * x + 2);
      if (i + width < labels.values.size()) visit(i, i + width, (2 * y + 2) * doubled + 2 * x + 1);
    }
  }
}

std::vector<Neighbours> find_neighbours(const Labels& labels, const Hierarchy* hierarchy) {
  std::vector<float> heights;
  if (hierarchy != nullptr) heights = ultrametric_map(*hierarchy);
  std::vector<Side> found;
  sides(labels, [&](std::size_t i, std::size_t j, std::size_t side) {
    const auto [first, second] = std::minmax(labels.values[i], labels.values[j]);
    if (first == 0 || first == second) return;
    found.push_back({first, second, heights.empty() ? -1.0F : heights[side]});
  });
  std::sort(found.begin(), found.end(), [](const Side& a, const Side& b) {
    return std::tie(a.first, a.second, a.height) < std::tie(b.first, b.second, b.height);
  });
  std::vector<Neighbours> neighbours;
  for (const Side& side : found) {
    if (neighbours.empty() || neighbours.back().first != side.first ||
        neighbours.back().second != side.second) {
      neighbours.push_back({side.first, side.second, 0, side.height});
    }
    ++neighbours.back().length;
  }
  return neighbours;
}

/// Sets the merge height of each region: the least of those to its neighbours.
void set_heights(RegionTable& table) {
  for (RegionFigures& region : table.regions) {
    region.merge_height = std::numeric_limits<float>::infinity();
  }
  for (const Neighbours& pair : table.neighbours) {
    for (const std::int32_t label : {pair.first, pair.second}) {
      float& height = table.regions[static_cast<std::size_t>(label) - 1].merge_height;
      height = std::min(height, pair.merge_height);
    }
  }
}

void check_size(const Labels& labels, int width, int height, const char* what) {
  if (width == labels.width && height == labels.height) return;
  throw InputError(
      fmt::format("the {} has {} x {} pixels, its labels {} x {}; they must be of one "
                  "size",
                  what, width, height, labels.width, labels.height));
}

}  // namespace

RegionTable measure_regions(const Labels& labels, const Outlines& outlines, const Image* image,
                            const Hierarchy* hierarchy) {
  if (image != nullptr) check_size(labels, image->width, image->height, "image");
  if (hierarchy != nullptr) {
    check_size(labels, hierarchy->leaves.width, hierarchy->leaves.height, "hierarchy");
  }
  RegionTable table;
  table.bands = image != nullptr ? image->channels : 0;
  table.has_heights = hierarchy != nullptr;
  std::vector<Sums> sums(static_cast<std::size_t>(labels.count) + 1);
  std::size_t pixel = 0;
  for (int y = 0; y < labels.height; ++y) {
    for (int x = 0; x < labels.width; ++x, ++pixel) {
      const std::int32_t label = labels.values[pixel];
      if (label == 0) continue;
      const float* values = image != nullptr
                                ? &image->pixels[pixel * static_cast<std::size_t>(table.bands)]
                                : nullptr;
      add_pixel(sums[static_cast<std::size_t>(label)], x, y, values, table.bands);
    }
  }
  table.regions.reserve(static_cast<std::size_t>(labels.count));
  for (std::int64_t label = 1; label <= labels.count; ++label) {
    RegionFigures& region =
        table.regions.emplace_back(figures(sums[static_cast<std::size_t>(label)]));
    for (const Ring& ring : outlines.of(label)) region.perimeter += length(outlines.of(ring));
    region.solidity = static_cast<double>(region.area) / hull_area(outlines, label);
  }
  table.neighbours = find_neighbours(labels, hierarchy);
  if (table.has_heights) set_heights(table);
  return table;
}

}  // namespace diacut
