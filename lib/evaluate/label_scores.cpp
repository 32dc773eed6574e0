#include "evaluate/label_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/evaluate.hpp"
#include "evaluate/boundary_score.hpp"
#include "evaluate/ground_truth.hpp"
#include "evaluate/region_score.hpp"

namespace diacut {

namespace {

/// Throws InputError unless a label image has one value for each of width x height pixels, of which
/// there is at least one.
void check_label_size(std::span<const std::int32_t> labels, int width, int height) {
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (width > 0 && height > 0 && labels.size() == pixels) return;
  throw InputError(
      fmt::format("a label image holds {} values, expected {} x {}: one for each pixel",
                  labels.size(), width, height));
}

/// The overlaps in percent, which are exact.
constexpr std::array kPercents = {50, 55, 60, 65, 70, 75, 80, 85, 90, 95};
/// The least overlap, in percent, of an object with one that is a part of it.
constexpr int kPartPercent = 10;

/// A found object and a true one that have pixels in common.
struct Overlap {
  std::int32_t found = 0;
  std::int32_t truth = 0;
  std::int64_t both = 0;    ///< Pixels of both.
  std::int64_t either = 0;  ///< Pixels of either.

  bool at_least(int percent) const { return 100 * both >= percent * either; }
};

/// The pixels of each object.
std::map<std::int32_t, std::int64_t> areas_of(std::span<const std::int32_t> labels) {
  std::map<std::int32_t, std::int64_t> areas;
  for (const std::int32_t label : labels) {
    if (label != 0) ++areas[label];
  }
  return areas;
}

std::vector<Overlap> overlaps_of(std::span<const std::int32_t> labels,
                                 std::span<const std::int32_t> truth,
                                 const std::map<std::int32_t, std::int64_t>& found_areas,
                                 const std::map<std::int32_t, std::int64_t>& true_areas) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> both;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 0 && truth[i] != 0) ++both[{labels[i], truth[i]}];
  }
  std::vector<Overlap> overlaps;
  for (const auto& [pair, pixels] : both) {
    const std::int64_t sum = found_areas.at(pair.first) + true_areas.at(pair.second);
    overlaps.push_back({pair.first, pair.second, pixels, sum - pixels});
  }
  return overlaps;
}

/// The most pairs of an overlap of at least `percent` that share no object. Above one half an
/// object overlaps only one other so. At one half it may be two, which are its halves and overlap
/// nothing else; taking either of them gives the most pairs.
std::int64_t count_matches(const std::vector<Overlap>& overlaps, int percent) {
  std::map<std::int32_t, bool> found_taken;
  std::map<std::int32_t, bool> true_taken;
  std::int64_t matched = 0;
  for (const Overlap& each : overlaps) {
    if (!each.at_least(percent) || found_taken[each.found] || true_taken[each.truth]) continue;
    found_taken[each.found] = true_taken[each.truth] = true;
    ++matched;
  }
  return matched;
}

/// The objects with two or more parts.
std::int64_t count_several(const std::map<std::int32_t, int>& parts) {
  return std::count_if(parts.begin(), parts.end(),
                       [](const auto& each) { return each.second > 1; });
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double ObjectMatches::precision() const { return ratio(matched, found); }
double ObjectMatches::recall() const { return ratio(matched, truth); }
double ObjectMatches::f1() const { return ratio(2 * matched, found + truth); }
double ObjectMatches::average_precision() const { return ratio(matched, found + truth - matched); }

ObjectScores evaluate_objects(std::span<const std::int32_t> labels,
                              std::span<const std::int32_t> truth, int width, int height) {
  check_label_size(labels, width, height);
  check_label_size(truth, width, height);
  const auto found_areas = areas_of(labels);
  const auto true_areas = areas_of(truth);
  const std::vector<Overlap> overlaps = overlaps_of(labels, truth, found_areas, true_areas);
  ObjectScores scores;
  for (const int percent : kPercents) {
    scores.matches.push_back({percent / 100.0, count_matches(overlaps, percent),
                              static_cast<std::int64_t>(found_areas.size()),
                              static_cast<std::int64_t>(true_areas.size())});
  }
  std::map<std::int32_t, int> of_truth;
  std::map<std::int32_t, int> of_found;
  for (const Overlap& each : overlaps) {
    if (100 * each.both <= kPartPercent * each.either) continue;
    ++of_truth[each.truth];
    ++of_found[each.found];
  }
  scores.splits = count_several(of_truth);
  scores.merges = count_several(of_found);
  return scores;
}

double mean_average_precision(const ObjectScores& scores) {
  double sum = 0;
  for (const ObjectMatches& each : scores.matches) sum += each.average_precision();
  return sum / static_cast<double>(scores.matches.size());
}

ObjectSummary summarise_objects(std::span<const ObjectScores> images) {
  ObjectSummary summary;
  summary.pooled = images.front();
  summary.mean_precision.assign(summary.pooled.matches.size(), 0.0);
  const auto count = static_cast<double>(images.size());
  for (const ObjectScores& image : images) {
    for (std::size_t k = 0; k < image.matches.size(); ++k) {
      summary.mean_precision[k] += image.matches[k].average_precision() / count;
    }
    summary.mean_f1 += image.matches.front().f1() / count;
  }
  for (const ObjectScores& image : images.subspan(1)) {
    for (std::size_t k = 0; k < image.matches.size(); ++k) {
      ObjectMatches& sum = summary.pooled.matches[k];
      sum.matched += image.matches[k].matched;
      sum.found += image.matches[k].found;
      sum.truth += image.matches[k].truth;
    }
    summary.pooled.splits += image.splits;
    summary.pooled.merges += image.merges;
  }
  return summary;
}

LabelScores evaluate_labels(std::span<const std::int32_t> labels,
                            const std::vector<std::span<const std::int32_t>>& truths, int width,
                            int height) {
  check_label_size(labels, width, height);
  if (truths.empty()) {
    throw InputError("there is no ground truth to score labels against: give one or more");
  }
  GroundTruth truth{width, height, {}};
  for (const std::span<const std::int32_t> one : truths) {
    check_label_size(one, width, height);
    truth.annotations.push_back(
        {{one.begin(), one.end()}, thin(boundaries_of(one, width, height), width, height)});
  }
  const BoundaryCounts counts = match_boundaries(boundaries_of(labels, width, height), truth);
  const RegionCurve curve = score_labels(labels, truth);
  const RegionScores& regions = curve.scores.front();
  return {counts.precision(), counts.recall(),
          counts.f(),         regions.covered / static_cast<double>(curve.area),
          regions.pri,        regions.vi};
}

}  // namespace diacut
