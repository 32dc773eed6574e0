#pragma once

#include <cstddef>
#include <string>

#include "opencl/context.hpp"

namespace diacut {

/// kernels/spmv/measure/copy.cl: a plain copy, the yardstick of the products.
class Copy {
 public:
  /// Each work-item copies `floats` floats: 1, 2, 4, 8 or 16. Throws DeviceError.
  Copy(Context& context, int floats);

  /// Enqueues out[i] = in[i] for i < count. Precondition: `count` is a multiple of `floats`, and
  /// both buffers hold that many floats and are different.
  void operator()(const Buffer<float>& in, Buffer<float>& out, std::size_t count);

 private:
  Context* context_;
  std::size_t floats_;
  std::size_t group_;
  cl::Kernel kernel_;
};

}  // namespace diacut
