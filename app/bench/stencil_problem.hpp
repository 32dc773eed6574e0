#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix/matvec.hpp"
#include "opencl/device_queue.hpp"
#include "opencl/devices.hpp"
#include "spmv/measure/measure.hpp"

namespace diacut::bench {

/// A stencil matrix of random weights, a random vector, and memory for its product, on the device.
class StencilProblem {
 public:
  static constexpr int kBlock = 16;  ///< Vectors that are multiplied at once.

  StencilProblem(const DeviceQueue& queue, const Grid& on, const Stencil& of);

  /// Computes out = A in by a kernel, and returns the milliseconds of a product among many.
  double measure(const MatvecChoice& kernel, int repeats);
  /// Computes the product with a block of so many vectors, all of them `in`, and returns the
  /// milliseconds of a product among many. Row r of `out` is that of vector r % vectors.
  double measure_block(int vectors, int repeats);

  /// Device memory that the problem and its products take, those of kBlock vectors too.
  static DeviceMemory memory(const Grid& grid, const Stencil& stencil);

  /// Entries whose two pixels both lie in the image.
  std::uint64_t nonzeros() const;
  /// Bytes that a product moves at least: the matrix, the vectors and the results once each.
  static std::size_t least_bytes(const MatvecChoice& kernel, const Grid& grid,
                                 const Stencil& stencil, int vectors = 1);

  /// The largest error of `out` = A in over some rows, as a multiple of u sum |a_i x_i|, u = 2^-24.
  /// The rows are the first, the last and some between.
  /// For the kernel `symmetric`, A is the symmetric matrix that it stores: entries of later
  /// neighbours, rounded to the storage.
  double scaled_error(const MatvecChoice& kernel) const;

  const DeviceQueue queue;  ///< Outlives the buffers.
  const Grid grid;
  const Stencil stencil;
  DiaMatrix matrix;
  Buffer<float> in;
  Buffer<float> out;

 private:
  /// Entry (row, col) on diagonal d of the matrix that the kernel multiplies by.
  double weight(const MatvecChoice& kernel, std::size_t d, std::size_t row, std::size_t col) const;
  /// The scaled error of one row, whose result is `found`.
  double row_error(const MatvecChoice& kernel, std::size_t row, float found) const;

  RandomMatrixShape random_;
  RandomMatrixShape vector_;
};

}  // namespace diacut::bench
