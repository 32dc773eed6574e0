#include "diacut/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "diacut/errors.hpp"
#include "region/arcs/borders.hpp"
#include "region/cuts/leaf_cut.hpp"
#include "region/objects/object_features.hpp"

namespace diacut {
namespace {

void check_interval(const char* what, const Interval& interval, double least) {
  if (interval.low <= interval.high && interval.high >= least) return;
  throw ConfigError(
      fmt::format("the {} of objects is from {} to {}, which holds no number of {} or more", what,
                  interval.low, interval.high, least));
}

/// A limit of the area in pixels.
double limit(const std::optional<LeastSize>& size, double pixels, double without) {
  if (!size) return without;
  if (size->unit == LeastSize::Unit::kAutomatic || size->unit == LeastSize::Unit::kSquareMetres ||
      !(size->value >= 0)) {
    throw ConfigError(fmt::format("a limit of the area is {}, expected pixels or a share of them",
                                  to_string(*size)));
  }
  return size->unit == LeastSize::Unit::kShare ? size->value * pixels : size->value;
}

bool within(const Interval& interval, double value) {
  return value >= interval.low && value <= interval.high;
}

/// Conditions in the units of one hierarchy.
struct Limits {
  Interval area;            ///< Pixels.
  std::int64_t most = 0;    ///< The greatest area of interest, pixels.
  bool brightness = false;  ///< Whether the brightness matters.
};

/// Throws as find_objects() does.
Limits limits_of(const Hierarchy& hierarchy, const NodeFigures& figures,
                 const ObjectConditions& conditions, const Image* image) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto leaves_end = figures.area.begin() + 1 + hierarchy.leaves.count;
  const auto pixels =
      static_cast<double>(std::accumulate(figures.area.begin(), leaves_end, std::int64_t{0}));
  Limits limits;
  limits.area = {limit(conditions.least_area, pixels, 0),
                 limit(conditions.greatest_area, pixels, kInfinity)};
  limits.most = static_cast<std::int64_t>(std::min(limits.area.high, pixels));
  limits.brightness =
      conditions.brightness.low != -kInfinity || conditions.brightness.high != kInfinity;
  check_interval("area in pixels", limits.area, 0);
  check_interval("solidity", conditions.solidity, 0);
  check_interval("contrast", conditions.contrast, 0);
  check_interval("brightness", conditions.brightness, -1);
  const bool learned = conditions.score == ObjectScoring::kNuclei;
  if (!limits.brightness && !learned) return limits;
  if (image == nullptr) {
    throw ConfigError(fmt::format("the {} of objects needs an image",
                                  limits.brightness ? "brightness" : "learned score"));
  }
  if (image->width != hierarchy.leaves.width || image->height != hierarchy.leaves.height) {
    throw InputError(
        fmt::format("the image has {} x {} pixels, its hierarchy {} x {}; they must be of one size",
                    image->width, image->height, hierarchy.leaves.width, hierarchy.leaves.height));
  }
  return limits;
}

/// The nodes that meet all conditions, by node.
std::vector<char> candidates(const ObjectConditions& conditions, const Limits& limits,
                             const NodeFigures& figures, const std::vector<double>& solidity,
                             const std::optional<NodeMeasures>& measures) {
  std::vector<char> met(figures.area.size(), 0);
  for (std::size_t node = 1; node < met.size(); ++node) {
    const double contrast = figures.contrast[node];
    met[node] =
        contrast >= 0 && within(limits.area, static_cast<double>(figures.area[node])) &&
        within(conditions.solidity, solidity[node]) && within(conditions.contrast, contrast) &&
        (!limits.brightness || within(conditions.brightness, measures->above_sibling(node)));
  }
  return met;
}

/// The best nodes by the learned score, with the polarity that gives the greater sum.
std::vector<std::int32_t> best_nuclei(const Hierarchy& hierarchy, const NodeMeasures& measures,
                                      const std::vector<char>& met, const Interval& brightness) {
  const ObjectModel& model = nuclei_model();
  std::vector<std::int32_t> best;
  double best_sum = 0;
  for (const Polarity polarity : {Polarity::kBright, Polarity::kDark}) {
    if (polarity == Polarity::kBright ? brightness.high < 0 : brightness.low > 0) continue;
    std::vector<double> score(met.size(), 0.0);
    for (std::size_t node = 1; node < met.size(); ++node) {
      if (met[node] == 0) continue;
      score[node] = model.probability(measures.features(node, polarity)) - model.least;
    }
    std::vector<std::int32_t> nodes = best_nodes(hierarchy, score);
    double sum = 0;
    for (const std::int32_t node : nodes) sum += score[node];
    if (sum > best_sum) {
      best_sum = sum;
      best = std::move(nodes);
    }
  }
  return best;
}

}  // namespace

std::vector<std::int32_t> best_nodes(const Hierarchy& hierarchy, const std::vector<double>& score) {
  const auto leaves = static_cast<std::size_t>(hierarchy.leaves.count);
  std::vector<double> best(score.size(), 0.0);
  std::vector<char> chosen(score.size(), 0);
  for (std::size_t node = 1; node < score.size(); ++node) {
    if (node > leaves) {
      const Merge& merge = hierarchy.merges[node - leaves - 1];
      best[node] = best[merge.first] + best[merge.second];
    }
    if (score[node] <= 0 || score[node] < best[node]) continue;
    best[node] = score[node];
    chosen[node] = 1;
  }
  // From the roots down: what lies below a chosen node, or below such a one, is not chosen.
  std::vector<char> covered(score.size(), 0);
  std::vector<std::int32_t> nodes;
  for (std::size_t node = score.size(); node-- > 1;) {
    if (covered[node] == 0 && chosen[node] != 0) nodes.push_back(static_cast<std::int32_t>(node));
    if (node <= leaves) continue;
    const Merge& merge = hierarchy.merges[node - leaves - 1];
    covered[merge.first] = covered[merge.second] = covered[node] != 0 || chosen[node] != 0 ? 1 : 0;
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

ObjectConditions nuclei_conditions() {
  ObjectConditions conditions;
  conditions.least_area = LeastSize{LeastSize::Unit::kPixels, 15};
  conditions.greatest_area = LeastSize{LeastSize::Unit::kPixels, 8000};
  conditions.solidity = {};
  conditions.contrast = {};
  conditions.score = ObjectScoring::kNuclei;
  return conditions;
}

Labels find_objects(const Hierarchy& hierarchy, const ObjectConditions& conditions,
                    const Image* image, std::vector<std::string>& notes) {
  const NodeFigures figures = node_figures(hierarchy);
  const Limits limits = limits_of(hierarchy, figures, conditions, image);
  const std::vector<double> solidity = node_solidity(hierarchy, figures.area, limits.most);
  const bool learned = conditions.score == ObjectScoring::kNuclei;
  std::optional<NodeMeasures> measures;
  if (limits.brightness || learned) measures.emplace(hierarchy, figures, solidity, *image);
  const std::vector<char> met = candidates(conditions, limits, figures, solidity, measures);
  std::vector<std::int32_t> nodes;
  if (learned) {
    nodes = best_nuclei(hierarchy, *measures, met, conditions.brightness);
  } else {
    std::vector<double> score(met.size(), 0.0);
    for (std::size_t node = 1; node < met.size(); ++node) {
      if (met[node] != 0) score[node] = figures.contrast[node] * solidity[node];
    }
    nodes = best_nodes(hierarchy, score);
  }
  Labels objects = labels_of_nodes(hierarchy, nodes);
  if (objects.count == 0) {
    notes.push_back(
        "There is no object: no region of the hierarchy meets the conditions, so all labels are 0. "
        "Wider ranges may find some.");
  }
  return objects;
}

Labels objects_of_regions(const Labels& regions, std::span<const float> inside,
                          const RegionParameters& parameters, std::vector<std::string>& notes) {
  const std::vector<double> sums = inside_sums(regions, inside);
  const std::vector<std::int64_t> areas = region_sizes(regions);
  const std::int64_t least =
      least_pixels(parameters, std::accumulate(areas.begin(), areas.end(), std::int64_t{0}));
  std::vector<std::int32_t> label_of(areas.size(), 0);
  Labels objects{regions.width, regions.height, 0, {}};
  for (std::size_t region = 1; region < areas.size(); ++region) {
    const auto area = static_cast<double>(areas[region]);
    if (areas[region] < least || !(sums[region] * kInsideStep > parameters.inside * area)) continue;
    label_of[region] = static_cast<std::int32_t>(++objects.count);
  }
  objects.values = relabelled(regions.values, label_of);
  if (objects.count == 0) {
    notes.push_back(
        fmt::format("There is no object: the network finds the inside of none in the picture, so "
                    "all labels are 0. A smaller region.inside, which is {:.2g}, may find some.",
                    parameters.inside));
  }
  return objects;
}

}  // namespace diacut
