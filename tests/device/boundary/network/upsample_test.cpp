#include <gtest/gtest.h>

#include <random>

#include "boundary/network/picture_kernels.hpp"
#include "guarded.hpp"
#include "network_tensors.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

void expect_upsampling(Context& context, int channels, int width, int height) {
  SCOPED_TRACE(::testing::Message() << width << "x" << height);
  std::mt19937 random(static_cast<unsigned>(width * 3 + height));
  const NetworkPlanes fine = network_planes(width, height, 2);
  const NetworkPlanes coarse = network_planes((width + 1) / 2, (height + 1) / 2, 1);
  const ReferenceTensor tensor = random_tensor(channels, coarse.width, coarse.height, random);
  Guarded<float> in(context, laid_out(tensor, coarse));
  Guarded<float> out(context, fine.elements(channels));
  launch_network_upsample(context, coarse, *in, fine, *out, channels);
  NetworkOp op;
  op.kind = NetworkOpKind::kUpsample;
  const ReferenceTensor sizes = magnitudes(tensor);
  ReferenceTensor allowed = reference_operation(op, sizes, nullptr, width, height);
  for (double& value : allowed.values) value *= 4 * kEpsilon;  // Four products.
  expect_tensor(out.values(), fine, reference_operation(op, tensor, nullptr, width, height),
                allowed);
}

TEST(NetworkUpsample, MatchesTheReference) {
  Context context(testing::test_device());
  for (const auto& [width, height] : testing::kTensorSizes) {
    expect_upsampling(context, 3, width, height);
  }
}

TEST(TinyNetworkUpsample, MatchesTheReference) {
  Context context(testing::test_device());
  expect_upsampling(context, 2, 5, 3);
}

}  // namespace
}  // namespace diacut::testing
