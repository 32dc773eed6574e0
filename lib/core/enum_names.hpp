#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "diacut/parameters.hpp"

namespace diacut {

/// The name of an enumerator in configurations, options and reports.
template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

inline constexpr EnumName<ValueRange> kValueRangeNames[] = {{ValueRange::kAuto, "auto"},
                                                            {ValueRange::kType, "type"},
                                                            {ValueRange::kData, "data"},
                                                            {ValueRange::kRobust, "robust"}};

inline constexpr EnumName<CueKind> kCueNames[] = {{CueKind::kLearned, "learned"},
                                                  {CueKind::kGradient, "gradient"}};
inline constexpr EnumName<CuePose> kCuePoseNames[] = {{CuePose::kGiven, "given"},
                                                      {CuePose::kCanonical, "canonical"}};

inline constexpr EnumName<AffinityFormula> kAffinityFormulaNames[] = {
    {AffinityFormula::kLogistic, "logistic"}, {AffinityFormula::kExponential, "exponential"}};

inline constexpr EnumName<FeatureMeasure> kFeatureMeasureNames[] = {
    {FeatureMeasure::kCosine, "cosine"}, {FeatureMeasure::kGaussian, "gaussian"}};

inline constexpr EnumName<MatvecKind> kMatvecNames[] = {{MatvecKind::kAuto, "auto"},
                                                        {MatvecKind::kNaive, "naive"},
                                                        {MatvecKind::kAligned, "aligned"},
                                                        {MatvecKind::kLocal, "local"},
                                                        {MatvecKind::kVectorized, "vectorized"},
                                                        {MatvecKind::kImage, "image"},
                                                        {MatvecKind::kCoarsened, "coarsened"},
                                                        {MatvecKind::kUnrolled, "unrolled"},
                                                        {MatvecKind::kSymmetric, "symmetric"}};

inline constexpr EnumName<MatvecStorage> kMatvecStorageNames[] = {
    {MatvecStorage::kAuto, "auto"},
    {MatvecStorage::kFloat32, "float32"},
    {MatvecStorage::kHalf, "half"},
    {MatvecStorage::kMinifloat, "minifloat"}};

inline constexpr EnumName<SpectralUse> kSpectralUseNames[] = {
    {SpectralUse::kDecimated, "decimated"},
    {SpectralUse::kFull, "full"},
    {SpectralUse::kNever, "never"}};

inline constexpr EnumName<SolverKind> kSolverNames[] = {{SolverKind::kAuto, "auto"},
                                                        {SolverKind::kMultilevel, "multilevel"},
                                                        {SolverKind::kLanczos, "lanczos"},
                                                        {SolverKind::kSpectra, "spectra"}};

inline constexpr EnumName<RegionMethod> kRegionMethodNames[] = {
    {RegionMethod::kHierarchy, "hierarchy"},
    {RegionMethod::kKway, "kway"},
    {RegionMethod::kWalker, "walker"},
    {RegionMethod::kObjects, "objects"}};

inline constexpr EnumName<MergingRule> kMergingRuleNames[] = {{MergingRule::kAuto, "auto"},
                                                              {MergingRule::kLearned, "learned"},
                                                              {MergingRule::kStrength, "strength"}};

/// The name of an enumerator; empty for a value that is none.
template <class E>
constexpr std::string_view enum_name(std::span<const EnumName<std::type_identity_t<E>>> names,
                                     E value) {
  for (const EnumName<E>& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return {};
}

/// The enumerator with this name; nothing if there is none.
template <class E, std::size_t N>
constexpr std::optional<E> enum_value(const EnumName<E> (&names)[N], std::string_view name) {
  for (const EnumName<E>& entry : names) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

}  // namespace diacut
