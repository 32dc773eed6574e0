// Machines whose main memory is used up.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fault_bed.hpp"

namespace diacut::testing {
namespace {

constexpr int kOther = 1;
constexpr int kInputOutput = 3;  // An image for which there is no memory.
constexpr int kDevice = 4;

const Setting& quick() {
  static const Setting setting{
      "memory",
      {"in/three/a.png", "--cue", "gradient", "--spectral", "never", "-o", "out/labels.png"}};
  return setting;
}

PlannedFault memory_fault(const std::string& plan) {
  PlannedFault fault;
  fault.shim = DIACUT_MEMORY_SHIM;
  fault.variable = "DIACUT_FAULT_MEMORY";
  fault.plan = plan;
  fault.exit_codes = {kOther, kInputOutput, kDevice};
  return fault;
}

/// The allocations of a run that only prints the version: those of the libraries that prepare
/// themselves.
std::map<std::string, long> calls_at_start() {
  const Setting setting{"version", {"--version"}};
  return FaultBed::shared().calls(setting, memory_fault(""));
}

class MemoryFaults : public ::testing::Test {
 protected:
  std::map<std::string, long> calls_ = FaultBed::shared().calls(quick(), memory_fault(""));
  std::map<std::string, long> start_ = calls_at_start();

  /// Lets the numbered allocations fail, each in a run of its own; with `after`, all later ones
  /// too.
  static void expect_told_or_harmless(const std::string& row, const std::string& kind,
                                      const std::vector<long>& numbers, bool after) {
    std::vector<PlannedFault> faults;
    for (const long number : numbers) {
      faults.push_back(
          memory_fault(kind + ":" + std::to_string(number) + (after ? "+" : "") + ":fail"));
    }
    expect_none_wrong(row, quick(), FaultBed::shared().run(quick(), faults));
  }
  std::vector<long> after_the_start(const std::string& kind, long count) const {
    const long start = start_.at(kind);
    std::vector<long> numbers = spread(calls_.at(kind) - start, count);
    for (long& number : numbers) number += start;
    return numbers;
  }
};

TEST_F(MemoryFaults, OneAllocationOfTheRun) {
  for (const char* kind : {"new", "malloc"}) {
    expect_told_or_harmless("memory: one allocation", kind, after_the_start(kind, 12), false);
  }
}

TEST_F(MemoryFaults, AllAllocationsFromOneOn) {
  for (const char* kind : {"new", "malloc"}) {
    expect_told_or_harmless("memory: all allocations from one on", kind, after_the_start(kind, 6),
                            true);
  }
}

TEST_F(MemoryFaults, AllocationsOfTheDriver) {
  expect_told_or_harmless("memory: one allocation of the driver", "driver",
                          spread(calls_.at("driver"), 10, 400), false);
}

TEST_F(MemoryFaults, AllocationsBeforeTheRunBegins) {
  for (const char* kind : {"new", "malloc"}) {
    expect_told_or_harmless("memory: one allocation at start", kind,
                            spread(start_.at(kind), 6, 200), false);
  }
}

}  // namespace
}  // namespace diacut::testing
