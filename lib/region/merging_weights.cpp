#include "region/merging_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/embedded_text.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

using nlohmann::json;

constexpr const char* kFormat = "diacut-merging";
constexpr int kVersion = 1;
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

MergingWeights parse_merging_weights(const std::string& text, const std::string& name) {
  try {
    const json root = json::parse(text);
    if (root.at("format") != kFormat) fail(name, "its format is not \"diacut-merging\"");
    if (root.at("version") != kVersion) {
      fail(name, fmt::format("its version is not {}", kVersion));
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

MergingWeights load_merging_weights(const std::string& name) {
  const std::string wanted = name.empty() ? "merging.json" : "merging-" + name + ".json";
  for (const EmbeddedText& file : embedded_merging()) {
    if (file.name == wanted) return parse_merging_weights(std::string(file.text), wanted);
  }
  return parse_merging_weights(text_of_file(name), name);
}

}  // namespace diacut
