#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "diacut/errors.hpp"
#include "diacut/parameters.hpp"

namespace diacut {

/// The names of the enumerators of E, which count from 0, in configurations, options and reports.
template <class E, std::size_t N>
struct EnumNames {
  std::array<std::string_view, N> names;
};

inline constexpr EnumNames<ValueRange::Rule, 4> kValueRangeNames = {
    {"auto", "type", "data", "robust"}};
inline constexpr EnumNames<BoundaryKind, 2> kBoundaryKindNames = {{"learned", "gradient"}};
inline constexpr EnumNames<NetworkPose, 2> kNetworkPoseNames = {{"given", "canonical"}};
inline constexpr EnumNames<AffinityFormula, 2> kAffinityFormulaNames = {
    {"logistic", "exponential"}};
inline constexpr EnumNames<FeatureMeasure, 2> kFeatureMeasureNames = {{"cosine", "gaussian"}};
inline constexpr EnumNames<MatvecKind, 9> kMatvecNames = {{"auto", "naive", "aligned", "local",
                                                           "vectorized", "image", "coarsened",
                                                           "unrolled", "symmetric"}};
inline constexpr EnumNames<MatvecStorage, 4> kMatvecStorageNames = {
    {"auto", "float32", "half", "minifloat"}};
inline constexpr EnumNames<SpectralUse, 3> kSpectralUseNames = {{"decimated", "full", "never"}};
inline constexpr EnumNames<SolverKind, 4> kSolverNames = {
    {"auto", "multilevel", "lanczos", "spectra"}};
inline constexpr EnumNames<RegionMethod, 4> kRegionMethodNames = {
    {"hierarchy", "kway", "walker", "objects"}};
inline constexpr EnumNames<MergingRule, 3> kMergingRuleNames = {{"auto", "learned", "strength"}};

/// The name of an enumerator; empty for a value that is none.
template <class E, std::size_t N>
constexpr std::string_view enum_name(const EnumNames<E, N>& of, E value) {
  const auto at = static_cast<std::size_t>(value);
  return at < N ? of.names[at] : std::string_view();
}

/// The enumerator with this name; nothing if there is none.
template <class E, std::size_t N>
constexpr std::optional<E> enum_value(const EnumNames<E, N>& of, std::string_view name) {
  for (std::size_t at = 0; at < N; ++at) {
    if (of.names[at] == name) return static_cast<E>(at);
  }
  return std::nullopt;
}

/// The enumerator with this name. `what`: what the names are of, as "product". Throws ConfigError
/// where there is none.
template <class E, std::size_t N>
E enum_named(const EnumNames<E, N>& of, std::string_view name, std::string_view what) {
  if (const auto found = enum_value(of, name)) return *found;
  throw ConfigError(
      fmt::format("'{}' is no {}; it is one of {}", name, what, fmt::join(of.names, ", ")));
}

}  // namespace diacut
