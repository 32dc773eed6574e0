#pragma once

#include <atomic>
#include <climits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "process.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {

/// A run of `segment` in which faults are made.
struct Setting {
  std::string name;
  /// "in/" at the beginning of a word stands for the folder of the pictures. Results are written to
  /// the folder "out", which is there.
  std::vector<std::string> arguments;
  /// Whether the run has several images, of which each succeeds or fails by itself.
  bool several = false;
  bool on_device = true;
  std::map<std::string, std::optional<std::string>> environment = {};
  /// Files that are in the folder "out" before the run. A run that fails leaves them as they are.
  std::map<std::string, std::string> before = {};
  /// Whether the run keeps files until it ends, with which the same command goes on after a
  /// failure.
  bool goes_on = false;
};

std::ostream& operator<<(std::ostream& stream, const Setting& setting);

/// The runs in which faults are made: see fault_bed.cpp.
const std::vector<Setting>& settings();
const Setting& setting_named(const std::string& name);

/// What a fault came to.
enum class Outcome {
  kNotReached,     ///< The run did not come to the call that was to go wrong.
  kSameBytes,      ///< Exit code 0, and the files of a run without faults; for a run that was
                   ///< killed, this of the next run of the same command.
  kFailedCleanly,  ///< An exit code that fits, one message, and no file but whole ones.
  kWrong,          ///< Anything else: a signal, no end, other bytes, part of a file.
};

/// A fault that is to be made.
struct PlannedFault {
  std::string shim;               ///< A library for LD_PRELOAD.
  std::string variable;           ///< The environment variable of its plan.
  std::string plan;               ///< As fault_plan.hpp has it.
  std::set<int> exit_codes = {};  ///< Those of a clean failure.
  bool some_files = false;        ///< Whether a failed run of one image may leave whole files.
  bool kills = false;             ///< Whether the fault ends the process by SIGKILL.
  double limit_seconds = 60;      ///< A run that takes longer is wrong.
  std::map<std::string, std::optional<std::string>> environment = {};
};

/// A run with a fault, judged.
struct Judged {
  PlannedFault fault;
  Outcome outcome = Outcome::kWrong;
  std::string why;  ///< What is wrong.
  Result result;
};

/// Files by name.
using Files = std::map<std::string, std::string>;

/// Pictures, and runs in folders of their own.
class FaultBed {
 public:
  static FaultBed& shared();

  /// The files that a run without faults writes. It is made at the first call, which fills the
  /// driver's folder of kernels.
  const Files& reference(const Setting& setting);
  /// The calls of each kind that a run without faults makes, as the shim counts them.
  std::map<std::string, long> calls(const Setting& setting, const PlannedFault& shim);
  /// Makes all faults, as many at a time as there are cores, each in a run of its own.
  std::vector<Judged> run(const Setting& setting, const std::vector<PlannedFault>& faults);
  /// A run in this folder, which is made.
  std::unique_ptr<Process> start(const Setting& setting, const std::string& folder,
                                 const PlannedFault& fault = {}) const;
  /// A new folder's path.
  std::string new_folder();
  /// What is in the folder and below it.
  static Files files_in(const std::string& folder);

 private:
  FaultBed();
  Judged run_one(const Setting& setting, const PlannedFault& fault);
  /// What is wrong after the same command ran once more, without a fault; empty: nothing.
  std::string wrong_after_another_run(const Setting& setting, const std::string& folder) const;

  TempFolder inputs_;
  TempFolder runs_;
  std::atomic<int> folders_{0};
  std::map<std::string, Files> references_;
};

/// `count` numbers from 1 to `last`, evenly spread; with the environment variable DIACUT_FAULTS as
/// many as it says, which may be "all", but no more than `most`.
std::vector<long> spread(long last, long count, long most = LONG_MAX);
/// Whether DIACUT_FAULTS is set: then faults are made in every kind of run.
bool all_faults();

/// Fails the test for each fault that came to kWrong, and adds all to the table that is printed
/// when the tests end.
void expect_none_wrong(const std::string& row, const Setting& setting,
                       const std::vector<Judged>& judged);
/// Adds to the table alone.
void add_to_table(const std::string& row, const std::vector<Judged>& judged);

}  // namespace diacut::testing
