// Machines whose main memory is used up.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "fault_bed.hpp"

namespace diacut::testing {
namespace {

constexpr int kOther = 1;
constexpr int kMemoryFaultsInputOutput = 3;  // An image for which there is no memory.
constexpr int kDevice = 4;

const Setting& quick() {
  static const Setting setting{
      "memory",
      {"in/three/a.png", "--boundary", "gradient", "--spectral", "never", "-o", "out/labels.png"}};
  return setting;
}

constexpr int kInterrupted = 130;

PlannedFault memory_fault(const std::string& plan) {
  return {.shim = DIACUT_MEMORY_SHIM,
          .variable = "DIACUT_FAULT_MEMORY",
          .plan = plan,
          .exit_codes = {kOther, kMemoryFaultsInputOutput, kDevice}};
}

/// Runs that go through other parts of the program than quick() does.
std::vector<Setting> other_runs() {
  Setting tiles{
      "memory_tiles",
      {"in/three/a.png", "--boundary", "gradient", "-o", "out/a.tif", "--tile-size", "32"}};
  tiles.goes_on = true;
  const Setting folder{"memory_folder",
                       {"in/three", "--boundary", "gradient", "--spectral", "never", "-o", "out",
                        "--table", "out/a.csv"},
                       true};
  return {setting_named("eigenvectors"), setting_named("seeds"), tiles, folder};
}

/// Which allocations are drawn, of each kind and each run.
struct Draws {
  long count = 1;  ///< From each part of a run.
  int parts = 1;   ///< Of equally many allocations each.

  /// Those that the environment variable DIACUT_FAULT_DRAWS asks for.
  static Draws asked_for() {
    const char* const count = std::getenv("DIACUT_FAULT_DRAWS");
    return count == nullptr ? Draws() : Draws{std::stol(count), 4};
  }
  /// Numbers from the first to the last of a part from 0 on.
  std::vector<long> from(int part, long last, std::mt19937_64& random) const {
    std::uniform_int_distribution<long> number(1 + part * last / parts, (part + 1) * last / parts);
    std::vector<long> numbers;
    for (long k = 0; k < count; ++k) numbers.push_back(number(random));
    return numbers;
  }
};

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
  /// too. A driver may wait for ever for a lock that it did not give back where it got no memory:
  /// --time-limit ends such a run.
  static void expect_told_or_harmless(const std::string& row, const std::string& kind,
                                      const std::vector<long>& numbers, bool after,
                                      Setting setting = quick()) {
    const bool of_driver = kind == "driver";
    if (of_driver) {
      setting.arguments.insert(setting.arguments.end(), {"--time-limit", "30"});
    }
    std::vector<PlannedFault> faults;
    for (const long number : numbers) {
      faults.push_back(
          memory_fault(kind + ":" + std::to_string(number) + (after ? "+" : "") + ":fail"));
      if (of_driver) faults.back().exit_codes.insert(kInterrupted);
    }
    expect_none_wrong(row, setting, FaultBed::shared().run(setting, faults));
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
                            spread(start_.at(kind), 12, 200), false);
  }
}

/// The numbers are the same in every run of the test.
TEST_F(MemoryFaults, AllocationsDrawnFromAllPartsOfRuns) {
  std::mt19937_64 random(18);
  const Draws draws = Draws::asked_for();
  for (const Setting& setting : other_runs()) {
    const auto calls = FaultBed::shared().calls(setting, memory_fault(""));
    for (const char* kind : {"new", "malloc", "driver"}) {
      for (int part = 0; part < draws.parts; ++part) {
        const std::string row =
            "memory: drawn, " + std::string(kind) + ", part " + std::to_string(part + 1);
        expect_told_or_harmless(row, kind, draws.from(part, calls.at(kind), random), false,
                                setting);
      }
    }
  }
}

}  // namespace
}  // namespace diacut::testing
