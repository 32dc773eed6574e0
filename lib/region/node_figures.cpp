#include "region/node_figures.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>

#include "region/borders.hpp"

namespace diacut {
namespace {

/// A point of the grid of pixels' corners, at most 2^30 from the origin.
struct GridPoint {
  std::int32_t y = 0;
  std::int32_t x = 0;
  auto operator<=>(const GridPoint&) const = default;
};

/// The vertices of a convex polygon in the order of (y, x).
using Hull = std::vector<GridPoint>;

/// Twice the signed area of the triangle a, b, c.
std::int64_t cross(const GridPoint& a, const GridPoint& b, const GridPoint& c) {
  return std::int64_t{b.x - a.x} * (c.y - a.y) - std::int64_t{b.y - a.y} * (c.x - a.x);
}

/// The chain from the first to the last point that turns to one side alone: to the side where
/// `sign` times the cross product is positive.
std::vector<GridPoint> chain(const std::vector<GridPoint>& points, int sign) {
  std::vector<GridPoint> kept;
  for (const GridPoint& point : points) {
    while (kept.size() > 1 && sign * cross(kept[kept.size() - 2], kept.back(), point) <= 0) {
      kept.pop_back();
    }
    if (kept.empty() || kept.back() != point) kept.push_back(point);
  }
  return kept;
}

/// The convex hull of points in the order of (y, x), at least one, by monotone chains (A. M.
/// Andrew, "Another efficient algorithm for convex hulls in two dimensions", 1979), in linear time.
Hull convex_hull(const std::vector<GridPoint>& points) {
  const std::vector<GridPoint> one = chain(points, 1);
  const std::vector<GridPoint> other = chain(points, -1);
  Hull hull;
  hull.reserve(one.size() + other.size());
  std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(hull));
  return hull;
}

/// The convex hull of two hulls together, in linear time.
Hull convex_hull(const Hull& a, const Hull& b) {
  std::vector<GridPoint> points(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), points.begin());
  return convex_hull(points);
}

/// Twice the area of a hull.
std::int64_t twice_area(const Hull& hull) {
  std::int64_t sum = 0;
  // Each chain makes a fan of triangles with the first point; the fans lie on different sides of
  // the line from the first point to the last one.
  for (const int sign : {1, -1}) {
    const std::vector<GridPoint> side = chain(hull, sign);
    for (std::size_t i = 2; i < side.size(); ++i) {
      sum += sign * cross(side.front(), side[i - 1], side[i]);
    }
  }
  return sum;
}

/// The columns of a leaf in one row, from its first one to after its last one.
struct RowOfLeaf {
  std::int32_t y = 0;
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// The rows of all leaves, by leaf, then downwards.
class LeafRows {
 public:
  explicit LeafRows(const Labels& leaves)
      : first_(static_cast<std::size_t>(leaves.count) + 2, 0), last_(first_.size(), kNone) {
    each_pixel(leaves, [&](std::size_t leaf, std::int32_t, std::int32_t y) {
      if (std::exchange(last_[leaf], y) != y) ++first_[leaf + 1];
    });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    rows_.resize(first_.back());
    std::fill(last_.begin(), last_.end(), kNone);
    std::vector<std::size_t> next = first_;
    each_pixel(leaves, [&](std::size_t leaf, std::int32_t x, std::int32_t y) {
      if (std::exchange(last_[leaf], y) != y) rows_[next[leaf]++] = {y, x, x};
      rows_[next[leaf] - 1].end = x + 1;
    });
  }

  Hull hull(std::size_t leaf) const {
    std::vector<GridPoint> points;
    for (std::size_t k = first_[leaf]; k < first_[leaf + 1]; ++k) {
      const RowOfLeaf& row = rows_[k];
      // The lower corners of a row and the upper ones of the next have one y.
      const bool follows = k > first_[leaf];
      const std::int32_t begin = follows ? std::min(rows_[k - 1].begin, row.begin) : row.begin;
      const std::int32_t end = follows ? std::max(rows_[k - 1].end, row.end) : row.end;
      points.push_back({row.y, begin});
      points.push_back({row.y, end});
    }
    const RowOfLeaf& last = rows_[first_[leaf + 1] - 1];
    points.push_back({last.y + 1, last.begin});
    points.push_back({last.y + 1, last.end});
    return convex_hull(points);
  }

 private:
  static constexpr std::int32_t kNone = -1;

  template <class Visit>
  static void each_pixel(const Labels& leaves, const Visit& visit) {
    std::size_t i = 0;
    for (std::int32_t y = 0; y < leaves.height; ++y) {
      for (std::int32_t x = 0; x < leaves.width; ++x, ++i) {
        if (leaves.values[i] != 0) visit(static_cast<std::size_t>(leaves.values[i]), x, y);
      }
    }
  }

  std::vector<std::size_t> first_;
  std::vector<RowOfLeaf> rows_;
  std::vector<std::int32_t> last_;
};

}  // namespace

NodeFigures node_figures(const Hierarchy& hierarchy) {
  const auto leaves = static_cast<std::size_t>(hierarchy.leaves.count);
  NodeFigures figures;
  figures.area = region_sizes(hierarchy.leaves);
  figures.area.resize(leaves + 1 + hierarchy.merges.size());
  figures.contrast.assign(figures.area.size(), -1.0F);
  const auto made_at = [&](std::int32_t node) {
    const auto index = static_cast<std::size_t>(node);
    return index <= leaves ? 0.0F : hierarchy.merges[index - leaves - 1].height;
  };
  for (std::size_t k = 0; k < hierarchy.merges.size(); ++k) {
    const Merge& merge = hierarchy.merges[k];
    figures.area[leaves + 1 + k] = figures.area[merge.first] + figures.area[merge.second];
    for (const std::int32_t child : {merge.first, merge.second}) {
      figures.contrast[child] = merge.height - made_at(child);
    }
  }
  return figures;
}

std::vector<double> node_solidity(const Hierarchy& hierarchy, const std::vector<std::int64_t>& area,
                                  std::int64_t most) {
  const auto leaves = static_cast<std::size_t>(hierarchy.leaves.count);
  std::vector<double> solidity(area.size(), 0.0);
  std::vector<Hull> hulls(area.size());
  const auto measure = [&](std::size_t node) {
    solidity[node] =
        2 * static_cast<double>(area[node]) / static_cast<double>(twice_area(hulls[node]));
  };
  const LeafRows rows(hierarchy.leaves);
  for (std::size_t leaf = 1; leaf <= leaves; ++leaf) {
    if (area[leaf] > most) continue;
    hulls[leaf] = rows.hull(leaf);
    measure(leaf);
  }
  for (std::size_t k = 0; k < hierarchy.merges.size(); ++k) {
    const Merge& merge = hierarchy.merges[k];
    const std::size_t node = leaves + 1 + k;
    if (area[node] <= most) {
      hulls[node] = convex_hull(hulls[merge.first], hulls[merge.second]);
      measure(node);
    }
    // Each node has one parent: its hull is not needed again.
    hulls[merge.first] = Hull();
    hulls[merge.second] = Hull();
  }
  return solidity;
}

std::vector<double> node_brightness(const Hierarchy& hierarchy,
                                    const std::vector<std::int64_t>& area, const Image& image) {
  const auto leaves = static_cast<std::size_t>(hierarchy.leaves.count);
  const auto channels = static_cast<std::size_t>(image.channels);
  std::vector<double> sum(area.size(), 0.0);
  for (std::size_t i = 0; i < hierarchy.leaves.values.size(); ++i) {
    const std::int32_t leaf = hierarchy.leaves.values[i];
    if (leaf == 0) continue;
    for (std::size_t c = 0; c < channels; ++c) sum[leaf] += image.pixels[i * channels + c];
  }
  std::vector<double> brighter(area.size(), 0.0);
  for (std::size_t k = 0; k < hierarchy.merges.size(); ++k) {
    const Merge& merge = hierarchy.merges[k];
    const auto mean = [&](std::int32_t node) {
      return sum[node] / (static_cast<double>(area[node]) * image.channels);
    };
    brighter[merge.first] = mean(merge.first) - mean(merge.second);
    brighter[merge.second] = -brighter[merge.first];
    sum[leaves + 1 + k] = sum[merge.first] + sum[merge.second];
  }
  return brighter;
}

}  // namespace diacut
