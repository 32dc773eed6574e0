#include "pipeline/device_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <numbers>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/unit_range.hpp"
#include "diacut/errors.hpp"

namespace diacut {

KernelFile range_kernels(Context& context) { return {context, "pipeline/out_of_range.cl", ""}; }

namespace {

/// What rounding may add to a bound.
constexpr double kSlack = 1e-3;

struct Bounds {
  double least;
  double most;

  /// False of NaN.
  bool hold(double value) const { return (value >= least - kSlack) & (value <= most + kSlack); }
};

[[noreturn]] void fail(const Context& context, std::string_view stage, std::string_view what,
                       double value, std::string_view expected) {
  throw DeviceError(
      fmt::format("stage {}: {} computed {} of {}, expected {}: the device or its driver fails; "
                  "run again, or on another device (--list-devices)",
                  stage, context.info().name, what, value, expected));
}

template <class Values>
void check(const Context& context, std::string_view stage, std::string_view what,
           const Values& values, const Bounds& bounds) {
  const auto bad =
      first_that_fails(std::span(values), [&](double value) { return bounds.hold(value); });
  if (!bad) return;
  fail(context, stage, what, static_cast<double>(*bad),
       fmt::format("{:.4g} to {:.4g}", bounds.least, bounds.most));
}

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

bool same(const Hierarchy& first, const Hierarchy& again) {
  const auto same_merge = [](const Merge& a, const Merge& b) {
    return a.first == b.first && a.second == b.second && a.height == b.height;
  };
  return same(first.leaves, again.leaves) && first.threshold == again.threshold &&
         std::equal(first.merges.begin(), first.merges.end(), again.merges.begin(),
                    again.merges.end(), same_merge);
}

bool same(const Eigenvectors& first, const Eigenvectors& again) {
  return same(first.values, again.values) && same(first.vectors, again.vectors) &&
         same(first.sqrt_degree, again.sqrt_degree) &&
         same(first.report.residuals, again.report.residuals);
}

}  // namespace

float value_out_of_range(Context& context, const std::vector<const Buffer<float>*>& buffers,
                         double least, double most) {
  auto found = context.allocate<float>(1, "a value out of range");
  found.fill(0);
  const KernelFile kernels = range_kernels(context);
  for (const Buffer<float>* const each : buffers) {
    kernels.launch_rows("out_of_range", each->size(), 1, *each, each->size(),
                        static_cast<float>(least), static_cast<float>(most), found);
  }
  return found.download().front();
}

void check_computed_maps(Context& context, const std::vector<const Buffer<float>*>& maps) {
  const float bad = value_out_of_range(context, maps, -kSlack, 1 + kSlack);
  if (bad != 0) fail(context, "boundaries", "a strength", bad, "0 to 1");
}

void check_computed_map(const Context& context, const std::vector<float>& map) {
  check(context, "boundaries", "a strength", map, {0, 1});
}

void check_computed_degrees(const Buffer<float>& sqrt_degree) {
  Context& context = sqrt_degree.context();
  const float bad = value_out_of_range(context, {&sqrt_degree}, 1 - kSlack, FLT_MAX);
  if (bad != 0) fail(context, "affinity", "a square root of a degree", bad, "1 or more");
}

void check_eigenpairs(const Context& context, const DeviceEigenvectors& eigenvectors) {
  constexpr std::string_view kStage = "eigenvectors";
  check(context, kStage, "an eigenvalue", eigenvectors.values, {0, 2});
  for (const double norm : eigenvectors.report.residuals) {
    if (!std::isfinite(norm)) fail(context, kStage, "a residual norm", norm, "a finite number");
  }
}

void check_computed_contours(const Context& context, const Contours& contours) {
  check(context, "contours", "a strength", contours.strength, {0, 1});
  check(context, "contours", "an orientation", contours.orientation, {0, std::numbers::pi});
}

void check_walk(const Context& context, const std::vector<std::int32_t>& labels, int count) {
  check(context, "random walk", "a label", labels, {0, static_cast<double>(count)});
}

void check_same_results(const Segmentation& first, const Segmentation& again,
                        const std::string& device) {
  std::vector<std::string> different;
  // Both have one type.
  const auto compare = [&]<class Kind, class Value>(const char* what, Value Kind::*member) {
    const auto* const own = dynamic_cast<const Kind*>(&first);
    if (own == nullptr || same(own->*member, dynamic_cast<const Kind&>(again).*member)) return;
    different.emplace_back(what);
  };
  compare("labels", &Segmentation::labels);
  compare("contours", &HierarchyCut::contours);
  compare("hierarchy", &HierarchyCut::hierarchy);
  compare("inside map", &Objects::inside);
  compare("labels of seeds", &SeededCut::seed_labels);
  compare("labels of seeds", &SeedGrowth::seed_labels);
  compare("probabilities", &SeedGrowth::probabilities);
  compare("eigenvectors", &Segmentation::eigenvectors);
  if (different.empty()) return;
  throw DeviceError(fmt::format(
      "{} computed the image twice, with different results (these differ: {}): the device, its "
      "driver or the machine's memory fails; run again, or on another device (--list-devices)",
      device, fmt::join(different, ", ")));
}

}  // namespace diacut
