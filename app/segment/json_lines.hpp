#pragma once

#include <string>
#include <unordered_set>

#include "exit_code.hpp"
#include "plan.hpp"

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

}  // namespace diacut::app
