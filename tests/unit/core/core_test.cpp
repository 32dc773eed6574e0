#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <future>
#include <latch>
#include <limits>
#include <thread>
#include <vector>

#include "core/background.hpp"
#include "core/large_memory.hpp"
#include "core/parallel.hpp"
#include "core/split_text.hpp"
#include "core/unit_range.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

TEST(UnitRange, HasItsEndsAndTellsTheFirstValueOutsideWhereverItIs) {
  EXPECT_FALSE(value_outside_unit_range({}));
  EXPECT_FALSE(value_outside_unit_range(std::vector<float>{0.0F, 0.5F, 1.0F, -0.0F}));
  // Several threads and several blocks, the last of which is not whole.
  for (const std::size_t at : {0U, 1U, 4095U, 4096U, 300'000U, 999'998U}) {
    std::vector<float> values(999'999, 0.5F);
    values[at] = std::nextafter(1.0F, 2.0F);
    values[999'998] = values[at];
    EXPECT_EQ(value_outside_unit_range(values), values[at]) << at;
    values[at] = -1e-9F;
    EXPECT_EQ(value_outside_unit_range(values), -1e-9F) << at;
    values[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(value_outside_unit_range(values).value_or(0))) << at;
  }
}

TEST(SplitText, SeparatorsEndParts) {
  EXPECT_THAT(split_text("", '\n'), IsEmpty());
  EXPECT_THAT(split_text("a", '\n'), ElementsAre("a"));
  EXPECT_THAT(split_text("a\n", '\n'), ElementsAre("a"));
  EXPECT_THAT(split_text("a\n\nb", '\n'), ElementsAre("a", "", "b"));
  EXPECT_THAT(split_text("\n", '\n'), ElementsAre(""));
}

TEST(EditDistance, CountsWhatHasToChange) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("radius", "radius"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("radius", "raduis"), 2u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2u);
}

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

TEST(InBackground, ManyThreadsComputeEachAlone) {
  constexpr int kThreads = 8;
  std::latch begun(kThreads);
  std::latch ended(kThreads);
  const auto work = [&] {
    begun.arrive_and_wait();
    const auto own = std::this_thread::get_id();
    std::atomic<int> others = 0;
    parallel_for(std::size_t{64},
                 [&](std::size_t) { others += std::this_thread::get_id() != own; });
    ended.arrive_and_wait();
    return others.load();
  };
  std::vector<std::future<int>> threads;
  for (int k = 0; k < kThreads; ++k) threads.push_back(in_background(work));
  for (std::future<int>& each : threads) EXPECT_EQ(each.get(), 0);
}

}  // namespace
}  // namespace diacut::testing
