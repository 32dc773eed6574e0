#include "region/node_figures.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <opencv2/imgproc.hpp>
#include <span>

#include "region/borders.hpp"

namespace diacut {
namespace {

/// A convex polygon of corners of pixels.
using Hull = std::vector<cv::Point>;

Hull convex_hull(const std::vector<cv::Point>& points) {
  Hull hull;
  cv::convexHull(points, hull);
  return hull;
}

/// The hulls of the leaves of at most `most` pixels, by leaf.
std::vector<Hull> leaf_hulls(const Labels& leaves, const std::vector<std::int64_t>& area,
                             std::int64_t most) {
  std::vector<Hull> hulls(static_cast<std::size_t>(leaves.count) + 1);
  const auto width = static_cast<std::size_t>(leaves.width);
  for (int y = 0; y < leaves.height; ++y) {
    const auto row = std::span(leaves.values).subspan(static_cast<std::size_t>(y) * width, width);
    each_run(row, [&](std::int32_t leaf, std::size_t begin, std::size_t end) {
      if (leaf == 0 || area[leaf] > most) return;
      for (const std::size_t x : {begin, end}) {
        hulls[leaf].emplace_back(static_cast<int>(x), y);
        hulls[leaf].emplace_back(static_cast<int>(x), y + 1);
      }
    });
  }
  for (Hull& corners : hulls) {
    if (!corners.empty()) corners = convex_hull(corners);
  }
  return hulls;
}

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
  std::vector<Hull> hulls = leaf_hulls(hierarchy.leaves, area, most);
  hulls.resize(area.size());
  const auto measure = [&](std::size_t node) {
    solidity[node] = static_cast<double>(area[node]) / cv::contourArea(hulls[node]);
  };
  for (std::size_t leaf = 1; leaf <= leaves; ++leaf) {
    if (area[leaf] <= most) measure(leaf);
  }
  for (std::size_t k = 0; k < hierarchy.merges.size(); ++k) {
    const Merge& merge = hierarchy.merges[k];
    const std::size_t node = leaves + 1 + k;
    if (area[node] <= most) {
      Hull both = hulls[merge.first];
      both.insert(both.end(), hulls[merge.second].begin(), hulls[merge.second].end());
      hulls[node] = convex_hull(both);
      measure(node);
    }
    // Each node has one parent: its hull is not needed again.
    hulls[merge.first] = Hull();
    hulls[merge.second] = Hull();
  }
  return solidity;
}

}  // namespace diacut
