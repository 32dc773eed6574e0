#include "region/object_score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/embedded_text.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

using nlohmann::json;

constexpr const char* kObjectScoreFormat = "diacut-objects";
constexpr int kObjectScoreVersion = 1;

[[noreturn]] void fail_object_score(const std::string& name, const std::string& what) {
  throw ConfigError(
      fmt::format("the score of objects '{}': {}; expected a file as app/learn/fit_objects.py "
                  "writes it",
                  name, what));
}

template <std::size_t count>
std::array<double, count> numbers_of(const json& list) {
  if (list.size() != count) {
    throw std::domain_error(fmt::format("a list has {} numbers, not {}", list.size(), count));
  }
  std::array<double, count> numbers{};
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = list[i].get<double>();
    if (!std::isfinite(numbers[i])) throw std::domain_error("a number is not finite");
  }
  return numbers;
}

}  // namespace

double ObjectModel::probability(const ObjectFeatures& features) const {
  ObjectFeatures scaled{};
  for (std::size_t i = 0; i < kObjectFeatures; ++i) {
    scaled[i] =
        std::clamp((features[i] - mean[i]) / deviation[i], -kMostDeviations, kMostDeviations);
  }
  double logit = bias;
  std::size_t product = 0;
  for (std::size_t i = 0; i < kObjectFeatures; ++i) {
    logit += weights[i] * scaled[i];
    for (std::size_t j = i; j < kObjectFeatures; ++j) {
      logit += products[product++] * scaled[i] * scaled[j];
    }
  }
  return 1 / (1 + std::exp(-logit));
}

ObjectModel parse_object_model(const std::string& text, const std::string& name) {
  try {
    const json root = json::parse(text);
    if (root.at("format") != kObjectScoreFormat)
      fail_object_score(name, fmt::format("its format is not \"{}\"", kObjectScoreFormat));
    if (root.at("version") != kObjectScoreVersion)
      fail_object_score(name, fmt::format("its version is not {}", kObjectScoreVersion));
    const json& features = root.at("features");
    if (features != json(kObjectFeatureNames)) {
      fail_object_score(name, "its features are not those of lib/region/object_features.hpp");
    }
    ObjectModel model;
    model.least = numbers_of<1>(json::array({root.at("least")}))[0];
    model.bias = numbers_of<1>(json::array({root.at("bias")}))[0];
    model.mean = numbers_of<kObjectFeatures>(root.at("mean"));
    model.deviation = numbers_of<kObjectFeatures>(root.at("deviation"));
    model.weights = numbers_of<kObjectFeatures>(root.at("weights"));
    model.products = numbers_of<ObjectModel::kProducts>(root.at("products"));
    if (*std::min_element(model.deviation.begin(), model.deviation.end()) <= 0) {
      fail_object_score(name, "a deviation is not above 0");
    }
    if (!(model.least >= 0 && model.least < 1)) {
      fail_object_score(
          name, fmt::format("its least probability is {}, not from 0 to below 1", model.least));
    }
    return model;
  } catch (const json::exception& error) {
    fail_object_score(name, error.what());
  } catch (const std::domain_error& error) {
    fail_object_score(name, error.what());
  }
}

const ObjectModel& nuclei_model() {
  static const ObjectModel model = [] {
    const EmbeddedText& file = embedded_objects().front();
    return parse_object_model(std::string(file.text), std::string(file.name));
  }();
  return model;
}

}  // namespace diacut
