// What a context counts of its buffers, and what it keeps of those that are freed.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "opencl/buffer.hpp"
#include "opencl/context.hpp"
#include "opencl/memory_pool.hpp"
#include "support.hpp"

namespace diacut {
namespace {

constexpr std::size_t kPage = 4096;

class TinyMemory : public ::testing::Test {
 protected:
  void SetUp() override { is_cpu_ = context_.info().kind == DeviceKind::kCpu; }
  Buffer<char> buffer(std::size_t bytes) { return context_.allocate<char>(bytes, "a buffer"); }
  Context context_{testing::test_device()};
  bool is_cpu_ = false;
};

TEST_F(TinyMemory, IsKeptForBuffersOfTheSameSize) {
  if (is_cpu_) GTEST_SKIP() << "a CPU has a pool";
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

TEST_F(TinyMemory, IsGivenUpWhereItStandsInTheWay) {
  if (is_cpu_) GTEST_SKIP() << "a CPU has a pool";
  context_.limit_memory(10'000);
  buffer(8000);
  EXPECT_EQ(context_.memory_kept(), 8000u);
  {
    const Buffer<char> fits_beside = buffer(2000);
    EXPECT_EQ(context_.memory_kept(), 8000u);
  }
  EXPECT_EQ(context_.memory_kept(), 10'000u);
  const Buffer<char> does_not = buffer(2001);
  EXPECT_EQ(context_.memory_kept(), 0u);
  EXPECT_EQ(context_.memory_in_use(), 2001u);
}

TEST_F(TinyMemory, IsLimited) {
  context_.limit_memory(10'000);
  const Buffer<char> most = buffer(8000);
  EXPECT_THROW(buffer(2001), DeviceMemoryError);
  EXPECT_EQ(context_.memory_in_use(), 8000u);
  EXPECT_EQ(context_.memory_peak(), 8000u);
}

TEST_F(TinyMemory, OfACpuServesBuffersOfAnySize) {
  if (!is_cpu_) GTEST_SKIP() << "only a CPU has a pool";
  {
    Buffer<char> first = buffer(5 * kPage);
    const Buffer<char> second = buffer(3 * kPage);
    EXPECT_EQ(context_.memory_kept(), 0u);
    first = Buffer<char>();
    EXPECT_EQ(context_.memory_kept(), 5 * kPage);
    const Buffer<char> smaller = buffer(kPage + 1);  // Two pages.
    EXPECT_EQ(context_.memory_kept(), 3 * kPage);
  }
  EXPECT_EQ(context_.memory_kept(), 8 * kPage);
  const Buffer<char> all = buffer(8 * kPage);
  EXPECT_EQ(context_.memory_kept(), 0u);
  EXPECT_EQ(context_.memory_in_use(), 8 * kPage);
}

/// A buffer in freed memory that commands still use: they run before its own.
TEST_F(TinyMemory, IsReusedInTheOrderOfTheQueue) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  for (char k = 1; k < 20; ++k) {
    Buffer<char> first = buffer(kBytes);
    first.fill(k);
    auto arriving = first.download_later();
    first = Buffer<char>();
    Buffer<char> second = buffer(kBytes);
    second.fill(static_cast<char>(k + 50));
    EXPECT_EQ(arriving.take(), std::vector<char>(kBytes, k));
    EXPECT_EQ(second.download(), std::vector<char>(kBytes, static_cast<char>(k + 50)));
  }
}

TEST_F(TinyMemory, OfACpuReturnsToTheSystem) {
  if (!is_cpu_) GTEST_SKIP() << "only a CPU has a pool";
  {
    const Buffer<char> first = buffer(5 * kPage);
    const Buffer<char> second = buffer(3 * kPage);
  }
  context_.keep_main_memory(2 * kPage + 1);
  EXPECT_EQ(context_.memory_kept(), 2 * kPage);
  const Buffer<char> first = buffer(1);
  context_.keep_main_memory(0);
  EXPECT_EQ(context_.memory_kept(), 0u);
}

TEST(MemoryPool, GivesRangesByFirstFitAndJoinsThem) {
  MemoryPool pool(std::size_t{1} << 20);
  std::vector<MemoryPool::Memory> all;
  for (int k = 0; k < 5; ++k) all.push_back(pool.take(2 * kPage));
  std::byte* const start = all[0].get();
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k].get(), start + 2 * k * kPage);
  all[1].reset();
  all[3].reset();
  EXPECT_EQ(pool.kept(), 4 * kPage);
  EXPECT_EQ(pool.take(3 * kPage).get(), start + 10 * kPage);
  all[2].reset();  // Joined with both, ranges 1 to 3 have six pages.
  const MemoryPool::Memory joined = pool.take(6 * kPage);
  EXPECT_EQ(joined.get(), start + 2 * kPage);
  EXPECT_EQ(pool.kept(), 3 * kPage);
}

/// The bytes of what was returned to the system are zeros when it comes again.
TEST(MemoryPool, ReturnsTheEndToTheSystem) {
  MemoryPool pool(std::size_t{1} << 20);
  constexpr std::size_t kBytes = 8 * kPage;
  MemoryPool::Memory first = pool.take(kPage);
  MemoryPool::Memory second = pool.take(kBytes);
  std::byte* const start = second.get();
  std::memset(start, 7, kBytes);
  second.reset();
  pool.keep_at_most(3 * kPage);
  EXPECT_EQ(pool.kept(), 3 * kPage);
  second = pool.take(kBytes);
  ASSERT_EQ(second.get(), start);
  EXPECT_EQ(start[3 * kPage - 1], std::byte{7});
  EXPECT_EQ(start[3 * kPage], std::byte{0});
  EXPECT_EQ(start[kBytes - 1], std::byte{0});
  first.reset();
  pool.keep_at_most(0);
  EXPECT_EQ(pool.kept(), kPage);  // What lies before a range in use stays.
}

TEST(MemoryPool, TakesMoreThanOneMapping) {
  // Of more addresses than there are: ranges come one by one.
  for (const std::size_t addresses : {std::size_t{1} << 20, std::size_t{1} << 60}) {
    MemoryPool pool(addresses);
    const std::size_t bytes = std::size_t{3} << 19;
    const MemoryPool::Memory first = pool.take(bytes);
    const MemoryPool::Memory second = pool.take(bytes);
    ASSERT_TRUE(first && second);
    *first = *second = std::byte{1};
    EXPECT_EQ(pool.kept(), 0u);
    EXPECT_EQ(pool.take(1).get(), first.get() + bytes);  // The rest of a page of 2 MiB.
    EXPECT_FALSE(pool.take(std::size_t{1} << 60));
  }
}

}  // namespace
}  // namespace diacut
