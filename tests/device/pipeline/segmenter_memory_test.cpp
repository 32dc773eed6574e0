// What a run announces against what it takes on the device.
#include <gtest/gtest.h>

#include "diacut/segmenter.hpp"
#include "support.hpp"
#include "two_discs.hpp"

namespace diacut {
namespace {

using testing::test_device;
using testing::two_discs;

/// Expects that at most a tenth of what was announced for the device was not taken, and no more
/// was taken.
void expect_taken_as_announced(const Parameters& parameters, int width, int height) {
  SCOPED_TRACE(::testing::Message() << width << "x" << height);
  Segmenter segmenter(parameters, test_device());
  const Image image = two_discs(width, height);
  const Segmentation result = segmenter.segment(image);
  const std::uint64_t announced = result.memory_plan.device_bytes();
  EXPECT_LE(result.device_peak_bytes, announced);
  EXPECT_GE(result.device_peak_bytes, announced - announced / 10);
  const MemoryPlan before =
      plan_memory({width, height, image.channels}, parameters, segmenter.device(), 0);
  EXPECT_EQ(before.device_bytes(), announced);
  EXPECT_EQ(before.host_bytes(), result.memory_plan.host_bytes());
  EXPECT_GT(result.host_before_bytes, 0u);
  EXPECT_LT(result.host_before_bytes, result.host_peak_bytes);
}

TEST(SegmenterMemory, IsTakenAsAnnounced) {
  Parameters parameters;
  expect_taken_as_announced(parameters, 64, 48);
  parameters.image.detail = 64;
  expect_taken_as_announced(parameters, 160, 120);
  parameters.cue.kind = CueKind::kGradient;
  expect_taken_as_announced(parameters, 160, 120);
  parameters.image.detail = 0;
  parameters.eigen.solver = SolverKind::kLanczos;
  expect_taken_as_announced(parameters, 64, 48);
}

}  // namespace
}  // namespace diacut
