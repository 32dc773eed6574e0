#include "region/objects/object_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <opencv2/imgproc.hpp>
#include <span>
#include <tuple>

#include "core/embedded_text.hpp"
#include "diacut/errors.hpp"
#include "region/arcs/borders.hpp"
#include "region/common_ancestors.hpp"

namespace diacut {

namespace {

/// Added to the picture's standard deviation, so that a flat one divides nothing by 0: a quarter of
/// a step of 8 bits.
constexpr double kLeastDeviation = 1e-3;

std::vector<double> brightness_of(const Image& image, std::size_t pixels) {
  const auto channels = static_cast<std::size_t>(image.channels);
  std::vector<double> brightness(pixels, 0.0);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t c = 0; c < channels; ++c) brightness[i] += image.pixels[i * channels + c];
    brightness[i] /= static_cast<double>(channels);
  }
  return brightness;
}

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

NodeMeasures::NodeMeasures(const Hierarchy& hierarchy, const NodeFigures& figures,
                           const std::vector<double>& solidity, const Image& image)
    : hierarchy_(hierarchy),
      area_(figures.area),
      solidity_(solidity),
      contrast_(figures.contrast),
      height_(figures.area.size(), 0.0F),
      sibling_(figures.area.size(), 0),
      sums_(figures.area.size()) {
  for (const Merge& merge : hierarchy.merges) {
    height_[merge.first] = height_[merge.second] = merge.height;
    sibling_[merge.first] = merge.second;
    sibling_[merge.second] = merge.first;
  }
  const std::vector<double> brightness = brightness_of(image, hierarchy.leaves.values.size());
  measure_picture(brightness);
  add_pixels(brightness);
  add_sides(brightness);
  // So far a merged node holds less what its own parts share.
  const auto leaves = static_cast<std::size_t>(hierarchy.leaves.count);
  for (std::size_t k = 0; k < hierarchy.merges.size(); ++k) {
    Sums& sums = sums_[leaves + 1 + k];
    for (const std::int32_t child : {hierarchy.merges[k].first, hierarchy.merges[k].second}) {
      const Sums& part = sums_[child];
      sums.brightness += part.brightness;
      sums.squares += part.squares;
      sums.sides += part.sides;
      sums.within += part.within;
      sums.without += part.without;
    }
  }
}

void NodeMeasures::measure_picture(const std::vector<double>& brightness) {
  std::vector<double> known;
  for (std::size_t i = 0; i < brightness.size(); ++i) {
    if (hierarchy_.leaves.values[i] != 0) known.push_back(brightness[i]);
  }
  if (known.empty()) return;
  const double sum = std::accumulate(known.begin(), known.end(), 0.0);
  const double squares = std::inner_product(known.begin(), known.end(), known.begin(), 0.0);
  const auto count = static_cast<double>(known.size());
  deviation_ = std::sqrt(std::max(0.0, squares / count - sum / count * sum / count));
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  median_ = *middle;
}

void NodeMeasures::add_pixels(const std::vector<double>& brightness) {
  for (std::size_t i = 0; i < brightness.size(); ++i) {
    const std::int32_t leaf = hierarchy_.leaves.values[i];
    if (leaf == 0) continue;
    sums_[leaf].brightness += brightness[i];
    sums_[leaf].squares += brightness[i] * brightness[i];
  }
}

void NodeMeasures::add_sides(const std::vector<double>& brightness) {
  const CommonAncestors ancestors(hierarchy_);
  const auto leaves = static_cast<std::size_t>(hierarchy_.leaves.count);
  neighbour_pairs(hierarchy_.leaves, [&](std::size_t i, std::size_t j) {
    const std::int32_t a = hierarchy_.leaves.values[i];
    const std::int32_t b = hierarchy_.leaves.values[j];
    if (a == b || a == 0 || b == 0) return;
    for (const auto& [own, here, there] : {std::tuple(a, brightness[i], brightness[j]),
                                           std::tuple(b, brightness[j], brightness[i])}) {
      sums_[own].sides += 1;
      sums_[own].within += here;
      sums_[own].without += there;
    }
    const std::size_t merge = ancestors.merge_of(a, b);
    if (merge == CommonAncestors::kNever) return;
    Sums& both = sums_[leaves + 1 + merge];
    both.sides -= 2;
    both.within -= brightness[i] + brightness[j];
    both.without -= brightness[i] + brightness[j];
  });
}

ObjectFeatures NodeMeasures::features(std::size_t node, Polarity polarity) const {
  const Sums& sums = sums_[node];
  const auto area = static_cast<double>(area_[node]);
  const double sides = std::max(sums.sides, 1.0);
  const double sign = polarity == Polarity::kBright ? 1 : -1;
  const double own = mean(node);
  const double surroundings = sums.without / sides;
  const double scale = deviation_ + kLeastDeviation;
  const double perimeter = sides * std::numbers::pi / 4;
  return {contrast_[node],
          height_[node],
          solidity_[node],
          std::log(area),
          sign * above_sibling(node),
          sign * (sums.within - sums.without) / sides,
          sign * (own - surroundings),
          std::sqrt(std::max(0.0, sums.squares / area - own * own)),
          sign * (own - median_) / scale,
          sign * (own - surroundings) / scale,
          sign * (surroundings - median_) / scale,
          4 * std::numbers::pi * area / (perimeter * perimeter)};
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ObjectModel, least, bias, mean, deviation, weights, products)

double ObjectModel::probability(const ObjectFeatures& features) const {
  ObjectFeatures scaled{};
  for (std::size_t i = 0; i < kObjectFeatures; ++i) {
    scaled[i] =
        std::clamp((features[i] - mean[i]) / deviation[i], -kMostDeviations, kMostDeviations);
  }
  double logit = bias;
  std::size_t product = 0;
  for (std::size_t i = 0; i < kObjectFeatures; ++i) {
    logit += weights[i] * scaled[i];
    for (std::size_t j = i; j < kObjectFeatures; ++j) {
      logit += products[product++] * scaled[i] * scaled[j];
    }
  }
  return 1 / (1 + std::exp(-logit));
}

ObjectModel parse_object_model(const std::string& text, const std::string& name) {
  const nlohmann::json root = nlohmann::json::parse(text);
  if (root.at("features") != nlohmann::json(kObjectFeatureNames)) {
    throw ConfigError(
        fmt::format("the score of objects '{}': its features are not those of "
                    "lib/vision/region/objects/object_features.hpp; expected a file as "
                    "configs/objects-nuclei.json",
                    name));
  }
  return root.get<ObjectModel>();
}

const ObjectModel& nuclei_model() {
  static const ObjectModel model = [] {
    const EmbeddedText& file = embedded_objects().front();
    return parse_object_model(std::string(file.text), std::string(file.name));
  }();
  return model;
}

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
