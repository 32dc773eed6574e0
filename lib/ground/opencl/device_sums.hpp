#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// Sums kept on the device in the accumulators of kernels/common/accumulate.clh (8 bytes each).
/// Kernels write to and read from it at an offset, so that one download fetches what several left.
class DeviceSums {
 public:
  /// Sums that a command in the queue brings from the device.
  class Arrival {
   public:
    Arrival(bool fp64, Arriving<std::uint64_t> words) : fp64_(fp64), words_(std::move(words)) {}
    /// Waits for the sums: to be called once.
    std::vector<double> take();

   private:
    bool fp64_;
    Arriving<std::uint64_t> words_;
  };

  DeviceSums(Context& context, std::size_t count, const std::string& what)
      : words_(context, count, what) {}
  const cl::Buffer& cl() const { return words_.cl(); }
  std::size_t size() const { return words_.size(); }
  /// Waits for the device.
  std::vector<double> download(std::size_t count) const;
  /// All sums. Does not wait.
  Arrival download_later() const { return {words_.context().fp64(), words_.download_later()}; }
  /// Enqueues.
  void set_zero() { words_.fill(0); }

 private:
  Buffer<std::uint64_t> words_;
};

}  // namespace diacut
