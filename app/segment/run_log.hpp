#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "console.hpp"
#include "diacut/device.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "progress.hpp"
#include "stopwatch.hpp"
#include "writer.hpp"

namespace diacut::app {

/// The reports of a batch: one JSON object a line, written when its image is finished. An
/// interrupted run leaves whole lines; a run that goes on leaves the lines that are there.
class JsonLines {
 public:
  /// Opens the file; "-" is standard output, and with an empty path nothing is ever written. With
  /// `goes_on` lines are added to those of an earlier run, of which a last line that was cut off is
  /// taken away; without it the file begins anew. Throws InputError, as each member does that
  /// writes a line.
  JsonLines(const std::string& path, bool goes_on);
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;
  ~JsonLines();

  /// Writes a report. `report`: a JSON object in any layout.
  void add_report(const std::string& report);
  /// Writes that an image failed.
  void add_failure(const Job& job, const Failure& failure);
  /// Writes that an image was skipped, unless an earlier run has written a line of it.
  void add_skipped(const Job& job);

 private:
  void add_line(const std::string& line);
  void read_earlier();

  std::string path_;
  int descriptor_ = -1;                      ///< -1: nothing is written.
  std::unordered_set<std::string> earlier_;  ///< The images that an earlier run has lines of.
};

/// What became of the images of a run.
struct Tally {
  std::size_t done = 0;
  std::size_t skipped = 0;
  std::size_t failed = 0;         ///< With the plan's own failures.
  std::size_t not_converged = 0;  ///< Images done whose eigenvectors miss the tolerance.
  std::size_t noted = 0;          ///< Images done of which a person should know something.
  LinkedThings linked = {};
  std::vector<std::string> damaged = {};  ///< The names of those done of damaged files.
};

/// The line that ends a batch. `verbose`: whether the images' notes were shown.
std::string summary(const Tally& tally, const Plan& plan, double seconds, bool verbose);

/// Reports a run on the console and in the reports of a batch, and counts. Everything is reported
/// in the order of the calls, which come from one thread.
class RunLog {
 public:
  /// Counts the plan's failures. The arguments must outlive the log. Throws InputError when the
  /// file of the reports cannot be written.
  RunLog(const Options& options, const Plan& plan, Console& console);

  void opened(const DeviceInfo& device);
  /// A device is given up for that reason, and another one takes its place.
  void gave_up(const DeviceInfo& device, const std::string& reason, const DeviceInfo& next);
  /// The driver compiles kernels: shown while it does.
  void compiling(const DeviceInfo& device);
  void began(const Job& job) { progress_.begin(job.input); }
  void skipped(const Job& job);
  /// An image is written, or failed.
  void concluded(const WrittenImage& written);
  /// A file of several images cannot be written, or an error ends the run.
  void failed(const Failure& failure);
  /// Reports all errors, of an interruption, and of the summary of a batch. Returns the program's
  /// exit code, the worst of all.
  ExitCode end(bool interrupted);

  /// Shows the progress of a stage in the thread that calls the log. `cancel` must outlive it.
  Watch watch(const CancelToken& cancel);

 private:
  void tell(const WrittenImage& written);
  /// Reports one image: of a batch only where details are shown.
  void say(const std::string& text);
  /// Keeps a note of a batch for the end. `line`: with the image that it is of.
  void count_note(const std::string& note, const std::string& line);

  /// Notes that differ in numbers alone: the first one, and how many more there are.
  struct CountedNote {
    std::string kind;  ///< Without the numbers.
    std::string line;
    std::int64_t others = 0;
  };

  const Options& options_;
  const Plan& plan_;
  Console& console_;
  Progress progress_;
  JsonLines lines_;
  Stopwatch stopwatch_;
  Tally tally_;
  std::vector<CountedNote> counted_;
  std::vector<std::string> errors_;  ///< Printed at the end, at most one an image.
  ExitCode worst_ = ExitCode::kDone;
};

}  // namespace diacut::app
