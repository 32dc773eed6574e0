#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "diacut/progress.hpp"
#include "diacut/segmenter.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// Milliseconds on the wall since `start`.
inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// The stage that places regions of a reduced image in the image itself.
inline constexpr char kPlacement[] = "placement";

/// Runs stages on a device one after another, measures their times, and tells the caller's watch.
class TimedStages {
 public:
  TimedStages(Context& context, const Watch& watch) : context_(context), watch_(watch) {}

  /// Does the stage's work. The device has done all of it when this returns.
  template <class Work>
  void operator()(std::string_view stage, const Work& work) {
    watch_.report(stage, 0);
    const auto start = std::chrono::steady_clock::now();
    const cl::Event first = context_.mark();
    work();
    const cl::Event last = context_.mark();
    context_.finish();
    StageTime& time = time_of(stage);
    time.wall_ms += milliseconds_since(start);
    time.device_ms += milliseconds_between(first, last);
    watch_.report(stage, 1);
  }

  /// The times of all stages so far, each divided by the number of images that they served.
  std::vector<StageTime> shares(std::size_t images) const {
    std::vector<StageTime> shares = times_;
    for (StageTime& time : shares) {
      time.wall_ms /= static_cast<double>(images);
      time.device_ms /= static_cast<double>(images);
    }
    return shares;
  }

 private:
  /// Where the time of a stage is added up: a stage may run twice for one image.
  StageTime& time_of(std::string_view stage) {
    for (StageTime& time : times_) {
      if (time.stage == stage) return time;
    }
    return times_.emplace_back(StageTime{std::string(stage), 0, 0});
  }

  Context& context_;
  const Watch& watch_;
  std::vector<StageTime> times_;
};

}  // namespace diacut
