#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/embedding.hpp"

namespace diacut {

/// Colour bins of one channel of CIE Lab in RegionSums, and how many channels there are.
inline constexpr std::size_t kColourBins = 16;
inline constexpr std::size_t kColourChannels = 3;
/// Bins of boundary strength from 0 to 1 in BoundarySums.
inline constexpr std::size_t kStrengthBins = 32;
/// The strength 1 as a level, of which strengths between two pixels are whole numbers.
inline constexpr std::uint32_t kMostLevel = 65535;

/// What merging knows of a region. All of it is sums of integers, so that a region has the same
/// sums however it came together.
struct RegionSums {
  std::int64_t area = 0;   ///< Pixels.
  std::int64_t sides = 0;  ///< Sides of pixels between the region and what is not the region.
  /// Sums of a + 128 and b + 128, each rounded at each pixel.
  std::array<std::int64_t, 2> ab{};
  /// How many pixels have an L, an a and a b in each bin.
  std::array<std::uint32_t, kColourChannels * kColourBins> bins{};
  std::array<std::int64_t, kMostEmbeddingChannels> embedding{};  ///< Sums of Embedding::values.

  void add(const RegionSums& other);
};

/// What merging knows of the common boundary of two regions, in sums of integers.
struct BoundarySums {
  std::int64_t strength = 0;  ///< As Arc::strength.
  std::int64_t length = 0;    ///< As Arc::length.
  /// The least level between two pixels. Levels are those of the boundary map itself, which no
  /// direction has made smaller.
  std::uint32_t least = kMostLevel;
  std::array<std::uint32_t, kStrengthBins> bins{};  ///< Pairs of pixels with a level in each bin.

  void add(const BoundarySums& other);
  /// Adds the level between two pixels to `least` and `bins`.
  void add_level(std::uint32_t level);
};

/// What the probability that two regions are different things is computed from.
enum class PairFeature : std::uint8_t {
  kMean,          ///< Mean strength of the common boundary, as merging by strength has it.
  kLeast,         ///< Least strength.
  kQuantile25,    ///< The strength that a quarter of the boundary stays below, from the bins.
  kQuantile50,    ///< The median strength.
  kQuantile90,    ///< The strength that nine tenths of the boundary stay below.
  kLength,        ///< Logarithm of the boundary's length, pixels.
  kShareSmaller,  ///< The boundary's share of the sides of the smaller region.
  kShareLarger,   ///< The boundary's share of the sides of the larger region.
  kAreaSmaller,   ///< Logarithm of the smaller region's share of the picture.
  kAreaLarger,    ///< Logarithm of the larger region's share of the picture.
  kDifferenceA,   ///< Difference of the mean a, natural units of CIE Lab.
  kDifferenceB,   ///< Difference of the mean b.
  kChi2L,         ///< Chi-squared distance of the histograms of L, from 0 to 1.
  kChi2A,         ///< Chi-squared distance of the histograms of a.
  kChi2B,         ///< Chi-squared distance of the histograms of b.
  kEmbedding,     ///< Distance of the mean vectors of the network's embedding; 0 without one.
};
inline constexpr std::size_t kPairFeatures = 16;

/// The names of the features in files of weights, in the order of PairFeature.
inline constexpr std::array<std::string_view, kPairFeatures> kPairFeatureNames = {
    "mean",          "least",        "quantile_25",  "quantile_50", "quantile_90",  "length",
    "share_smaller", "share_larger", "area_smaller", "area_larger", "difference_a", "difference_b",
    "chi2_l",        "chi2_a",       "chi2_b",       "embedding"};

using PairFeatures = std::array<double, kPairFeatures>;

/// The features of two regions, neither of which is empty, with a common boundary of at least one
/// pair of pixels. `pixels`: what areas are shares of. Of regions with equal areas the one that is
/// given first counts as the smaller.
PairFeatures pair_features(const RegionSums& first, const RegionSums& second,
                           const BoundarySums& boundary, double pixels);

/// One feature of a model: weight * (the feature - mean) / deviation, the quotient limited to
/// -kMostDeviations to kMostDeviations.
struct MergingTerm {
  PairFeature feature = PairFeature::kMean;
  double weight = 0;
  double mean = 0;
  double deviation = 1;
};

/// The logarithm of the odds that two regions are different things: the bias and the terms' sum.
struct MergingModel {
  static constexpr double kMostDeviations = 4;

  double bias = 0;
  std::vector<MergingTerm> terms;

  double logit(const PairFeatures& features) const;
};

/// What a file of weights holds (docs/merging.md).
struct MergingWeights {
  MergingModel colour;   ///< For images in colour.
  MergingModel grey;     ///< For grey images: no term has to do with a or b.
  double threshold = 0;  ///< The probability at which the automatic cut is made.

  bool need_embedding() const;
};

/// The weights in the file of that path; empty: the built-in ones for pictures with an embedding or
/// without. Throws ConfigError when there is no such file, it is damaged, or its weights need an
/// embedding that there is not.
MergingWeights load_merging_weights(const std::string& path, bool embedding = false);

/// The weights in the text of a file that messages call `name`. Throws ConfigError.
MergingWeights parse_merging_weights(const std::string& text, const std::string& name);

}  // namespace diacut
