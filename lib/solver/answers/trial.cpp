#include "answers/trial.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diacut {

std::pair<double, double> dot_product(std::span<const double> a, std::span<const double> b) {
  TermSums sum(1);
  for (std::size_t i = 0; i < a.size(); ++i) sum.add(0, a[i] * b[i]);
  return {sum.values[0], sum.magnitudes[0]};
}

std::vector<float> Trial::normal(std::size_t count) {
  std::normal_distribution<float> distribution;
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random_);
  return values;
}

std::vector<float> Trial::uniform(std::size_t count) {
  std::uniform_real_distribution<float> distribution(0.0F, 1.0F);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random_);
  return values;
}

void Trial::expect_one(std::string_view what, double found, double expected, double allowed,
                       std::size_t index) {
  const double error = std::abs(found - expected);
  if (!(error <= allowed)) {
    throw WrongAnswer(fmt::format("{}: number {} is {:.9g}, expected {:.9g}, give or take {:.2g}",
                                  what, index, found, expected, allowed));
  }
  if (allowed > 0) worst_ = std::max(worst_, error / allowed);
}

void Trial::expect(std::string_view what, std::span<const float> found,
                   std::span<const double> expected, std::span<const double> magnitude,
                   double roundings) {
  require(found.size() == expected.size(),
          fmt::format("{}: {} numbers, expected {}", what, found.size(), expected.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    expect_one(what, found[i], expected[i], roundings * kEps * magnitude[i], i);
  }
}

void Trial::expect_within(std::string_view what, std::span<const float> found,
                          std::span<const double> expected, std::span<const double> allowed) {
  expect(what, found, expected, allowed, 1 / kEps);
}

void Trial::expect_near(std::string_view what, std::span<const float> found,
                        std::span<const double> expected, double allowed) {
  expect_within(what, found, expected, std::vector<double>(expected.size(), allowed));
}

void Trial::require(bool holds, const std::string& what) {
  if (!holds) throw WrongAnswer(what);
}

}  // namespace diacut
