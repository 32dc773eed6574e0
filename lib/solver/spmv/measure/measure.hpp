#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "matrix/grid.hpp"
#include "matrix/stencil.hpp"
#include "opencl/kernel_file.hpp"

namespace diacut {

/// kernels/spmv/measure/control.cl: reads, writes, copies and arithmetic that do nothing else, to
/// measure what a device gives. Work-items move elements of `floats` floats: 1, 2, 4, 8 or 16.
/// Throws DeviceError.
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
  /// Enqueues out[i] = in[i] for i < count, the yardstick of the products. Precondition: `count` is
  /// a multiple of `floats`, and both buffers hold that many floats and are different.
  void copy(const Buffer<float>& in, Buffer<float>& out, std::size_t count);
  /// Enqueues arithmetic that fills the device. Returns the number of operations; a multiply-add
  /// counts as two.
  double flops(Buffer<float>& out);

 private:
  Context* context_;
  std::size_t floats_;
  std::size_t group_;
  KernelFile memory_;
  KernelFile arithmetic_;
};

/// A random stencil matrix over the pixels of a grid, whose neighbours `steps` has.
struct RandomMatrixShape {
  Grid grid;
  std::size_t pitch = 0;
  std::vector<StencilOffset> steps;
};

/// Fills `values` (`pitch` elements for each neighbour) with weights in (0, 1), zero where a
/// neighbour lies outside the image, by kernels/spmv/measure/random_matrix.cl. Waits for the
/// device. Throws DeviceError.
void random_matrix(Context& context, const RandomMatrixShape& shape, std::uint32_t seed,
                   Buffer<float>& values);

/// Element values[d * pitch + row] as random_matrix() writes it, to the bit.
float reference_random_element(const RandomMatrixShape& shape, std::uint32_t seed, std::size_t d,
                               std::size_t row);

/// `count` elements in a single row, so that random_matrix() fills a vector.
RandomMatrixShape random_vector_shape(std::size_t count);

/// Milliseconds of device time that one call of `enqueue` takes: calls are queued back to back, as
/// a solver queues them, in batches of about 20 ms; the median of `repeats` batches.
double median_milliseconds(Context& context, int repeats, const std::function<void()>& enqueue);

/// The median; of an even number of values the mean of the two in the middle. Precondition: there
/// is a value.
double median(std::vector<double> values);

/// The rate of the copy kernel.
struct CopyBandwidth {
  int floats = 0;         ///< An element's size in floats.
  std::size_t bytes = 0;  ///< Read and written together.
  double milliseconds = 0.0;
  double gigabytes_per_second = 0.0;
};

/// Copies bytes / 2 of random floats from one buffer to another.
CopyBandwidth copy_bandwidth(Context& context, int floats, std::size_t bytes, int repeats);

/// The best rate over the widths of an element.
CopyBandwidth best_copy_bandwidth(Context& context, std::size_t bytes, int repeats);

/// The bytes that a measurement of memory moves: `bytes`, or more if `bytes` could stay in a cache:
/// twice the cache that the device reports, and at least 256 MiB. Never more than a quarter of the
/// device's memory.
std::size_t memory_yardstick(Context& context, std::size_t bytes = 0);

}  // namespace diacut
