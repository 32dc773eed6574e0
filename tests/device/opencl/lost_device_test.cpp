// A device that does not answer: one wait fails, nothing waits again, and memory of the caller that
// is gone by then is neither read nor written when the device goes on.
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <optional>
#include <vector>

#include "matchers.hpp"
#include "opencl/device_sums.hpp"
#include "opencl/uploads.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class LostDevice : public ::testing::Test {
 protected:
  static constexpr double kLimit = 0.2;

  void SetUp() override {
    context_.emplace(testing::test_device());
    // The first transfer maps memory, for which drivers wait.
    context_->allocate<int>(1, "a buffer").upload_later(std::vector<int>{1});
  }
  void TearDown() override { go_on(); }

  /// Lets nothing that is queued from now on begin.
  void stop() {
    context_->finish();  // A driver may compile kernels first.
    context_->set_wait_limit_seconds(kLimit);
    gate_.emplace(context_->cl());
    queue_ = context_->queue();
    const std::vector<cl::Event> events = {*gate_};
    queue_.enqueueBarrierWithWaitList(&events);
  }
  /// Lets the device do all that was queued.
  void go_on() {
    if (!gate_) return;
    gate_->setStatus(CL_COMPLETE);
    gate_.reset();
    queue_.finish();
  }

  std::optional<Context> context_;
  std::optional<cl::UserEvent> gate_;
  cl::CommandQueue queue_;  ///< Also held here, so that it outlives the context.
};

TEST_F(LostDevice, IsWaitedForOnce) {
  auto buffer = context_->allocate<int>(100, "a buffer");
  buffer.fill(1);
  stop();
  const Clock::time_point start = Clock::now();
  EXPECT_THAT([&] { context_->finish(); },
              ThrowsMessage<DeviceError>(HasSubstr("did not finish within")));
  EXPECT_TRUE(context_->lost());
  const double once = seconds_since(start);
  EXPECT_GE(once, kLimit);
  context_->set_wait_limit_seconds(1000);
  for (int again = 0; again < 3; ++again) {
    EXPECT_THAT([&] { context_->finish(); },
                ThrowsMessage<DeviceError>(HasSubstr("has not finished its earlier work")));
    EXPECT_THROW(buffer.download(), DeviceError);
    EXPECT_THROW(buffer.upload(std::vector<int>(100)), DeviceError);
  }
  { const WaitAtEnd end(*context_); }
  buffer = {};
  context_.reset();
  EXPECT_LT(seconds_since(start), 100);
}

TEST_F(LostDevice, WritesNothingToMemoryOfTheCaller) {
  // More than passes at once, and not a whole number of such parts.
  const std::size_t count = (std::size_t{1} << 20) + 7;
  auto buffer = context_->allocate<int>(count, "a buffer");
  buffer.fill(1);
  DeviceSums sums(*context_, 5, "sums");
  context_->finish();
  stop();
  std::vector<int> target(count, 7);
  EXPECT_THROW(buffer.download(std::span(target)), DeviceError);
  EXPECT_THROW(sums.download(5), DeviceError);
  go_on();
  EXPECT_EQ(target, std::vector<int>(count, 7));
}

TEST_F(LostDevice, ReadsWhatItWasGivenAlthoughTheContextIsGone) {
  auto buffer = context_->allocate<int>(1000, "a buffer");
  auto other = context_->allocate<int>(1000, "another buffer");
  // The commands need these, the context not.
  const cl::Buffer memory = buffer.cl();
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 1);
  stop();
  buffer.upload_later(numbers);
  Uploaded(*context_, std::vector<std::int32_t>(1000, 5));
  Arriving<int> arriving = other.download_later();
  EXPECT_THROW(arriving.take(), DeviceError);
  buffer = {};
  other = {};
  context_.reset();
  const std::vector<int> noise(100'000, -1);  // Takes freed memory.
  go_on();
  std::vector<int> found(1000);
  queue_.enqueueReadBuffer(memory, CL_TRUE, 0, 1000 * sizeof(int), found.data());
  EXPECT_EQ(found, numbers);
}

TEST_F(LostDevice, ATransferOfAnySizeArrives) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{262'144},
                                  std::size_t{262'145}, std::size_t{700'001}}) {
    auto buffer = context_->allocate<int>(count + 3, "a buffer");
    buffer.fill(-1);
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 1);
    buffer.upload(numbers, 2);
    std::vector<int> found = buffer.download();
    EXPECT_EQ(found.front(), -1);
    EXPECT_EQ(found.back(), -1);
    EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), found.begin() + 2)) << count;
    std::vector<int> part(count);
    buffer.download(std::span(part), 2);
    EXPECT_EQ(part, numbers);
  }
}

}  // namespace
}  // namespace diacut::testing
