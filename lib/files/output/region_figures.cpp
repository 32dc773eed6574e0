#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "core/parallel.hpp"
#include "diacut/region_table.hpp"
#include "output/format.hpp"

namespace diacut {
namespace {

/// The pixels of a region as they are met, by their places from the first one.
struct Sums {
  int left = 0, right = 0, top = 0, bottom = 0;
  int first_x = 0;
  std::int64_t area = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
};

void add_pixel(Sums& sums, int x, int y) {
  if (sums.area++ == 0) {
    sums.left = sums.right = sums.first_x = x;
    sums.top = y;
  }
  sums.left = std::min(sums.left, x);
  sums.right = std::max(sums.right, x);
  sums.bottom = y;
  const std::int64_t column = x - sums.first_x;
  const std::int64_t row = y - sums.top;
  sums.x += column;
  sums.y += row;
  sums.xx += column * column;
  sums.xy += column * row;
  sums.yy += row * row;
}

/// Second moments about the centroid, divided by the area: of columns, of both, of rows.
std::array<double, 3> central_moments(const Sums& sums) {
  // From the pixel next to the centroid on, sums of integers are exact and differences small.
  const std::int64_t n = sums.area;
  const std::int64_t to_x = sums.x / n;
  const std::int64_t to_y = sums.y / n;
  const auto x = static_cast<double>(sums.x - n * to_x);
  const auto y = static_cast<double>(sums.y - n * to_y);
  const auto area = static_cast<double>(n);
  const auto about = [&](std::int64_t sum, std::int64_t at_a, std::int64_t sum_a, std::int64_t at_b,
                         std::int64_t sum_b, double shift) {
    return (static_cast<double>(sum - at_a * sum_b - at_b * sum_a + n * at_a * at_b) -
            shift / area) /
           area;
  };
  return {about(sums.xx, to_x, sums.x, to_x, sums.x, x * x),
          about(sums.xy, to_x, sums.x, to_y, sums.y, x * y),
          about(sums.yy, to_y, sums.y, to_y, sums.y, y * y)};
}

/// The eccentricity and orientation of regionprops(). There the inertia tensor has the moment of
/// the columns first and the negative mixed one.
void set_ellipse(const Sums& sums, RegionFigures& region) {
  const auto [columns, mixed, rows] = central_moments(sums);
  const double middle = (columns + rows) / 2;
  const double apart = std::hypot((columns - rows) / 2, mixed);
  const double longer = middle + apart;
  const double shorter = std::max(middle - apart, 0.0);
  region.eccentricity = longer > 0 ? std::sqrt(1 - shorter / longer) : 0;
  const double quarter = std::acos(-1.0) / 4;
  region.orientation = columns == rows ? (mixed > 0 ? quarter : -quarter)
                                       : 0.5 * std::atan2(2 * mixed, rows - columns);
}

RegionFigures figures(const Sums& sums) {
  RegionFigures region;
  const auto area = static_cast<double>(sums.area);
  region.area = sums.area;
  if (sums.area == 0) return region;
  region.x = sums.left;
  region.y = sums.top;
  region.width = sums.right - sums.left + 1;
  region.height = sums.bottom - sums.top + 1;
  region.centroid_x = sums.first_x + static_cast<double>(sums.x) / area;
  region.centroid_y = sums.top + static_cast<double>(sums.y) / area;
  region.equivalent_diameter = std::sqrt(4 * area / std::acos(-1.0));
  set_ellipse(sums, region);
  return region;
}

ChannelFigures channel_figures(std::vector<double>& values) {
  ChannelFigures figures;
  figures.count = static_cast<std::int64_t>(values.size());
  if (values.empty()) return figures;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) figures.sum += value;
  // Less the first value, so that a flat region has a deviation of exactly 0.
  const double first = values.front();
  double above = 0;
  for (const double value : values) above += value - first;
  above /= count;
  figures.mean = first + above;
  double squares = 0;
  for (const double value : values) {
    const double difference = value - first - above;
    squares += difference * difference;
  }
  figures.deviation = std::sqrt(squares / count);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  figures.least = *least;
  figures.greatest = *greatest;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  figures.median = *middle;
  if (values.size() % 2 == 0) {
    figures.median = (figures.median + *std::max_element(values.begin(), middle)) / 2;
  }
  return figures;
}

std::int64_t length(std::span<const Corner> ring) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& next = ring[(i + 1) % ring.size()];
    sum += std::abs(next.x - ring[i].x) + std::abs(next.y - ring[i].y);
  }
  return sum;
}

/// The perimeters of regions as regionprops() has them (K. Benkrid and D. Crookes, Design and FPGA
/// implementation of a perimeter estimator, 2000): of each pixel of a region's border, by how many
/// of its neighbours by a side and by a corner are of that border too.
std::vector<double> perimeters(const Labels& labels) {
  const int width = labels.width;
  const auto at = [&](int x, int y) {
    const bool inside = x >= 0 && y >= 0 && x < width && y < labels.height;
    return inside ? labels.values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                                  static_cast<std::size_t>(x)]
                  : 0;
  };
  const auto is_border = [&](int x, int y, std::int32_t label) {
    return at(x, y) == label && (at(x - 1, y) != label || at(x + 1, y) != label ||
                                 at(x, y - 1) != label || at(x, y + 1) != label);
  };
  std::vector<double> sums(static_cast<std::size_t>(labels.count) + 1, 0);
  for (int y = 0; y < labels.height; ++y) {
    for (int x = 0; x < width; ++x) {
      const std::int32_t label = at(x, y);
      if (label == 0 || !is_border(x, y, label)) continue;
      int sides = 0;
      int corners = 0;
      for (const int off : {-1, 1}) {
        sides += int{is_border(x + off, y, label)} + int{is_border(x, y + off, label)};
        corners +=
            int{is_border(x + off, y + off, label)} + int{is_border(x + off, y - off, label)};
      }
      const bool straight = (sides == 2 || sides == 3) && corners <= 2;
      const bool slanted = (sides == 0 && corners == 2) || (sides == 1 && corners == 3);
      const bool turning = sides == 1 && (corners == 1 || corners == 2);
      sums[static_cast<std::size_t>(label)] += straight  ? 1
                                               : slanted ? std::numbers::sqrt2
                                               : turning ? (1 + std::numbers::sqrt2) / 2
                                                         : 0;
    }
  }
  return sums;
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
  std::map<std::pair<std::int32_t, std::int32_t>, Neighbours> found;
  sides(labels, [&](std::size_t i, std::size_t j, std::size_t side) {
    const auto [first, second] = std::minmax(labels.values[i], labels.values[j]);
    if (first == 0 || first == second) return;
    const float height = heights.empty() ? -1.0F : heights[side];
    Neighbours& pair =
        found.try_emplace({first, second}, Neighbours{first, second, 0, height}).first->second;
    ++pair.length;
    pair.merge_height = std::min(pair.merge_height, height);
  });
  std::vector<Neighbours> neighbours;
  for (const auto& [key, pair] : found) neighbours.push_back(pair);
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

}  // namespace

RegionTable measure_regions(const Labels& labels, const Outlines& outlines,
                            const Hierarchy* hierarchy) {
  if (hierarchy != nullptr) {
    check_one_size("hierarchy", hierarchy->leaves.width, hierarchy->leaves.height, "labels",
                   labels.width, labels.height);
  }
  RegionTable table;
  table.has_heights = hierarchy != nullptr;
  std::vector<Sums> sums(static_cast<std::size_t>(labels.count) + 1);
  std::size_t pixel = 0;
  for (int y = 0; y < labels.height; ++y) {
    for (int x = 0; x < labels.width; ++x) {
      const std::int32_t label = labels.values[pixel++];
      if (label != 0) add_pixel(sums[static_cast<std::size_t>(label)], x, y);
    }
  }
  const std::vector<double> perimeters_of = perimeters(labels);
  table.regions.reserve(static_cast<std::size_t>(labels.count));
  for (std::int64_t label = 1; label <= labels.count; ++label) {
    RegionFigures& region =
        table.regions.emplace_back(figures(sums[static_cast<std::size_t>(label)]));
    region.label = label;
    if (region.area == 0) continue;
    region.perimeter = perimeters_of[static_cast<std::size_t>(label)];
    for (const Ring& ring : outlines.of(label)) region.sides += length(outlines.of(ring));
    region.solidity = static_cast<double>(region.area) / hull_area(outlines, label);
  }
  table.neighbours = find_neighbours(labels, hierarchy);
  if (table.has_heights) set_heights(table);
  return table;
}

ChannelMeter::ChannelMeter(const Labels& labels)
    : labels_(labels), first_(static_cast<std::size_t>(labels.count) + 2, 0) {
  for (const std::int32_t label : labels.values) ++first_[static_cast<std::size_t>(label) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  pixels_.resize(labels.values.size());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < pixels_.size(); ++i) {
    pixels_[next[static_cast<std::size_t>(labels.values[i])]++] = i;
  }
}

MeasuredChannel ChannelMeter::measure(Channel&& channel) const {
  check_one_size("channel", channel.width, channel.height, "labels", labels_.width, labels_.height);
  MeasuredChannel measured{std::move(channel.name), {}};
  measured.regions.resize(static_cast<std::size_t>(labels_.count));
  parallel_ranges(measured.regions.size(), 64, [&](std::size_t begin, std::size_t end) {
    std::vector<double> values;
    for (std::size_t region = begin; region < end; ++region) {
      values.clear();
      for (std::size_t k = first_[region + 1]; k < first_[region + 2]; ++k) {
        const double value = channel.values[pixels_[k]];
        if (std::isfinite(value)) values.push_back(value);
      }
      measured.regions[region] = channel_figures(values);
    }
  });
  return measured;
}

}  // namespace diacut
