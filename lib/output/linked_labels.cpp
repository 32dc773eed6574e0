#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/label_stack.hpp"

namespace diacut {
namespace {

std::vector<std::int64_t> areas_of(const Labels& labels) {
  std::vector<std::int64_t> areas(static_cast<std::size_t>(labels.count) + 1, 0);
  for (const std::int32_t label : labels.values) ++areas[static_cast<std::size_t>(label)];
  return areas;
}

/// A region of the page before and one of this page that overlap.
struct Overlap {
  std::int32_t before = 0;
  std::int32_t now = 0;
  std::int64_t pixels = 0;
  std::int64_t area_before = 0;
  std::int64_t area_now = 0;

  /// Intersection over union.
  double share() const {
    return static_cast<double>(pixels) / static_cast<double>(area_before + area_now - pixels);
  }
};

std::vector<Overlap> overlaps_of(const Labels& before, const Labels& now) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> shared;
  for (std::size_t i = 0; i < now.values.size(); ++i) {
    if (before.values[i] != 0 && now.values[i] != 0) ++shared[{before.values[i], now.values[i]}];
  }
  const std::vector<std::int64_t> areas_before = areas_of(before);
  const std::vector<std::int64_t> areas_now = areas_of(now);
  std::vector<Overlap> overlaps;
  for (const auto& [pair, pixels] : shared) {
    overlaps.push_back({pair.first, pair.second, pixels,
                        areas_before[static_cast<std::size_t>(pair.first)],
                        areas_now[static_cast<std::size_t>(pair.second)]});
  }
  return overlaps;
}

}  // namespace

PageLinker::PageLinker(double least) : least_(least) {}

std::vector<std::int32_t> PageLinker::link(const Labels& labels, std::vector<std::string>& notes) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(labels.count), 0);
  std::vector<Overlap> overlaps;
  if (before_.width != 0) {
    if (before_.width != labels.width || before_.height != labels.height) {
      throw InputError(fmt::format(
          "it has {} x {} pixels, the page before {} x {}: pages that are linked are of one size",
          labels.width, labels.height, before_.width, before_.height));
    }
    overlaps = overlaps_of(before_, labels);
  }
  std::vector<Overlap> best = overlaps;
  std::stable_sort(best.begin(), best.end(),
                   [](const Overlap& a, const Overlap& b) { return a.share() > b.share(); });
  std::vector<bool> taken(numbers_.size(), false);
  for (const Overlap& each : best) {
    const auto before = static_cast<std::size_t>(each.before) - 1;
    const auto now = static_cast<std::size_t>(each.now) - 1;
    if (each.share() < least_ || taken[before] || numbers[now] != 0) continue;
    taken[before] = true;
    numbers[now] = numbers_[before];
  }
  const bool any = std::any_of(taken.begin(), taken.end(), [](bool each) { return each; });
  for (std::int32_t& number : numbers) {
    if (number == 0) number = ++newest_;
  }
  // By number, those that lie in it by more than half.
  std::map<std::int32_t, std::vector<std::int32_t>> splits;
  std::map<std::int32_t, std::vector<std::int32_t>> merges;
  for (const Overlap& each : overlaps) {
    const std::int32_t before = numbers_[static_cast<std::size_t>(each.before) - 1];
    const std::int32_t now = numbers[static_cast<std::size_t>(each.now) - 1];
    if (2 * each.pixels > each.area_now) splits[before].push_back(now);
    if (2 * each.pixels > each.area_before) merges[now].push_back(before);
  }
  for (const auto& [whole, parts] : splits) {
    if (parts.size() < 2) continue;
    notes.push_back(
        fmt::format("Region {} of the page before splits into {}.", whole, fmt::join(parts, ", ")));
  }
  for (const auto& [whole, parts] : merges) {
    if (parts.size() < 2) continue;
    notes.push_back(
        fmt::format("Regions {} of the page before merge into {}.", fmt::join(parts, ", "), whole));
  }
  if (!any && !numbers_.empty() && !numbers.empty()) {
    notes.push_back(fmt::format(
        "No region overlaps one of the page before by {} or more: all have new numbers.", least_));
  }
  before_ = labels;
  numbers_ = numbers;
  return numbers;
}

}  // namespace diacut
