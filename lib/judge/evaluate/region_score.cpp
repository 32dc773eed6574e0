#include "evaluate/region_score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "core/disjoint_sets.hpp"
#include "core/label_overlaps.hpp"
#include "diacut/errors.hpp"
#include "diacut/evaluate.hpp"
#include "evaluate/boundary_score.hpp"

namespace diacut {

namespace {

double n_log_n(std::int64_t n) {
  return n > 1 ? static_cast<double>(n) * std::log2(static_cast<double>(n)) : 0.0;
}

/// The regions of the truth of all annotators in one list.
struct TruthRegions {
  struct Region {
    std::int64_t area = 0;
    std::size_t annotator = 0;
  };
  std::vector<Region> regions;
  std::vector<std::vector<std::int32_t>>
      region_of;  ///< [annotator][pixel]: an index into the list.

  explicit TruthRegions(const GroundTruth& truth) {
    for (std::size_t a = 0; a < truth.annotations.size(); ++a) {
      std::map<std::int32_t, std::int32_t> number;
      region_of.emplace_back();
      for (const std::int32_t label : truth.annotations[a].labels) {
        const auto next = static_cast<std::int32_t>(regions.size());
        const auto [entry, is_new] = number.emplace(label, next);
        if (is_new) regions.push_back({0, a});
        ++regions[static_cast<std::size_t>(entry->second)].area;
        region_of.back().push_back(entry->second);
      }
    }
  }
};

/// The contingency table: how many pixels each region of the segmentation shares with each region
/// of the truth. Regions of the segmentation can be merged.
class Contingency {
 public:
  /// `ours` is the region of the segmentation at each pixel, 0 to count - 1.
  Contingency(std::span<const std::int32_t> ours, std::size_t count, const TruthRegions& truth)
      : truth_(truth), rows_(count), best_ever_(truth.regions.size(), 0) {
    for (const std::vector<std::int32_t>& region_of : truth.region_of) {
      for (std::size_t i = 0; i < ours.size(); ++i) {
        ++rows_[static_cast<std::size_t>(ours[i])].shared[region_of[i]];
      }
    }
    for (const std::int32_t region : ours) ++rows_[static_cast<std::size_t>(region)].area;
  }

  /// Merges region `from` of the segmentation into region `to`.
  void merge(std::size_t to, std::size_t from) {
    Row& into = rows_[to];
    Row& gone = rows_[from];
    for (const auto& [region, pixels] : std::exchange(gone.shared, {})) {
      into.shared[region] += pixels;
    }
    into.area += std::exchange(gone.area, 0);
  }

  RegionScores scores() {
    const std::size_t annotators = truth_.region_of.size();
    std::vector<double> best(truth_.regions.size(), 0);
    std::vector<double> squares(annotators, 0);
    std::vector<double> logs(annotators, 0);
    std::vector<double> truth_squares(annotators, 0);
    std::vector<double> truth_logs(annotators, 0);
    double own_squares = 0;
    double own_logs = 0;
    std::int64_t total = 0;
    for (const Row& row : rows_) {
      total += row.area;
      own_squares += static_cast<double>(row.area) * static_cast<double>(row.area);
      own_logs += n_log_n(row.area);
      for (const auto& [number, pixels] : row.shared) {
        const auto region = static_cast<std::size_t>(number);
        const auto& [area, annotator] = truth_.regions[region];
        const auto overlap =
            static_cast<double>(pixels) / static_cast<double>(row.area + area - pixels);
        best[region] = std::max(best[region], overlap);
        squares[annotator] += static_cast<double>(pixels) * static_cast<double>(pixels);
        logs[annotator] += n_log_n(pixels);
      }
    }
    RegionScores scores;
    for (std::size_t region = 0; region < best.size(); ++region) {
      const auto& [area, annotator] = truth_.regions[region];
      scores.covered += static_cast<double>(area) * best[region];
      best_ever_[region] = std::max(best_ever_[region], best[region]);
      truth_squares[annotator] += static_cast<double>(area) * static_cast<double>(area);
      truth_logs[annotator] += n_log_n(area);
    }
    const auto n = static_cast<double>(total);
    for (std::size_t a = 0; a < annotators; ++a) {
      const double disagreeing = (own_squares + truth_squares[a]) / 2 - squares[a];
      scores.pri += total > 1 ? 1 - disagreeing / (n * (n - 1) / 2) : 1;
      // Rounding may make the result slightly negative.
      scores.vi += std::max(0.0, own_logs + truth_logs[a] - 2 * logs[a]) / n;
    }
    scores.pri /= static_cast<double>(annotators);
    scores.vi /= static_cast<double>(annotators);
    return scores;
  }

  double best_covered() const {
    double sum = 0;
    for (std::size_t region = 0; region < best_ever_.size(); ++region) {
      sum += static_cast<double>(truth_.regions[region].area) * best_ever_[region];
    }
    return sum;
  }

 private:
  struct Row {
    std::int64_t area = 0;
    std::map<std::int32_t, std::int64_t> shared;  ///< By region of the truth.
  };

  const TruthRegions& truth_;
  std::vector<Row> rows_;
  std::vector<double> best_ever_;
};

std::int64_t area_of(const GroundTruth& truth) {
  return static_cast<std::int64_t>(truth.annotations.size()) * truth.width * truth.height;
}

/// Numbers the values 0, 1, ... in the order in which they first appear. Returns the count of
/// values.
template <typename T>
std::size_t number(const std::vector<T>& values, std::vector<std::int32_t>& numbers) {
  std::map<T, std::int32_t> known;
  for (const T& value : values) {
    numbers.push_back(known.emplace(value, static_cast<std::int32_t>(known.size())).first->second);
  }
  return known.size();
}

}  // namespace

RegionCurve score_labels(std::span<const std::int32_t> labels, const GroundTruth& truth) {
  std::vector<std::int32_t> ours;
  const std::size_t count = number(std::vector<std::int32_t>(labels.begin(), labels.end()), ours);
  const TruthRegions regions(truth);
  Contingency table(ours, count, regions);
  RegionCurve curve;
  curve.area = area_of(truth);
  curve.scores.push_back(table.scores());
  curve.best_covered = table.best_covered();
  return curve;
}

RegionCurve score_hierarchy(std::span<const double> strength, const GroundTruth& truth,
                            std::span<const double> thresholds) {
  const auto width = static_cast<std::size_t>(truth.width);
  const std::size_t columns = 2 * width + 1;
  const std::size_t rows = strength.size() / columns;
  // The elements of the doubled grid by the threshold from which on they are joined.
  std::vector<std::vector<std::size_t>> joining(thresholds.size());
  for (std::size_t at = 0; at < strength.size(); ++at) {
    const bool is_pixel = at / columns % 2 == 1 && at % columns % 2 == 1;
    const auto first = is_pixel
                           ? thresholds.begin()
                           : std::lower_bound(thresholds.begin(), thresholds.end(), strength[at]);
    if (first == thresholds.end()) continue;
    joining[static_cast<std::size_t>(first - thresholds.begin())].push_back(at);
  }
  std::vector<std::uint8_t> joined(strength.size(), 0);
  DisjointSets components(strength.size());
  // Calls on_join(a, b) for each two roots a < b that are joined; a is the root of both afterwards.
  const auto grow = [&](std::size_t t, const auto& on_join) {
    for (const std::size_t at : joining[t]) {
      joined[at] = 1;
      const std::size_t x = at % columns;
      const std::size_t y = at / columns;
      for (std::size_t ny = y == 0 ? 0 : y - 1; ny <= std::min(y + 1, rows - 1); ++ny) {
        for (std::size_t nx = x == 0 ? 0 : x - 1; nx <= std::min(x + 1, columns - 1); ++nx) {
          const std::size_t next = ny * columns + nx;
          if (next == at || joined[next] == 0) continue;
          const std::int32_t a = components.find(static_cast<std::int32_t>(at));
          const std::int32_t b = components.find(static_cast<std::int32_t>(next));
          if (a == b) continue;
          on_join(static_cast<std::size_t>(std::min(a, b)),
                  static_cast<std::size_t>(std::max(a, b)));
          components.unite(a, b);
        }
      }
    }
  };
  grow(0, [](std::size_t, std::size_t) {});
  // At higher thresholds only whole regions of the lowest threshold merge.
  std::vector<std::size_t> roots;
  for (std::size_t y = 1; y < rows; y += 2) {
    for (std::size_t x = 1; x < columns; x += 2) {
      const auto at = static_cast<std::int32_t>(y * columns + x);
      roots.push_back(static_cast<std::size_t>(components.find(at)));
    }
  }
  std::vector<std::int32_t> leaves;
  const std::size_t count = number(roots, leaves);
  constexpr std::int32_t kNone = -1;
  std::vector<std::int32_t> leaf_of(strength.size(), kNone);
  for (std::size_t i = 0; i < roots.size(); ++i) leaf_of[roots[i]] = leaves[i];

  const TruthRegions regions(truth);
  Contingency table(leaves, count, regions);
  RegionCurve curve;
  curve.area = area_of(truth);
  curve.scores.push_back(table.scores());
  for (std::size_t t = 1; t < thresholds.size(); ++t) {
    bool changed = false;
    grow(t, [&](std::size_t stays, std::size_t goes) {
      if (leaf_of[goes] == kNone) return;
      if (leaf_of[stays] == kNone) {
        leaf_of[stays] = leaf_of[goes];
        return;
      }
      table.merge(static_cast<std::size_t>(leaf_of[stays]),
                  static_cast<std::size_t>(leaf_of[goes]));
      changed = true;
    });
    curve.scores.push_back(changed ? table.scores() : curve.scores.back());
  }
  curve.best_covered = table.best_covered();
  return curve;
}

namespace {

/// One score of several images. `whole`: what sums over them are divided by; `largest`: whether a
/// larger one is better.
RegionMeasure measure(std::span<const RegionCurve> curves, std::span<const double> thresholds,
                      double RegionScores::*score, double whole, bool largest) {
  RegionMeasure measure;
  measure.curve.assign(thresholds.size(), 0);
  const auto is_better = [&](double a, double b) { return largest ? a > b : a < b; };
  for (const RegionCurve& curve : curves) {
    double best = curve.scores.front().*score;
    for (std::size_t t = 0; t < thresholds.size(); ++t) {
      const double value = curve.scores[t].*score;
      measure.curve[t] += value;
      if (is_better(value, best)) best = value;
    }
    measure.ois += best;
  }
  for (double& value : measure.curve) value /= whole;
  measure.ois /= whole;
  const auto best = std::min_element(measure.curve.begin(), measure.curve.end(), is_better);
  measure.ods = *best;
  measure.threshold = thresholds[static_cast<std::size_t>(best - measure.curve.begin())];
  return measure;
}

}  // namespace

RegionSummary summarise_regions(std::span<const RegionCurve> curves,
                                std::span<const double> thresholds) {
  double area = 0;
  double covered = 0;
  for (const RegionCurve& curve : curves) {
    area += static_cast<double>(curve.area);
    covered += curve.best_covered;
  }
  const auto images = static_cast<double>(curves.size());
  return {measure(curves, thresholds, &RegionScores::covered, area, true), covered / area,
          measure(curves, thresholds, &RegionScores::pri, images, true),
          measure(curves, thresholds, &RegionScores::vi, images, false)};
}

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

bool at_least(const LabelOverlap& overlap, int percent) {
  return 100 * overlap.both >= percent * overlap.either();
}

/// The most pairs of an overlap of at least `percent` that share no object. Above one half an
/// object overlaps only one other so. At one half it may be two, which are its halves and overlap
/// nothing else; taking either of them gives the most pairs.
std::int64_t count_matches(const std::vector<LabelOverlap>& overlaps, int percent) {
  std::map<std::int32_t, bool> found_taken;
  std::map<std::int32_t, bool> true_taken;
  std::int64_t matched = 0;
  for (const LabelOverlap& each : overlaps) {
    if (!at_least(each, percent) || found_taken[each.first] || true_taken[each.second]) continue;
    found_taken[each.first] = true_taken[each.second] = true;
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
  const LabelOverlaps overlaps(labels, truth);
  ObjectScores scores;
  for (const int percent : kPercents) {
    scores.matches.push_back({percent / 100.0, count_matches(overlaps.pairs, percent),
                              static_cast<std::int64_t>(overlaps.first_areas.size()),
                              static_cast<std::int64_t>(overlaps.second_areas.size())});
  }
  std::map<std::int32_t, int> of_truth;
  std::map<std::int32_t, int> of_found;
  for (const LabelOverlap& each : overlaps.pairs) {
    if (100 * each.both <= kPartPercent * each.either()) continue;
    ++of_truth[each.second];
    ++of_found[each.first];
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
  for (const ObjectMatches& each : images.front().matches) {
    summary.pooled.matches.push_back({each.overlap});
  }
  summary.mean_precision.assign(summary.pooled.matches.size(), 0.0);
  const auto count = static_cast<double>(images.size());
  for (const ObjectScores& image : images) {
    summary.mean_f1 += image.matches.front().f1() / count;
    for (std::size_t k = 0; k < image.matches.size(); ++k) {
      summary.mean_precision[k] += image.matches[k].average_precision() / count;
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
