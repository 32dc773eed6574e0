#include "region/tree/merging_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/embedded_text.hpp"
#include "diacut/errors.hpp"
#include "region/arcs/arcs.hpp"

namespace diacut {

namespace {

using nlohmann::json;

constexpr const char* kMergingFormat = "diacut-merging";
constexpr int kMergingVersion = 1;
/// No file of weights is larger; another file given by mistake may be.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw ConfigError(fmt::format(
      "the merging weights '{}': {}; expected a file as app/learn/fit_merging.py writes it", name,
      what));
}

/// A number whose products and sums with others are finite too.
double finite(const json& value) {
  constexpr double kLargest = 1e100;
  const double number = value.get<double>();
  if (!(std::abs(number) <= kLargest)) {
    throw std::domain_error(
        fmt::format("the number {} is of a magnitude above {}", number, kLargest));
  }
  return number;
}

bool needs_colour(PairFeature feature) {
  return feature == PairFeature::kDifferenceA || feature == PairFeature::kDifferenceB ||
         feature == PairFeature::kChi2A || feature == PairFeature::kChi2B;
}

MergingModel model_of(const json& root, bool colour) {
  MergingModel model;
  model.bias = finite(root.at("bias"));
  for (const json& each : root.at("terms")) {
    const auto name = each.at("feature").get<std::string>();
    const auto found = std::find(kPairFeatureNames.begin(), kPairFeatureNames.end(), name);
    if (found == kPairFeatureNames.end()) {
      throw std::domain_error(fmt::format("there is no feature '{}'", name));
    }
    const auto feature = static_cast<PairFeature>(found - kPairFeatureNames.begin());
    if (!colour && needs_colour(feature)) {
      throw std::domain_error(fmt::format("grey images have no feature '{}'", name));
    }
    const MergingTerm term{feature, finite(each.at("weight")), finite(each.at("mean")),
                           finite(each.at("deviation"))};
    if (!(term.deviation > 0)) throw std::domain_error("a deviation is not above 0");
    model.terms.push_back(term);
  }
  return model;
}

std::string text_of_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  // Reading less than was asked for sets the stream's state to failed too.
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto size = static_cast<std::size_t>(stream.gcount());
  if (stream.bad() || size == 0 || size == kMostBytes) {
    throw ConfigError(fmt::format(
        "region.merging_weights: the file '{}' cannot be read: it is missing, empty, no plain "
        "file, or larger than {} bytes; leave it empty for the weights that are built in",
        path, kMostBytes));
  }
  text.resize(size);
  return text;
}

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

double embedding_distance(const RegionSums& first, const RegionSums& second) {
  double sum = 0;
  for (std::size_t k = 0; k < first.embedding.size(); ++k) {
    const double apart =
        static_cast<double>(first.embedding[k]) / static_cast<double>(first.area) -
        static_cast<double>(second.embedding[k]) / static_cast<double>(second.area);
    sum += apart * apart;
  }
  return kEmbeddingUnit * std::sqrt(sum);
}

}  // namespace

double MergingModel::logit(const PairFeatures& features) const {
  double sum = bias;
  for (const MergingTerm& term : terms) {
    const double value = features[static_cast<std::size_t>(term.feature)];
    const double deviations = (value - term.mean) / term.deviation;
    sum += term.weight * std::clamp(deviations, -kMostDeviations, kMostDeviations);
  }
  return sum;
}

bool MergingWeights::need_embedding() const {
  const auto in = [](const MergingModel& model) {
    return std::any_of(model.terms.begin(), model.terms.end(), [](const MergingTerm& term) {
      return term.feature == PairFeature::kEmbedding;
    });
  };
  return in(colour) || in(grey);
}

MergingWeights parse_merging_weights(const std::string& text, const std::string& name) {
  try {
    const json root = json::parse(text);
    if (root.at("format") != kMergingFormat) fail(name, "its format is not \"diacut-merging\"");
    if (root.at("version") != kMergingVersion) {
      fail(name, fmt::format("its version is not {}", kMergingVersion));
    }
    MergingWeights weights{model_of(root.at("colour"), true), model_of(root.at("grey"), false),
                           finite(root.at("threshold"))};
    if (!(weights.threshold >= 0 && weights.threshold <= 1)) {
      fail(name, fmt::format("its threshold is {}, not from 0 to 1", weights.threshold));
    }
    return weights;
  } catch (const json::exception& error) {
    fail(name, error.what());
  } catch (const std::domain_error& error) {
    fail(name, error.what());
  }
}

MergingWeights load_merging_weights(const std::string& path, bool embedding) {
  if (path.empty()) {
    const std::string name = embedding ? "merging-embedding.json" : "merging.json";
    const std::vector<EmbeddedText>& files = embedded_merging();
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const EmbeddedText& each) { return each.name == name; });
    return parse_merging_weights(std::string(file->text), name);
  }
  MergingWeights weights = parse_merging_weights(text_of_file(path), path);
  if (weights.need_embedding() && !embedding) {
    throw ConfigError(fmt::format(
        "the merging weights '{}' need the embedding of a network, and the boundary map comes from "
        "none that has one: take a network with an embedding (--weights default), or leave "
        "region.merging_weights empty",
        path));
  }
  return weights;
}

void RegionSums::add(const RegionSums& other) {
  area += other.area;
  sides += other.sides;
  for (std::size_t k = 0; k < ab.size(); ++k) ab[k] += other.ab[k];
  for (std::size_t k = 0; k < bins.size(); ++k) bins[k] += other.bins[k];
  for (std::size_t k = 0; k < embedding.size(); ++k) embedding[k] += other.embedding[k];
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
  set(PairFeature::kEmbedding, embedding_distance(smaller, larger));
  return features;
}

}  // namespace diacut
