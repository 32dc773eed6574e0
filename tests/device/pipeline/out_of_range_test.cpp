// Looks of a device at its own results, at awkward sizes and places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "diacut/errors.hpp"
#include "pipeline/device_checks.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class OutOfRange : public ::testing::Test {
 protected:
  Buffer<float> on_device(const std::vector<float>& values) {
    auto buffer = context_.allocate<float>(values.size(), "values");
    buffer.upload(values);
    return buffer;
  }

  Context context_{test_device()};
};

TEST_F(OutOfRange, ABadStrengthIsFoundWhereverItLies) {
  context_.guard_allocations();
  for (const std::size_t size : {1, 63, 64, 65, 1000}) {
    const std::vector<float> good(size, 1);
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      for (const float bad : {1.01F, -0.01F, std::numeric_limits<float>::infinity(), NAN}) {
        std::vector<float> values = good;
        values[at] = bad;
        const Buffer<float> first = on_device(good);
        const Buffer<float> second = on_device(values);
        EXPECT_THAT(
            [&] {
              check_computed_maps(context_, {&first, &second});
            },
            ThrowsMessage<DeviceError>(
                AllOf(HasSubstr("stage boundaries"), HasSubstr("a strength of"))))
            << bad << " at " << at << " of " << size;
        EXPECT_NO_THROW(check_computed_maps(context_, {&first, &first}));
      }
    }
  }
  EXPECT_FALSE(context_.overrun());
}

TEST_F(OutOfRange, RootsOfDegreesAreZeroOrAtLeastOne) {
  EXPECT_NO_THROW(check_computed_degrees(on_device({0, 1, 9, 1e30F})));
  for (const float bad : {0.9F, -1.0F, std::numeric_limits<float>::infinity(), NAN}) {
    EXPECT_THAT(
        [&] {
          check_computed_degrees(on_device({1, bad, 0}));
        },
        ThrowsMessage<DeviceError>(HasSubstr("stage affinity")));
  }
}

}  // namespace
}  // namespace diacut::testing
