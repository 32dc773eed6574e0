#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "opencl/cl.hpp"

namespace diacut {

/// Counts launches of kernels on the host, and on the device, where counted_source() has each add 1
/// to the first of some words. Where the two differ, the device left a launch out, or did one
/// twice.
class LaunchCounter {
 public:
  /// The last argument of each kernel, of `count` words. Throws cl::Error.
  const cl::Buffer& words(const cl::Context& context, std::size_t count);
  /// To be called for each launch.
  void count() { ++launched_; }

  /// Whether anything was launched since the last check that found nothing.
  bool is_open() const { return launched_ != checked_; }
  /// Enqueues a read of the first word into `*found`. Throws cl::Error. Precondition: is_open().
  void ask(cl::CommandQueue& queue, std::uint32_t* found);
  /// Throws DeviceError, of the device of this name, where another number was found than that of
  /// the launches before ask(). The count goes on from what was found.
  void check(std::uint32_t found, const std::string& device);

  /// Leaves the words to a device that may still write them.
  void abandon() { words_() = nullptr; }

 private:
  cl::Buffer words_;
  std::uint32_t launched_ = 0;
  std::uint32_t asked_ = 0;
  std::uint32_t checked_ = 0;
};

}  // namespace diacut
