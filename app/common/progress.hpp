#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "console.hpp"

namespace diacut::app {

/// The transient line that shows how far a run is: for one image its stage, for many a bar with
/// images per second and the time left.
class Progress {
 public:
  /// `total`: images of the run. `bar`: whether to show a bar. Keeps a reference to the console.
  Progress(Console& console, std::size_t total, bool bar);

  /// Work on an image begins. `input`: its path, or "-".
  void begin(const std::string& input);
  /// The stage that the image is in, and the share of the stage that is done, in [0, 1].
  void stage(std::string_view name, double share);
  void worked();                    ///< An image was segmented, or failed.
  void skipped() { ++skipped_; }    ///< An image was skipped, which takes no time.
  void end() { console_.clear(); }  ///< Takes the line off the terminal.

 private:
  using Clock = std::chrono::steady_clock;

  std::string bar_line(Clock::time_point now) const;
  std::string image_line(Clock::time_point now) const;
  void refresh();

  Console& console_;
  std::size_t total_;
  bool bar_;
  std::size_t worked_ = 0;
  std::size_t skipped_ = 0;
  std::string input_;
  std::string stage_;
  double share_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;  ///< When the last image was finished.
  Clock::time_point shown_{};
};

/// "85 ms", "7.2 s", "12:30 min", "3:04:05 h".
std::string duration_text(double seconds);

}  // namespace diacut::app
