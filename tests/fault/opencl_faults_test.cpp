// Calls of OpenCL that fail, and data of devices that are wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fault_bed.hpp"

namespace diacut::testing {
namespace {

constexpr int kOpenclFaultsDevice = 4;

PlannedFault opencl_fault(const std::string& plan) {
  PlannedFault fault;
  fault.shim = DIACUT_OPENCL_SHIM;
  fault.variable = "DIACUT_FAULT_OPENCL";
  fault.plan = plan;
  fault.exit_codes = {kOpenclFaultsDevice};
  return fault;
}

std::vector<PlannedFault> faults_at(const std::string& kind, const std::string& action, long calls,
                                    long count) {
  std::vector<PlannedFault> faults;
  for (const long number : spread(calls, count)) {
    faults.push_back(opencl_fault(kind + ":" + std::to_string(number) + ":" + action));
    // Kernels that get wrong indices may crash a driver for CPUs, which the program tells of.
    if (kind == "clEnqueueWriteBuffer") faults.back().exit_codes.insert(1);
  }
  return faults;
}

std::vector<Setting> all_settings_on_device() {
  std::vector<Setting> result;
  for (const Setting& each : settings()) {
    if (each.on_device) result.push_back(each);
  }
  return result;
}

std::vector<Setting> settings_on_device() {
  // The others take half an hour.
  return all_faults() ? all_settings_on_device() : std::vector<Setting>{setting_named("learned")};
}

class OpenclFaults : public ::testing::TestWithParam<Setting> {
 protected:
  std::map<std::string, long> calls() const {
    return FaultBed::shared().calls(GetParam(), opencl_fault(""));
  }
  /// Makes `count` faults of this kind, if there are such calls.
  void expect_told_or_harmless(const std::string& row, const std::string& kind,
                               const std::string& action, long count) const {
    const auto counted = calls_.find(kind);
    if (counted == calls_.end()) return;
    expect_none_wrong(
        row, GetParam(),
        FaultBed::shared().run(GetParam(), faults_at(kind, action, counted->second, count)));
  }
  void SetUp() override { calls_ = calls(); }

  std::map<std::string, long> calls_;
};

TEST_P(OpenclFaults, ACallThatFailsIsAnErrorOfTheDevice) {
  for (const auto& [kind, count] : calls_) expect_told_or_harmless("call fails", kind, "fail", 1);
}

TEST_P(OpenclFaults, ACommandThatFailsInTheQueueIsAnErrorOfTheDevice) {
  expect_told_or_harmless("command fails in the queue", "clGetEventInfo", "abort", 2);
}

TEST_P(OpenclFaults, SpoiledReads) {
  for (const char* action : {"skip", "zero", "noise", "nan", "bit"}) {
    expect_told_or_harmless(std::string("data read, ") + action, "clEnqueueReadBuffer", action, 1);
  }
}

TEST_P(OpenclFaults, SpoiledWrites) {
  for (const char* action : {"skip", "zero", "noise", "nan", "bit"}) {
    expect_told_or_harmless(std::string("data written, ") + action, "clEnqueueWriteBuffer", action,
                            2);
  }
}

/// Every kind of run: launches of kernels, by which memory is filled and copied too.
class SkippedLaunches : public OpenclFaults {};

TEST_P(SkippedLaunches, AreErrorsOfTheDevice) {
  expect_told_or_harmless("launch skipped, " + GetParam().name, "clEnqueueNDRangeKernel", "skip",
                          4);
}

// On a GPU conjugate gradients use numbers before launches are counted, so that they may meet a NaN
// first.
TEST(SkippedLaunchesOfAGpu, AreErrorsOfTheDeviceWhereNumbersCannotBe) {
  Setting seeds = setting_named("seeds");
  seeds.name = "seeds, as on a GPU";
  seeds.environment = setting_named("gpu").environment;
  constexpr char kLaunch[] = "clEnqueueNDRangeKernel";
  const long launches = FaultBed::shared().calls(seeds, opencl_fault("")).at(kLaunch);
  expect_none_wrong("launch skipped, " + seeds.name, seeds,
                    FaultBed::shared().run(seeds, faults_at(kLaunch, "skip", launches, 40)));
}

INSTANTIATE_TEST_SUITE_P(Settings, OpenclFaults, ::testing::ValuesIn(settings_on_device()),
                         [](const auto& setting) { return setting.param.name; });

INSTANTIATE_TEST_SUITE_P(Settings, SkippedLaunches, ::testing::ValuesIn(all_settings_on_device()),
                         [](const auto& setting) { return setting.param.name; });

}  // namespace
}  // namespace diacut::testing
