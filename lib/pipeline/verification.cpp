#include "pipeline/verification.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace diacut {

namespace {

template <class T>
bool same(const std::vector<T>& first, const std::vector<T>& again) {
  static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
  return first.size() == again.size() &&
         (first.empty() || std::memcmp(first.data(), again.data(), first.size() * sizeof(T)) == 0);
}

template <class T>
bool same(const std::vector<std::vector<T>>& first, const std::vector<std::vector<T>>& again) {
  return std::equal(first.begin(), first.end(), again.begin(), again.end(),
                    [](const auto& a, const auto& b) { return same(a, b); });
}

bool same(const Labels& first, const Labels& again) {
  return first.width == again.width && first.height == again.height && first.count == again.count &&
         same(first.values, again.values);
}

bool same(const std::optional<Hierarchy>& first, const std::optional<Hierarchy>& again) {
  if (!first || !again) return first.has_value() == again.has_value();
  const auto same_merge = [](const Merge& a, const Merge& b) {
    return a.first == b.first && a.second == b.second && a.height == b.height;
  };
  return same(first->leaves, again->leaves) && first->threshold == again->threshold &&
         std::equal(first->merges.begin(), first->merges.end(), again->merges.begin(),
                    again->merges.end(), same_merge);
}

bool same(const Eigenvectors& first, const Eigenvectors& again) {
  return same(first.values, again.values) && same(first.vectors, again.vectors) &&
         same(first.sqrt_degree, again.sqrt_degree) &&
         same(first.report.residuals, again.report.residuals);
}

}  // namespace

void check_same_results(const Segmentation& first, const Segmentation& again,
                        const std::string& device) {
  std::vector<std::string> different;
  const auto compare = [&](const char* what, const auto& result) {
    if (!same(first.*result, again.*result)) different.emplace_back(what);
  };
  compare("labels", &Segmentation::labels);
  compare("contours", &Segmentation::contours);
  compare("hierarchy", &Segmentation::hierarchy);
  compare("inside map", &Segmentation::inside);
  compare("labels of seeds", &Segmentation::seed_labels);
  compare("probabilities", &Segmentation::probabilities);
  compare("eigenvectors", &Segmentation::eigenvectors);
  if (different.empty()) return;
  throw DeviceError(
      fmt::format("{} computed the image twice, with different results (these differ: {}): the "
                  "device, its driver or the machine's memory fails; run again, or on another "
                  "device (--list-devices)",
                  device, fmt::join(different, ", ")));
}

}  // namespace diacut
