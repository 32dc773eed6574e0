#pragma once

#include <string>

#include "exit_code.hpp"
#include "plan.hpp"

namespace diacut::app {

/// The reports of a batch: one JSON object a line, written when its image is finished. An
/// interrupted run leaves whole lines.
class JsonLines {
 public:
  /// Opens the file; "-" is standard output, and with an empty path nothing is ever written. Throws
  /// InputError, as each member does that writes a line.
  explicit JsonLines(const std::string& path);
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;
  ~JsonLines();

  /// Writes a report. `report`: a JSON object in any layout.
  void add_report(const std::string& report);
  /// Writes that an image failed.
  void add_failure(const Job& job, const Failure& failure);
  /// Writes that an image was skipped.
  void add_skipped(const Job& job);

 private:
  void add_line(const std::string& line);

  std::string path_;
  int descriptor_ = -1;  ///< -1: nothing is written.
};

}  // namespace diacut::app
