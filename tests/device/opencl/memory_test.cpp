// What a context counts of its buffers, and what it keeps of those that are let go of: nothing on a
// CPU; elsewhere for buffers of the same sizes, until it stands in the way.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "opencl/buffer.hpp"
#include "opencl/context.hpp"
#include "support.hpp"

namespace diacut {
namespace {

class TinyMemory : public ::testing::Test {
 protected:
  Buffer<char> buffer(std::size_t bytes) { return context_.allocate<char>(bytes, "a buffer"); }
  /// `bytes` where memory is kept at all.
  std::uint64_t kept(std::uint64_t bytes) const {
    return context_.info().kind == DeviceKind::kCpu ? 0 : bytes;
  }

  Context context_{testing::test_device()};
};

TEST_F(TinyMemory, IsKeptForBuffersOfTheSameSize) {
  {
    const Buffer<char> first = buffer(1000);
    const Buffer<char> second = buffer(1000);
    EXPECT_EQ(context_.memory_in_use(), 2000u);
    EXPECT_EQ(context_.memory_kept(), 0u);
  }
  EXPECT_EQ(context_.memory_in_use(), 0u);
  EXPECT_EQ(context_.memory_kept(), kept(2000));
  {
    const Buffer<char> larger = buffer(1001);
    EXPECT_EQ(context_.memory_in_use(), 1001u);
    EXPECT_EQ(context_.memory_kept(), kept(2000));
    const Buffer<char> same = buffer(1000);
    EXPECT_EQ(context_.memory_in_use(), 2001u);
    EXPECT_EQ(context_.memory_kept(), kept(1000));
  }
  EXPECT_EQ(context_.memory_kept(), kept(3001));
  EXPECT_EQ(context_.memory_peak(), 2001u);
}

TEST_F(TinyMemory, IsGivenUpWhereItStandsInTheWay) {
  context_.limit_memory(10'000);
  buffer(8000);
  EXPECT_EQ(context_.memory_kept(), kept(8000));
  {
    const Buffer<char> fits_beside = buffer(2000);
    EXPECT_EQ(context_.memory_kept(), kept(8000));
  }
  EXPECT_EQ(context_.memory_kept(), kept(10'000));
  const Buffer<char> does_not = buffer(2001);
  EXPECT_EQ(context_.memory_kept(), 0u);
  EXPECT_EQ(context_.memory_in_use(), 2001u);
  EXPECT_THROW(buffer(8000), DeviceError);
}

}  // namespace
}  // namespace diacut
