#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "boundary/boundary.hpp"
#include "boundary/network/load_network.hpp"
#include "network_file.hpp"
#include "support.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {

/// Boundary maps by one network, which tests write to a file.
class NetworkBoundaryMap : public ::testing::Test {
 protected:
  NetworkBoundaryMap() {
    parameters_.kind = BoundaryKind::kLearned;
    // Tests of scales, borders and built-in networks set these themselves.
    parameters_.scales = {1.0};
    parameters_.border = 0;
    parameters_.weights = folder_ / "network.safetensors";
  }

  /// Makes the network of a file the one of the parameters.
  std::shared_ptr<const Network> use(const NetworkFile& file) {
    file.write(parameters_.weights);
    return load_network(parameters_.weights);
  }

  DeviceBoundary map_of(const Image& image) {
    return boundary_map(context_, image, {image.width, image.height}, parameters_);
  }

  std::vector<float> values_of(const Image& image) {
    const DeviceBoundary map = map_of(image);
    EXPECT_FALSE(map.inside);
    return map.values.download();
  }

  /// The boundary and the inside map.
  std::array<std::vector<float>, 2> both_of(const Image& image) {
    const DeviceBoundary map = map_of(image);
    return {map.values.download(), map.inside.download()};
  }

  template <class Expected>
  static void expect_near(const std::vector<float>& found, const std::vector<Expected>& expected,
                          double tolerance) {
    ASSERT_EQ(found.size(), expected.size());
    double most = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double difference = std::abs(static_cast<double>(found[i]) - expected[i]);
      ASSERT_FALSE(std::isnan(found[i])) << i;
      most = std::max(most, difference);
    }
    EXPECT_LE(most, tolerance);
  }

  TempFolder folder_;
  Context context_{test_device()};
  BoundaryParameters parameters_;
};

// The graphs are 8 convolutions deep, of up to 153 products each that grow by little on their way,
// and the logistic function shrinks what is left by four: a few hundred roundings of 6e-8.
inline constexpr double kRoundings = 1e-5;

inline constexpr int kSizes[][2] = {{1, 1}, {1, 7},   {7, 1},   {2, 2},
                                    {5, 4}, {17, 13}, {64, 32}, {97, 61}};

}  // namespace diacut::testing
