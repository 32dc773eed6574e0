#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "boundary/network/picture_kernels.hpp"
#include "guarded.hpp"
#include "network_tensors.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

TEST(TinyNetworkOutput, IsLogisticAndGoesToItsPlace) {
  Context context(testing::test_device());
  std::mt19937 random(4);
  const NetworkPlanes planes = network_planes(9, 6, 3);
  ReferenceTensor logits = random_tensor(2, 9, 6, random);
  logits.at(0, 3, 2) = -200;
  logits.at(0, 4, 2) = 200;
  Guarded<float> in(context, laid_out(logits, planes));
  for (const int channel : {0, 1}) {
    Guarded<float> map(context, std::vector<float>(13 * 11, -1.0f));
    launch_network_output(context, planes, *in, channel, {2, 1, 5, 6, 4, 3}, {*map, 13, 11});
    const std::vector<float> values = map.values();
    for (int y = 0; y < 11; ++y) {
      for (int x = 0; x < 13; ++x) {
        const bool inside = x >= 5 && x < 9 && y >= 6 && y < 9;
        const double expected =
            inside ? 1 / (1 + std::exp(-logits.at(channel, x - 5 + 2, y - 6 + 1))) : -1;
        EXPECT_NEAR(values[static_cast<std::size_t>(y * 13 + x)], expected, 8 * kEpsilon);
      }
    }
  }
}

}  // namespace
}  // namespace diacut::testing
