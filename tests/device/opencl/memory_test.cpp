// What a context counts of its buffers, and what it keeps of those that are freed: for buffers of
// the same sizes, on a CPU also for those of half the size and more, until it stands in the way or
// on a CPU more than ever were in use would be held.
#include <gtest/gtest.h>

#include <cstddef>

#include "opencl/buffer.hpp"
#include "opencl/context.hpp"
#include "support.hpp"

namespace diacut {
namespace {

class TinyMemory : public ::testing::Test {
 protected:
  Buffer<char> buffer(std::size_t bytes) { return context_.allocate<char>(bytes, "a buffer"); }
  /// As if so many bytes had been in use.
  void have_used(std::size_t bytes) {
    buffer(bytes);
    context_.drop_kept();
  }
  Context context_{testing::test_device()};
};

TEST_F(TinyMemory, IsKeptForBuffersOfTheSameSize) {
  have_used(4000);
  context_.reset_memory_peak();
  {
    const Buffer<char> first = buffer(1000);
    const Buffer<char> second = buffer(1000);
    EXPECT_EQ(context_.memory_in_use(), 2000u);
    EXPECT_EQ(context_.memory_kept(), 0u);
  }
  EXPECT_EQ(context_.memory_in_use(), 0u);
  EXPECT_EQ(context_.memory_kept(), 2000u);
  {
    const Buffer<char> larger = buffer(1001);
    EXPECT_EQ(context_.memory_in_use(), 1001u);
    EXPECT_EQ(context_.memory_kept(), 2000u);
    const Buffer<char> same = buffer(1000);
    EXPECT_EQ(context_.memory_in_use(), 2001u);
    EXPECT_EQ(context_.memory_kept(), 1000u);
  }
  EXPECT_EQ(context_.memory_kept(), 3001u);
  EXPECT_EQ(context_.memory_peak(), 2001u);
}

TEST_F(TinyMemory, IsKeptForSmallerBuffersOnCpusAlone) {
  have_used(2000);
  buffer(1000);
  const bool is_cpu = context_.info().kind == DeviceKind::kCpu;
  {
    const Buffer<char> half = buffer(500);
    EXPECT_EQ(context_.memory_in_use(), 500u);
    EXPECT_EQ(context_.memory_kept(), is_cpu ? 0u : 1000u);
  }
  EXPECT_EQ(context_.memory_kept(), is_cpu ? 1000u : 1500u);
  const Buffer<char> less = buffer(499);
  EXPECT_EQ(context_.memory_kept(), is_cpu ? 1000u : 1500u);
}

TEST_F(TinyMemory, IsGivenUpWhereItStandsInTheWay) {
  context_.limit_memory(10'000);
  have_used(10'000);
  buffer(8000);
  EXPECT_EQ(context_.memory_kept(), 8000u);
  {
    const Buffer<char> fits_beside = buffer(2000);
    EXPECT_EQ(context_.memory_kept(), 8000u);
  }
  EXPECT_EQ(context_.memory_kept(), 10'000u);
  const Buffer<char> does_not = buffer(2001);
  EXPECT_EQ(context_.memory_kept(), 2000u);
  EXPECT_EQ(context_.memory_in_use(), 2001u);
  EXPECT_THROW(buffer(8000), DeviceError);
}

TEST_F(TinyMemory, OfCpusIsNeverMoreThanWasInUseAtOnce) {
  const bool is_cpu = context_.info().kind == DeviceKind::kCpu;
  {
    const Buffer<char> first = buffer(1000);
    const Buffer<char> second = buffer(2000);
  }
  EXPECT_EQ(context_.memory_kept(), 3000u);
  const Buffer<char> larger = buffer(1200);  // On a CPU in the memory of the second.
  EXPECT_EQ(context_.memory_kept(), is_cpu ? 1000u : 3000u);
  const Buffer<char> small = buffer(300);
  EXPECT_EQ(context_.memory_kept(), is_cpu ? 0u : 3000u);
  EXPECT_EQ(context_.memory_in_use(), 1500u);
}

}  // namespace
}  // namespace diacut
