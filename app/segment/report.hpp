#pragma once

#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/segmenter.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// The reports of a batch, one JSON object a line, each written when its image is finished. What
/// was written stays when the run is interrupted: no line is ever incomplete.
class JsonLines {
 public:
  /// Nothing is written when `path` is empty; "-" is standard output. Throws InputError.
  explicit JsonLines(const std::string& path);
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;
  ~JsonLines();

  /// `report` is a JSON object, formatted anyhow.
  void add_report(const std::string& report);
  void add_failure(const std::string& input, const Failure& failure);
  void add_skipped(const std::string& input);

 private:
  void add_line(const std::string& line);

  std::string path_;
  int descriptor_ = -1;
};

/// The stages' times, the memory and the work of the solver, for --verbose.
std::string describe_run(const Segmentation& segmentation);

/// A table of devices; `chosen`, if not null, is marked as the one that a run takes.
std::string device_table(const std::vector<DeviceInfo>& devices, const DeviceInfo* chosen);

/// "1.5 GiB".
std::string bytes_text(double bytes);

}  // namespace diacut::app
