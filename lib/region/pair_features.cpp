#include "region/pair_features.hpp"

#include <algorithm>
#include <cmath>

#include "region/arcs.hpp"

namespace diacut {

namespace {

/// The strength that a share of the boundary stays below; within a bin, strengths count as spread
/// evenly.
double quantile(const BoundarySums& boundary, double share) {
  const double wanted = share * static_cast<double>(boundary.length);
  double below = 0;
  for (std::size_t bin = 0; bin < kStrengthBins; ++bin) {
    const double here = boundary.bins[bin];
    if (here > 0 && below + here >= wanted) {
      return (static_cast<double>(bin) + (wanted - below) / here) / kStrengthBins;
    }
    below += here;
  }
  return 1;
}

/// Half the sum over the bins of one channel of (p - q)^2 / (p + q), for shares p and q of pixels.
double chi_squared(const RegionSums& first, const RegionSums& second, std::size_t channel) {
  const double of_first = 1.0 / static_cast<double>(first.area);
  const double of_second = 1.0 / static_cast<double>(second.area);
  double sum = 0;
  for (std::size_t k = channel * kColourBins; k < (channel + 1) * kColourBins; ++k) {
    if (first.bins[k] == 0 && second.bins[k] == 0) continue;
    const double p = first.bins[k] * of_first;
    const double q = second.bins[k] * of_second;
    sum += (p - q) * (p - q) / (p + q);
  }
  return 0.5 * sum;
}

double difference(const RegionSums& first, const RegionSums& second, std::size_t channel) {
  return std::abs(static_cast<double>(first.ab[channel]) / static_cast<double>(first.area) -
                  static_cast<double>(second.ab[channel]) / static_cast<double>(second.area));
}

}  // namespace

void RegionSums::add(const RegionSums& other) {
  area += other.area;
  sides += other.sides;
  for (std::size_t k = 0; k < ab.size(); ++k) ab[k] += other.ab[k];
  for (std::size_t k = 0; k < bins.size(); ++k) bins[k] += other.bins[k];
}

void BoundarySums::add(const BoundarySums& other) {
  strength += other.strength;
  length += other.length;
  least = std::min(least, other.least);
  for (std::size_t k = 0; k < bins.size(); ++k) bins[k] += other.bins[k];
}

void BoundarySums::add_level(std::uint32_t level) {
  least = std::min(least, level);
  ++bins[level * kStrengthBins / (kMostLevel + 1)];
}

PairFeatures pair_features(const RegionSums& first, const RegionSums& second,
                           const BoundarySums& boundary, double pixels) {
  const bool ordered = first.area <= second.area;
  const RegionSums& smaller = ordered ? first : second;
  const RegionSums& larger = ordered ? second : first;
  const auto length = static_cast<double>(boundary.length);
  PairFeatures features{};
  const auto set = [&](PairFeature feature, double value) {
    features[static_cast<std::size_t>(feature)] = value;
  };
  set(PairFeature::kMean,
      static_cast<double>(boundary.strength) / (length * static_cast<double>(kUnitStrength)));
  set(PairFeature::kLeast, static_cast<double>(boundary.least) / kMostLevel);
  set(PairFeature::kQuantile25, quantile(boundary, 0.25));
  set(PairFeature::kQuantile50, quantile(boundary, 0.5));
  set(PairFeature::kQuantile90, quantile(boundary, 0.9));
  set(PairFeature::kLength, std::log(length));
  set(PairFeature::kShareSmaller, length / static_cast<double>(smaller.sides));
  set(PairFeature::kShareLarger, length / static_cast<double>(larger.sides));
  set(PairFeature::kAreaSmaller, std::log(static_cast<double>(smaller.area) / pixels));
  set(PairFeature::kAreaLarger, std::log(static_cast<double>(larger.area) / pixels));
  set(PairFeature::kDifferenceA, difference(smaller, larger, 0));
  set(PairFeature::kDifferenceB, difference(smaller, larger, 1));
  set(PairFeature::kChi2L, chi_squared(smaller, larger, 0));
  set(PairFeature::kChi2A, chi_squared(smaller, larger, 1));
  set(PairFeature::kChi2B, chi_squared(smaller, larger, 2));
  return features;
}

}  // namespace diacut
