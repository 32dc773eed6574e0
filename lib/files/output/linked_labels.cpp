#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/label_overlaps.hpp"
#include "diacut/errors.hpp"
#include "diacut/label_stack.hpp"

namespace diacut {
namespace {

/// Intersection over union.
double share(const LabelOverlap& overlap) {
  return static_cast<double>(overlap.both) / static_cast<double>(overlap.either());
}

}  // namespace

PageLinker::PageLinker(double least) : least_(least) {}

std::vector<std::int32_t> PageLinker::link(const Labels& labels, std::vector<std::string>& notes) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(labels.count), 0);
  std::vector<LabelOverlap> overlaps;
  if (before_.width != 0) {
    if (before_.width != labels.width || before_.height != labels.height) {
      throw InputError(fmt::format(
          "it has {} x {} pixels, the page before {} x {}: pages that are linked are of one size",
          labels.width, labels.height, before_.width, before_.height));
    }
    overlaps = LabelOverlaps(before_.values, labels.values).pairs;
  }
  std::vector<LabelOverlap> best = overlaps;
  std::stable_sort(best.begin(), best.end(), [](const LabelOverlap& a, const LabelOverlap& b) {
    return share(a) > share(b);
  });
  std::vector<bool> taken(numbers_.size(), false);
  for (const LabelOverlap& each : best) {
    const auto before = static_cast<std::size_t>(each.first) - 1;
    const auto now = static_cast<std::size_t>(each.second) - 1;
    if (share(each) < least_ || taken[before] || numbers[now] != 0) continue;
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
  for (const LabelOverlap& each : overlaps) {
    const std::int32_t before = numbers_[static_cast<std::size_t>(each.first) - 1];
    const std::int32_t now = numbers[static_cast<std::size_t>(each.second) - 1];
    if (2 * each.both > each.second_area) splits[before].push_back(now);
    if (2 * each.both > each.first_area) merges[now].push_back(before);
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
