#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// kernels/spmv/measure/control.cl: reads, writes and arithmetic that do nothing else, to measure
/// what a device gives. Work-items move elements of `floats` floats: 1, 2, 4, 8 or 16. Throws
/// DeviceError.
class Control {
 public:
  Control(Context& context, int floats);

  /// read() and write() take multiples of this many floats.
  std::size_t granularity() const;

  /// Enqueues reads of `count` floats, a multiple of granularity(). All of `in` must be positive;
  /// `out` holds one float, which is not written then.
  void read(const Buffer<float>& in, Buffer<float>& out, std::size_t count);
  /// Enqueues writes of `count` floats, a multiple of granularity().
  void write(Buffer<float>& out, std::size_t count);
  /// Enqueues arithmetic that fills the device. Returns the number of operations; a multiply-add
  /// counts as two.
  double flops(Buffer<float>& out);

 private:
  Context* context_;
  std::size_t floats_;
  std::size_t group_;
  cl::Kernel read_;
  cl::Kernel write_;
  cl::Kernel flops_;
};

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

/// A random stencil matrix: the image is width x height pixels in rows of `stride` pixels, and
/// `steps` has the neighbours of a pixel, dx and dy of one after the other.
struct RandomMatrixShape {
  int width = 0;
  int height = 0;
  int stride = 0;
  std::size_t pitch = 0;
  std::vector<std::int32_t> steps;
};

/// Fills `values` (`pitch` elements for each neighbour) with weights in (0, 1), zero where a
/// neighbour lies outside the image, by kernels/spmv/measure/random_matrix.cl. Waits for the
/// device. Throws DeviceError.
void random_matrix(Context& context, const RandomMatrixShape& shape, std::uint32_t seed,
                   Buffer<float>& values);

/// Element values[d * pitch + row] as random_matrix() writes it, to the bit.
float reference_random_element(const RandomMatrixShape& shape, std::uint32_t seed, std::size_t d,
                               std::size_t row);

}  // namespace diacut
