#pragma once

#include <cstddef>

#include "opencl/cl.hpp"
#include "opencl/kernel.hpp"

namespace diacut {

class Context;

/// Fills and copies of buffers by kernels/opencl/contents.cl: their launches are counted, so that
/// one that the device leaves out is noticed. Sizes and places in bytes.
class Contents {
 public:
  Contents() = default;
  /// Asks for the kernels, which are built with the first others.
  explicit Contents(Context& context);

  /// `pattern`: 1, 2, 4, 8 or 16 bytes, of which the range is a whole number. Enqueues.
  void fill(const cl::Buffer& to, std::size_t offset, std::size_t bytes, const void* pattern,
            std::size_t pattern_bytes) const;
  /// The ranges do not overlap. Enqueues.
  void copy(const cl::Buffer& from, std::size_t from_offset, const cl::Buffer& to,
            std::size_t to_offset, std::size_t bytes) const;

 private:
  void launch(const Kernel& kernel, std::size_t bytes) const;

  Context* context_ = nullptr;
  Kernel fill_;
  Kernel copy_words_;
  Kernel copy_bytes_;
};

}  // namespace diacut
