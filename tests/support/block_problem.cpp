#include "block_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "guarded.hpp"

namespace diacut::testing {

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected,
                 const std::vector<double>& magnitude, double roundings) {
  ASSERT_EQ(found.size(), expected.size());
  expect_numbers(found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_LE(std::abs(found[i] - expected[i]), roundings * kEps * magnitude[i])
        << "value " << i << ": " << found[i] << ", expected " << expected[i];
  }
}

}  // namespace diacut::testing
