#include "diacut/memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/host_memory.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

DeviceInfo device_of(DeviceKind kind, std::uint64_t memory = 64 * kGiB) {
  DeviceInfo device;
  device.name = "test device";
  device.kind = kind;
  device.global_memory = memory;
  device.max_allocation = memory;
  return device;
}

std::vector<std::string> names(const MemoryPlan& plan) {
  std::vector<std::string> result;
  for (const MemoryPhase& phase : plan.phases) result.push_back(phase.phase);
  return result;
}

TEST(MemoryPlan, HasThePhasesOfTheRun) {
  const DeviceInfo device = device_of(DeviceKind::kGpu);
  EXPECT_THAT(names(plan_memory({4000, 3000}, {}, device)),
              ElementsAre("reading", "boundaries", "eigenvectors", "contours", "regions",
                          "placement", "results"));
  Parameters native;
  native.image.detail = 0;
  EXPECT_THAT(
      names(plan_memory({400, 300}, native, device)),
      ElementsAre("reading", "boundaries", "eigenvectors", "contours", "regions", "results"));
  native.region.method = RegionMethod::kKway;
  EXPECT_THAT(names(plan_memory({400, 300}, native, device)),
              ElementsAre("reading", "boundaries", "eigenvectors", "regions", "results"));
}

TEST(MemoryPlan, OfAReducedImageGrowsInMainMemoryAlone) {
  const DeviceInfo device = device_of(DeviceKind::kGpu);
  const MemoryPlan small = plan_memory({4000, 3000}, {}, device);
  const MemoryPlan large = plan_memory({8000, 6000}, {}, device);
  EXPECT_EQ(small.device_bytes(), large.device_bytes());
  // Colours as floats, leaves, contours, labels, and these as PNG takes them.
  constexpr std::uint64_t kResultBytes = 12 + 4 + 4 + 4 + 2;
  EXPECT_EQ(large.host_bytes() - small.host_bytes(), 36'000'000 * kResultBytes);
  const MemoryPlan grey = plan_memory({8000, 6000, 1}, {}, device);
  EXPECT_GT(large.host_bytes() - grey.host_bytes(), 48'000'000u * 8);
}

TEST(MemoryPlan, CountsTheMemoryOfACpuAsMainMemory) {
  const ImageSize image{640, 480};
  const MemoryPlan gpu = plan_memory(image, {}, device_of(DeviceKind::kGpu));
  const MemoryPlan cpu = plan_memory(image, {}, device_of(DeviceKind::kCpu));
  EXPECT_EQ(gpu.device_bytes(), cpu.device_bytes());
  EXPECT_LT(gpu.host_bytes(), gpu.device_bytes());
  EXPECT_GT(cpu.host_bytes(), cpu.device_bytes());
  ASSERT_EQ(gpu.phases.size(), cpu.phases.size());
  for (std::size_t k = 0; k < gpu.phases.size(); ++k) {
    EXPECT_GE(cpu.phases[k].host_bytes, gpu.phases[k].host_bytes + cpu.phases[k].device_bytes);
  }
}

TEST(MemoryPlan, RefusesWhatDoesNotFitTheDeviceAndSaysWhatToDo) {
  Parameters native;
  native.image.detail = 0;
  const DeviceInfo device = device_of(DeviceKind::kGpu, 8 * kGiB);
  EXPECT_NO_THROW(plan_memory({10'000, 7'000}, {}, device));
  try {
    plan_memory({10'000, 7'000}, native, device);
    FAIL() << "70 megapixels fit 8 GiB";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("10000x7000"), HasSubstr("not enough device memory"),
                                    HasSubstr("8192 MiB"), HasSubstr("--detail 640")));
  }
  EXPECT_THROW(plan_memory({640, 480}, {}, device, 1 << 20), DeviceError);
}

TEST(MemoryPlan, IsHeldAgainstMainMemory) {
  if (host_memory_available() == 0) GTEST_SKIP() << "the system does not tell its memory";
  const DeviceInfo device = device_of(DeviceKind::kCpu);
  const ImageSize image{30'000, 20'000};
  EXPECT_NO_THROW(check_host_memory({{{"results", 0, 1}}}, image, device));
  const std::uint64_t more_than_all = host_memory_available() + kGiB;
  try {
    check_host_memory({{{"eigenvectors", kGiB, more_than_all}, {"results", 0, 1}}}, image, device);
    FAIL() << "more than all memory fits";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("not enough main memory"), HasSubstr("30000x20000"),
                                    HasSubstr("1.00 GiB of them"), HasSubstr("--memory")));
  }
}

TEST(MemoryPlan, CountsTheBytesOfTheFileWhileItIsRead) {
  const DeviceInfo device = device_of(DeviceKind::kGpu);
  const MemoryPlan plan = plan_memory({640, 480, 3, 5 * kGiB}, {}, device);
  EXPECT_EQ(plan.phases.front().host_bytes,
            plan_memory({640, 480}, {}, device).phases.front().host_bytes + 5 * kGiB);
  EXPECT_EQ(plan.host_bytes(), plan.phases.front().host_bytes);
  if (host_memory_available() == 0) GTEST_SKIP() << "the system does not tell its memory";
  const ImageSize image{640, 480, 3, host_memory_available() + kGiB};
  EXPECT_THAT([&] { check_host_memory(plan_memory(image, {}, device), image, device); },
              ThrowsMessage<InputError>(HasSubstr("of them for the bytes of its file")));
}

TEST(HostMemory, KnowsTheLimitOfAddresses) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const std::uint64_t available = host_memory_available();
  if (available == 0) GTEST_SKIP() << "the system does not tell its memory";
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
  if (before == 0) GTEST_SKIP() << "the system does not tell its memory";
  constexpr std::size_t kBytes = 64 << 20;
  const std::vector<char> held(kBytes, 1);
  EXPECT_GE(host_memory_held() + (4 << 20), before + kBytes);
  EXPECT_GE(host_memory_peak() + (4 << 20), before + kBytes);
  EXPECT_GE(host_memory_available(), kBytes);
}

}  // namespace
}  // namespace diacut
