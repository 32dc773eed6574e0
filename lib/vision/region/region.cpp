#include "region/region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "diacut/errors.hpp"
#include "region/arcs/borders.hpp"
#include "region/arcs/parts.hpp"
#include "region/cuts/leaf_cut.hpp"
#include "region/cuts/region_cutter.hpp"

namespace diacut {

namespace {

/// The most cuts of one region at once.
constexpr int kMaxCuts = 15;
constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();

void check_finite(const Eigenvectors& eigenvectors) {
  for (std::size_t k = 0; k < eigenvectors.vectors.size(); ++k) {
    for (const float value : eigenvectors.vectors[k]) {
      if (!std::isfinite(value)) {
        throw NumericalError(fmt::format(
            "eigenvector {} holds {}: the eigensolver broke down; try --solver spectra", k, value));
      }
    }
  }
}

/// 1 for each pixel that is at least as much alike to its region as to all others, itself aside. A
/// row of pixels on a boundary has hardly any.
std::vector<std::uint8_t> at_home(const Labels& regions, const Eigenvectors& eigenvectors,
                                  const AffinityGraph& graph) {
  const std::vector<double> leaving = leaving_affinity(graph, regions.values);
  std::vector<std::uint8_t> home(leaving.size());
  for (std::size_t i = 0; i < home.size(); ++i) {
    const double root = eigenvectors.sqrt_degree[i];
    home[i] = 2 * leaving[i] <= root * root - 1 ? 1 : 0;
  }
  return home;
}

/// The normalized cut of regions into which the pixels with data are divided.
double normalized_cut(const Labels& regions, const Eigenvectors& eigenvectors,
                      const AffinityGraph& graph) {
  const std::vector<double> leaving = leaving_affinity(graph, regions.values);
  std::vector<double> cut(static_cast<std::size_t>(regions.count) + 1, 0);
  std::vector<double> volume(cut.size(), 0);
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    const double root = eigenvectors.sqrt_degree[i];
    cut[regions.values[i]] += leaving[i];
    volume[regions.values[i]] += root * root;
  }
  double sum = 0;
  for (std::size_t r = 1; r < volume.size(); ++r) {
    if (volume[r] > 0) sum += cut[r] / volume[r];
  }
  return sum;
}

/// The parts that remain in `graph`, numbered in scan order.
Labels apply(const Labels& parts, const PartGraph& graph) {
  return {parts.width, parts.height, graph.count(), relabelled(parts.values, graph.joined())};
}

/// The regions, of which those marked in `cut` are divided into their pieces (see RegionCuts).
/// Where a piece is not connected, each of its parts becomes a region; within one old region, parts
/// of less than `min_size` pixels join another part while more than `at_least` parts remain.
Labels divide(const Labels& regions, const std::vector<char>& cut,
              const std::vector<std::uint8_t>& piece, std::int64_t min_size, std::int32_t at_least,
              const AffinityGraph& graph) {
  std::vector<std::int32_t> classes = regions.values;
  const auto next = static_cast<std::int32_t>(regions.count + 1);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (cut[classes[i]] != 0) classes[i] += piece[i] * next;
  }
  const Labels parts = connected_parts(regions.width, regions.height, classes);
  PartGraph joins(parts, graph.right(), graph.down(), regions.values);
  joins.join_small(min_size, at_least);
  return apply(parts, joins);
}

/// The pixels of a picture for which max_ncut is meant.
constexpr double kUsualPixels = 481.0 * 321.0;

/// The limits of recursive cuts of a picture in which `pixels` pixels have data.
CutLimits limits_of(const RegionParameters& parameters, std::int64_t pixels) {
  // A cut grows as a length and an association as an area, so that shapes in a picture that is
  // twice as wide have half the normalized cut.
  const double scale =
      std::sqrt(kUsualPixels / static_cast<double>(std::max<std::int64_t>(pixels, 1)));
  return {std::max<std::int64_t>(1, least_pixels(parameters, pixels)), parameters.max_ncut * scale,
          parameters.max_flatness, kMaxCuts};
}

/// Cuts, all regions of a level at once, as long as there are cuts within the limits.
Labels cut_recursively(Labels regions, RegionCutter& cutter, const AffinityGraph& graph,
                       const CutLimits& limits, const Watch& watch) {
  // The number of levels is not known beforehand: each level reports half of what is left of the
  // first half of the progress.
  double share = 0;
  std::vector<char> open(static_cast<std::size_t>(regions.count) + 1, 1);
  for (;;) {
    watch.report("regions", share);
    share += 0.5 * (0.5 - share);
    const std::vector<std::int64_t> sizes = region_sizes(regions);
    for (std::int32_t r = 0; r <= regions.count; ++r) {
      if (sizes[r] < 2 * limits.min_side) open[r] = 0;
    }
    if (std::find(open.begin(), open.end(), 1) == open.end()) return regions;
    std::vector<std::int32_t> taking_part(open.size(), 0);
    for (std::int32_t r = 1; r <= regions.count; ++r) taking_part[r] = open[r] != 0 ? r : 0;
    const RegionCuts cuts =
        cutter.best_cuts(relabelled(regions.values, taking_part), regions.count, limits);
    std::vector<char> cut(open.size(), 0);
    std::transform(cuts.ncut.begin(), cuts.ncut.end(), cut.begin(),
                   [](double ncut) { return ncut < RegionCuts::kNone ? 1 : 0; });
    Labels divided = divide(regions, cut, cuts.piece, limits.min_side, 1, graph);
    // A region that was cut and is one again has no better cut.
    std::vector<std::int32_t> parent(static_cast<std::size_t>(divided.count) + 1, 0);
    for (std::size_t i = 0; i < divided.values.size(); ++i) {
      parent[divided.values[i]] = regions.values[i];
    }
    std::vector<std::int32_t> children(open.size(), 0);
    for (std::size_t r = 1; r < parent.size(); ++r) ++children[parent[r]];
    open.assign(parent.size(), 0);
    for (std::size_t r = 1; r < parent.size(); ++r) {
      open[r] = cut[parent[r]] != 0 && children[parent[r]] > 1 ? 1 : 0;
    }
    regions = std::move(divided);
  }
}

/// Sides for regions that have no better cut: the first half of each region's pixels in the order
/// of a search that starts at its first pixel.
std::vector<std::uint8_t> arbitrary_sides(const Labels& regions, const std::vector<char>& cut,
                                          const std::vector<std::int64_t>& sizes) {
  std::vector<std::uint8_t> side(regions.values.size(), 0);
  std::vector<char> seen(static_cast<std::size_t>(regions.count) + 1, 0);
  const auto width = static_cast<std::size_t>(regions.width);
  const std::vector<std::int32_t>& of = regions.values;
  for (std::size_t first = 0; first < of.size(); ++first) {
    const std::int32_t r = of[first];
    if (cut[r] == 0 || seen[r] != 0) continue;
    seen[r] = 1;
    const auto wanted = static_cast<std::size_t>(sizes[r] / 2);
    std::vector<std::size_t> found{first};
    side[first] = 1;
    const auto visit = [&](std::size_t i) {
      if (of[i] != r || side[i] != 0 || found.size() == wanted) return;
      side[i] = 1;
      found.push_back(i);
    };
    for (std::size_t k = 0; k < found.size(); ++k) {
      const std::size_t i = found[k];
      if (i % width != 0) visit(i - 1);
      if ((i + 1) % width != 0) visit(i + 1);
      if (i >= width) visit(i - width);
      if (i + width < of.size()) visit(i + width);
    }
  }
  return side;
}

/// What a cut along a boundary may cost, as a multiple of the limit of recursive cuts, before flat
/// areas are divided. On photographs of the Berkeley segmentation data set dearer ones take off
/// slivers.
constexpr double kDearest = 3;

/// The cuts of regions that are divided one after another: those of a region that stays are kept.
class KnownCuts {
 public:
  KnownCuts(RegionCutter& cutter, std::size_t pixels) : cutter_(cutter), piece_(pixels, 0) {}

  /// Finds the cuts that are not known.
  void find(const Labels& regions, const CutLimits& limits) {
    ncut_.resize(static_cast<std::size_t>(regions.count) + 1, kUnknown);
    std::vector<std::int32_t> taking_part(ncut_.size(), 0);
    for (std::int32_t r = 1; r <= regions.count; ++r) taking_part[r] = ncut_[r] == kUnknown ? r : 0;
    const std::vector<std::int32_t> asked = relabelled(regions.values, taking_part);
    const RegionCuts found = cutter_.best_cuts(asked, regions.count, limits);
    for (std::int32_t r = 1; r <= regions.count; ++r) {
      if (taking_part[r] != 0) ncut_[r] = found.ncut[r];
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (asked[i] != 0) piece_[i] = found.piece[i];
    }
  }
  /// The normalized cut of a region, and the piece of each pixel, as RegionCuts has them.
  double ncut(std::int32_t region) const { return ncut_[region]; }
  const std::vector<std::uint8_t>& piece() const { return piece_; }

  /// Has all cuts looked for again, by other limits.
  void forget() { std::fill(ncut_.begin(), ncut_.end(), kUnknown); }
  /// Takes the numbers of `regions` for the ones before them, of which those in `cut` were divided.
  void renumber(const Labels& before, const std::vector<char>& cut, const Labels& regions) {
    std::vector<double> renumbered(static_cast<std::size_t>(regions.count) + 1, kUnknown);
    for (std::size_t i = 0; i < before.values.size(); ++i) {
      const std::int32_t old = before.values[i];
      if (cut[old] == 0) renumbered[regions.values[i]] = ncut_[old];
    }
    ncut_ = std::move(renumbered);
  }

 private:
  static constexpr double kUnknown = -1;

  RegionCutter& cutter_;
  std::vector<double> ncut_;
  std::vector<std::uint8_t> piece_;
};

/// Cuts until there are `target` regions, the cheapest cuts first. `limits`: those of the recursive
/// cuts. Precondition: at least `target` pixels have data.
Labels cut_to_count(Labels regions, std::int32_t target, RegionCutter& cutter,
                    const AffinityGraph& graph, const CutLimits& limits, const Watch& watch) {
  // Where no cut is left, boundaries are given up first, then the least size, then cuts by the
  // eigenvectors.
  std::vector<CutLimits> steps = {
      {limits.min_side, kDearest * limits.max_ncut, limits.max_flatness}, {limits.min_side}};
  if (limits.min_side > 1) steps.push_back({1});
  std::size_t step = 0;
  KnownCuts known(cutter, regions.values.size());
  while (regions.count < target) {
    const bool arbitrary = step >= steps.size();
    watch.report("regions", 0.5 + 0.5 * static_cast<double>(regions.count) / target);
    const std::vector<std::int64_t> sizes = region_sizes(regions);
    std::vector<std::int32_t> order;
    if (arbitrary) {
      for (std::int32_t r = 1; r <= regions.count; ++r) {
        if (sizes[r] > 1) order.push_back(r);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int32_t a, std::int32_t b) { return sizes[a] > sizes[b]; });
    } else {
      known.find(regions, steps[step]);
      for (std::int32_t r = 1; r <= regions.count; ++r) {
        if (known.ncut(r) < RegionCuts::kNone) order.push_back(r);
      }
      std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return known.ncut(a) < known.ncut(b);
      });
    }
    if (order.empty()) {
      ++step;
      known.forget();
      continue;
    }
    // Only half of the regions that are missing are cut now, because the halves of a cheap cut may
    // have cheaper cuts than the next regions.
    const std::size_t missing = static_cast<std::size_t>(target - regions.count);
    order.resize(std::min(order.size(), arbitrary ? missing : (missing + 1) / 2));
    std::vector<char> cut(static_cast<std::size_t>(regions.count) + 1, 0);
    for (const std::int32_t r : order) cut[r] = 1;
    Labels divided =
        divide(regions, cut, arbitrary ? arbitrary_sides(regions, cut, sizes) : known.piece(),
               kAnySize, 2, graph);
    if (!arbitrary) known.renumber(regions, cut, divided);
    regions = std::move(divided);
  }
  return regions;
}

}  // namespace

DirectCuts segment_regions(const Eigenvectors& eigenvectors, const AffinityGraph& graph,
                           const RegionParameters& parameters, std::vector<std::string>& notes,
                           const Watch& watch) {
  const int width = eigenvectors.width;
  const int height = eigenvectors.height;
  const std::int32_t wanted = parameters.regions;
  std::vector<std::int32_t> data(eigenvectors.sqrt_degree.size());
  std::transform(eigenvectors.sqrt_degree.begin(), eigenvectors.sqrt_degree.end(), data.begin(),
                 [](float root) { return root > 0 ? 1 : 0; });
  const std::int64_t pixels = std::accumulate(data.begin(), data.end(), std::int64_t{0});
  if (wanted > pixels) {
    throw ConfigError(fmt::format(
        "--regions: {} regions were asked for, but only {} pixels have data; ask for {} or fewer",
        wanted, pixels, pixels));
  }
  check_finite(eigenvectors);
  watch.report("regions", 0);
  const CutLimits limits = limits_of(parameters, pixels);
  const Labels pieces = connected_parts(width, height, data);
  RegionCutter cutter(eigenvectors, graph);
  Labels regions = cut_recursively(pieces, cutter, graph, limits, watch);
  PartGraph joins(regions, graph.right(), graph.down(), {}, at_home(regions, eigenvectors, graph));
  joins.join_small(limits.min_side, 1);
  if (wanted > 0) joins.join_alike(wanted);
  regions = apply(regions, joins);
  if (regions.count < wanted) {
    regions = cut_to_count(std::move(regions), wanted, cutter, graph, limits, watch);
  }
  if (wanted > 0 && regions.count > wanted) {
    notes.push_back(
        fmt::format("{} regions were asked for, but the pixels with data lie in {} separate "
                    "pieces, so there are {}.",
                    wanted, pieces.count, regions.count));
  }
  watch.report("regions", 1);
  const double ncut = normalized_cut(regions, eigenvectors, graph);
  return {{width, height, regions.count, std::move(regions.values)}, ncut};
}

}  // namespace diacut
