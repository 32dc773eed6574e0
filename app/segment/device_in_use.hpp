#pragma once

#include <deque>
#include <exception>
#include <optional>
#include <string>

#include "diacut/device.hpp"
#include "diacut/segmenter.hpp"
#include "memory_check.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "run_log.hpp"

namespace diacut::app {

/// The device that a run uses, and those that take its place when it fails. A device that the user
/// named is not replaced, nor is any with kernels from a folder, which may be what is wrong.
class DeviceInUse {
 public:
  /// The arguments must outlive the object.
  DeviceInUse(const Options& options, const Plan& plan, RunLog& log, MemoryCheck& memory);

  /// The segmenter on the device, which the first call opens, and before several images checks. A
  /// device that cannot be opened or computes wrongly is given up. Throws what Segmenter's
  /// constructor and check_device() throw for the last device.
  Segmenter& segmenter();

  /// Whether another device is left.
  bool is_replaceable() const { return devices_.size() > 1; }
  /// Gives the device up for a failure; the next call of segmenter() opens another one.
  /// Precondition: is_replaceable(), and nobody uses the segmenter.
  void give_up(const std::exception_ptr& failure);

  /// What reports say of images on a device that took another one's place; empty: it did not.
  const std::string& note() const { return note_; }

 private:
  void list();
  void open(const DeviceInfo& device);
  void check();

  const Options& options_;
  const Plan& plan_;
  RunLog& log_;
  MemoryCheck& memory_;
  std::deque<DeviceInfo> devices_;  ///< The one in use, and those after it.
  std::optional<Segmenter> segmenter_;
  std::string note_;
};

/// Whether an error is one of the device, and not of what it was asked for. `failure` may be null.
bool is_device_failure(const std::exception_ptr& failure);

}  // namespace diacut::app
