#include "core/large_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace diacut {
namespace {

// Sizes beside those from which on large pages are asked for, in bytes.
constexpr std::size_t kSizes[] = {0, 1, 4096, (8U << 20) - 1, 8U << 20, (8U << 20) + 1, 37'000'001};

TEST(LargeMemory, EveryElementOfAVectorHasTheValue) {
  for (const std::size_t size : kSizes) {
    const std::vector<std::uint8_t> bytes = large_vector<std::uint8_t>(size, 7);
    ASSERT_EQ(bytes.size(), size);
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](int value) { return value == 7; }));
    const std::vector<float> zeros = large_vector<float>(size / sizeof(float));
    ASSERT_EQ(zeros.size(), size / sizeof(float));
    EXPECT_TRUE(std::all_of(zeros.begin(), zeros.end(), [](float value) { return value == 0; }));
  }
}

TEST(LargeMemory, EveryElementOfAnArrayCanBeWritten) {
  for (const std::size_t size : kSizes) {
    const auto bytes = large_array<std::uint8_t>(size);
    std::fill_n(bytes.get(), size, std::uint8_t{9});
    EXPECT_EQ(std::count(bytes.get(), bytes.get() + size, 9), static_cast<std::ptrdiff_t>(size));
  }
}

// What was written stays, since the pages are taken before.
TEST(LargeMemory, MemoryBesideTheWholePagesIsLeftAlone) {
  std::vector<std::uint8_t> around(24U << 20, 5);
  take_large_pages(around.data() + 1, around.size() - 2);
  EXPECT_TRUE(std::all_of(around.begin(), around.end(), [](int value) { return value == 5; }));
}

}  // namespace
}  // namespace diacut
