#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// Sums kept on the device in the accumulators of kernels/common/accumulate.clh (8 bytes each).
/// Kernels write to and read from it at an offset, so that one download fetches what several left.
class DeviceSums {
 public:
  DeviceSums(Context& context, std::size_t count, const std::string& what);
  const cl::Buffer& cl() const { return words_.cl(); }
  std::size_t size() const { return words_.size(); }
  /// Waits for the device.
  std::vector<double> download(std::size_t count) const;

 private:
  Buffer<std::uint64_t> words_;
};

}  // namespace diacut
