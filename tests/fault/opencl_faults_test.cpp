// Calls of OpenCL that fail, and data of devices that are wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fault_bed.hpp"

namespace diacut::testing {
namespace {

constexpr int kOpenclFaultsDevice = 4;

PlannedFault opencl_fault(const std::string& plan) {
  return {.shim = DIACUT_OPENCL_SHIM,
          .variable = "DIACUT_FAULT_OPENCL",
          .plan = plan,
          .exit_codes = {kOpenclFaultsDevice}};
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
  /// The run of GetParam(), in which each image is segmented twice and both are compared.
  static Setting verified() {
    Setting setting = GetParam();
    setting.name += ", --verify";
    setting.arguments.emplace_back("--verify");
    return setting;
  }
  static std::map<std::string, long> calls(const Setting& setting) {
    return FaultBed::shared().calls(setting, opencl_fault(""));
  }
  static std::vector<Judged> run(const Setting& setting, const std::string& kind,
                                 const std::string& action, long count) {
    const std::map<std::string, long> counted = calls(setting);
    const auto found = counted.find(kind);
    if (found == counted.end()) return {};
    return FaultBed::shared().run(setting, faults_at(kind, action, found->second, count));
  }
  static void expect_told_or_harmless(const std::string& row, const Setting& setting,
                                      const std::string& kind, const std::string& action,
                                      long count) {
    expect_none_wrong(row, setting, run(setting, kind, action, count));
  }
  /// Faults of a device that reports success: with --verify all are told or harmless. Without it
  /// they may change bytes, which the table counts.
  static void expect_verified(const std::string& what, const std::string& kind,
                              const std::string& action, long count) {
    const std::string row = what + ", " + action;
    expect_told_or_harmless(row + ", " + verified().name, verified(), kind, action, count);
    if (!all_faults()) return;
    add_to_table(row + ", " + GetParam().name, run(GetParam(), kind, action, count));
  }
};

TEST_P(OpenclFaults, ACallThatFailsIsAnErrorOfTheDevice) {
  for (const auto& [kind, count] : calls(GetParam())) {
    expect_told_or_harmless("call fails", GetParam(), kind, "fail", 1);
  }
}

TEST_P(OpenclFaults, ACommandThatFailsInTheQueueIsAnErrorOfTheDevice) {
  expect_told_or_harmless("command fails in the queue", GetParam(), "clGetEventInfo", "abort", 2);
}

TEST_P(OpenclFaults, SpoiledReadsAreToldWhereResultsAreVerified) {
  for (const char* action : {"skip", "zero", "noise", "nan", "bit"}) {
    expect_verified("data read", "clEnqueueReadBuffer", action, 1);
  }
}

TEST_P(OpenclFaults, SpoiledWritesAreToldWhereResultsAreVerified) {
  for (const char* action : {"skip", "zero", "noise", "nan", "bit"}) {
    expect_verified("data written", "clEnqueueWriteBuffer", action, 2);
  }
}

/// Every kind of run.
class SkippedCommands : public OpenclFaults {};

TEST_P(SkippedCommands, AreToldWhereResultsAreVerified) {
  expect_verified("launch", "clEnqueueNDRangeKernel", "skip", 4);
  expect_verified("fill", "clEnqueueFillBuffer", "skip", 1);
  expect_verified("copy", "clEnqueueCopyBuffer", "skip", 1);
}

INSTANTIATE_TEST_SUITE_P(Settings, OpenclFaults, ::testing::ValuesIn(settings_on_device()),
                         [](const auto& setting) { return setting.param.name; });

INSTANTIATE_TEST_SUITE_P(Settings, SkippedCommands, ::testing::ValuesIn(all_settings_on_device()),
                         [](const auto& setting) { return setting.param.name; });

}  // namespace
}  // namespace diacut::testing
