#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

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

void PageLinker::match(const Page& before, const std::vector<std::int32_t>& taken,
                       Page& now) const {
  std::vector<LabelOverlap> best = LabelOverlaps(before.labels.values, now.labels.values).pairs;
  std::stable_sort(best.begin(), best.end(), [](const LabelOverlap& a, const LabelOverlap& b) {
    return share(a) > share(b);
  });
  std::set<std::int32_t> gone(taken.begin(), taken.end());
  for (const LabelOverlap& each : best) {
    const std::int32_t number = before.numbers[static_cast<std::size_t>(each.first) - 1];
    std::int32_t& own = now.numbers[static_cast<std::size_t>(each.second) - 1];
    if (share(each) >= least_ && own == 0 && gone.insert(number).second) own = number;
  }
}

void PageLinker::displace(std::span<const float> flow, Series series) {
  for (Page& page : pages_[series]) {
    const Labels& labels = page.labels;
    if (flow.size() != 2 * labels.values.size()) {
      throw InputError(fmt::format("the flow has {} numbers, expected 2 for each of {} x {} pixels",
                                   flow.size(), labels.width, labels.height));
    }
    std::vector<std::int32_t> moved(labels.values.size(), 0);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const auto pixel = static_cast<int>(i);
      const double x = pixel % labels.width + double{flow[2 * i]};
      const double y = pixel / labels.width + double{flow[2 * i + 1]};
      if (x > -0.5 && x < labels.width - 0.5 && y > -0.5 && y < labels.height - 0.5) {
        moved[i] = labels.values[std::lround(y) * labels.width + std::lround(x)];
      }
    }
    page.labels.values = std::move(moved);
  }
}

std::vector<std::int32_t> PageLinker::link(const Labels& labels, std::vector<std::string>& notes,
                                           Series series) {
  std::vector<Page>& pages = pages_[series];
  Page now{labels, std::vector<std::int32_t>(static_cast<std::size_t>(labels.count), 0)};
  if (!pages.empty() &&
      (pages.back().labels.width != labels.width || pages.back().labels.height != labels.height)) {
    throw InputError(fmt::format(
        "it has {} x {} pixels, the page before {} x {}: pages that are linked are of one size",
        labels.width, labels.height, pages.back().labels.width, pages.back().labels.height));
  }
  if (!pages.empty()) match(pages.back(), {}, now);
  // What is missing on one page goes on behind it.
  if (pages.size() > 1) {
    std::vector<std::int32_t> taken = now.numbers;
    taken.insert(taken.end(), pages[1].numbers.begin(), pages[1].numbers.end());
    match(pages[0], taken, now);
  }
  const bool any = std::any_of(now.numbers.begin(), now.numbers.end(),
                               [](std::int32_t number) { return number != 0; });
  for (std::int32_t& number : now.numbers) {
    if (number == 0) number = static_cast<std::int32_t>(++found_.objects);
  }
  if (!pages.empty()) {
    const Page& before = pages.back();
    // By number, those that lie in it by more than half.
    std::map<std::int32_t, std::vector<std::int32_t>> splits;
    std::map<std::int32_t, std::vector<std::int32_t>> merges;
    for (const LabelOverlap& each : LabelOverlaps(before.labels.values, labels.values).pairs) {
      const std::int32_t one = before.numbers[static_cast<std::size_t>(each.first) - 1];
      const std::int32_t other = now.numbers[static_cast<std::size_t>(each.second) - 1];
      if (2 * each.both > each.second_area) splits[one].push_back(other);
      if (2 * each.both > each.first_area) merges[other].push_back(one);
    }
    for (const auto& [whole, parts] : splits) {
      if (parts.size() < 2) continue;
      ++found_.splits;
      notes.push_back(fmt::format("Region {} of the page before splits into {}.", whole,
                                  fmt::join(parts, ", ")));
    }
    for (const auto& [whole, parts] : merges) {
      if (parts.size() < 2) continue;
      ++found_.merges;
      notes.push_back(fmt::format("Regions {} of the page before merge into {}.",
                                  fmt::join(parts, ", "), whole));
    }
    if (!any && !before.numbers.empty() && !now.numbers.empty()) {
      notes.push_back(fmt::format(
          "No region overlaps one of the page before by {} or more: all have new numbers.",
          least_));
    }
    if (pages.size() > 1) pages.erase(pages.begin());
  }
  pages.push_back(now);
  return now.numbers;
}

}  // namespace diacut
