#include "core/host_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "diacut/memory.hpp"

namespace diacut::testing {
namespace {

TEST(HostMemory, KnowsTheLimitOfAddresses) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const std::uint64_t available = host_memory_available();
  if (available == 0) GTEST_SKIP() << "the system does not report its memory";
  std::uint64_t pages = 0;
  ASSERT_TRUE(std::ifstream("/proc/self/statm") >> pages);
  constexpr std::uint64_t kLeft = std::uint64_t{64} << 20;
  rlimit limited = before;
  limited.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + kLeft;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  const std::uint64_t left = host_memory_available();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_LT(left, available);
  constexpr std::uint64_t kGrowth = std::uint64_t{1} << 20;
  EXPECT_LE(left, host_memory_held() + kLeft + kGrowth);
}

TEST(HostMemory, CountsWhatTheProcessHolds) {
  const std::uint64_t before = host_memory_held();
  if (before == 0) GTEST_SKIP() << "the system does not report its memory";
  constexpr std::size_t kBytes = 64 << 20;
  const std::vector<char> held(kBytes, 1);
  EXPECT_GE(host_memory_held() + (4 << 20), before + kBytes);
  EXPECT_GE(host_memory_peak() + (4 << 20), before + kBytes);
  EXPECT_GE(host_memory_available(), kBytes);
}

}  // namespace
}  // namespace diacut::testing
