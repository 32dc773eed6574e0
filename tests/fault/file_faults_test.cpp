// Disks that are full or broken, and runs that are killed between any two steps with files.
#include <gtest/gtest.h>

#include <cerrno>
#include <climits>
#include <set>
#include <string>
#include <vector>

#include "fault_bed.hpp"

namespace diacut::testing {
namespace {

constexpr int kInputOutput = 3;

/// Runs of a tenth of a second, each with other files.
const std::vector<Setting>& file_settings() {
  static const std::vector<Setting> all = [] {
    const std::vector<std::string> quick = {"--boundary", "gradient", "--spectral", "never"};
    const auto with = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.end(), quick.begin(), quick.end());
      return arguments;
    };
    Setting one{"one",
                with({"in/three/a.png", "-o", "out/labels.png", "--tree", "out/a.tree", "--overlay",
                      "out/a.jpg", "--table", "out/a.csv", "--geojson", "out/a.geojson"})};
    one.before = {{"labels.png", "old labels"}, {"a.tree", "an old tree"}};
    Setting folder{"three",
                   with({"in/three", "-o", "out", "--overlay", "out/overlays", "--skip-existing"}),
                   true};
    Setting vectors{"vectors",
                    {"in/three/a.png", "--boundary", "gradient", "--eigenvectors", "out/vectors"}};
    Setting recut{"recut_small",
                  {"recut", "in/a.tree", "--regions", "3", "-o", "out/labels.npy"},
                  false,
                  false};
    Setting tiles{
        "tiles",
        {"in/three/a.png", "--boundary", "gradient", "-o", "out/a.tif", "--tile-size", "32"}};
    tiles.goes_on = true;
    std::vector<Setting> settings = {one, folder, recut, tiles};
    if (all_faults()) settings.push_back(vectors);
    return settings;
  }();
  return all;
}

PlannedFault file_fault(const std::string& plan) {
  return {.shim = DIACUT_FILES_SHIM,
          .variable = "DIACUT_FAULT_FILES",
          .plan = plan,
          .exit_codes = {kInputOutput},
          .some_files = true};  // Those that were complete before.
}

bool changes_files(const std::string& kind) {
  static const std::set<std::string> all = {"open",   "openfile", "write",    "writefile", "close",
                                            "rename", "unlink",   "mkdir",    "lock",      "chmod",
                                            "cut",    "sync",     "closefile"};
  return all.count(kind) != 0;
}

class FileFaults : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override { calls_ = FaultBed::shared().calls(GetParam(), file_fault("")); }

  /// Makes about `count` faults of each kind for which `wanted` holds.
  template <class Wanted>
  void expect_none_wrong_of(const std::string& row, const std::string& action, long count,
                            const Wanted& wanted) const {
    // A run in tiles opens hundreds of files, and is repeated after each fault.
    const long most = GetParam().goes_on ? 40 : LONG_MAX;
    std::vector<PlannedFault> faults;
    for (const auto& [kind, calls] : calls_) {
      if (!wanted(kind)) continue;
      for (const long number : spread(calls, count, most)) {
        faults.push_back(file_fault(kind + ":" + std::to_string(number) + ":" + action));
        faults.back().kills = action == "kill" || action == "after";
        if (action == "short") faults.back().exit_codes = {};
      }
    }
    expect_none_wrong(row, GetParam(), FaultBed::shared().run(GetParam(), faults));
  }

  std::map<std::string, long> calls_;
};

TEST_P(FileFaults, AnErrorOfTheDiskIsToldOrHarmless) {
  expect_none_wrong_of("files: the disk fails", "fail=" + std::to_string(EIO), 1,
                       [](const std::string& kind) { return kind != "unlink"; });
}

TEST_P(FileFaults, AFullDiskIsToldOrHarmless) {
  expect_none_wrong_of("files: no space", "fail=" + std::to_string(ENOSPC), 1,
                       [](const std::string& kind) {
                         return changes_files(kind) && kind != "unlink" && kind != "lock";
                       });
}

TEST_P(FileFaults, ShortReadsAndWritesChangeNothing) {
  const std::set<std::string> sized = {"read", "write"};
  expect_none_wrong_of("files: short reads and writes", "short", 1,
                       [&](const std::string& kind) { return sized.count(kind) != 0; });
}

TEST_P(FileFaults, AfterAKillTheNextRunGivesTheSameFiles) {
  expect_none_wrong_of("files: killed before a call", "kill", 1, changes_files);
  if (all_faults()) expect_none_wrong_of("files: killed after a call", "after", 1, changes_files);
}

INSTANTIATE_TEST_SUITE_P(Settings, FileFaults, ::testing::ValuesIn(file_settings()),
                         [](const auto& setting) { return setting.param.name; });

}  // namespace
}  // namespace diacut::testing
