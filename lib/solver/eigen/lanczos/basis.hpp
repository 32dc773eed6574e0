#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opencl/device_sums.hpp"
#include "opencl/kernel_file.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

/// The kernels of kernels/eigen/lanczos/basis.cl over vectors of `pitch` floats, pitch being a
/// multiple of 32. Vectors in `basis` are `pitch` apart. All calls enqueue and return unless they
/// give a number.
class BasisKernels {
 public:
  /// At most `max_columns` vectors in one call.
  BasisKernels(Context& context, std::size_t pitch, int max_columns);

  /// sums[at + c] = basis vector c . w, c < columns.
  void dots(const Buffer<float>& basis, int columns, const Buffer<float>& w, DeviceSums& sums,
            int at = 0);
  /// w -= sum of sums[coefficients + c] basis vector c; sums[norm2] = |w|^2 of the new w.
  void update(const Buffer<float>& basis, int columns, Buffer<float>& w, DeviceSums& sums,
              int coefficients, int norm2);
  /// basis vector `column` = copy = w / sqrt(sums[norm2]).
  void append(Buffer<float>& basis, int column, const Buffer<float>& w, Buffer<float>& copy,
              const DeviceSums& sums, int norm2);
  /// out = factor * basis vector `column`.
  void copy(const Buffer<float>& basis, int column, float factor, Buffer<float>& out,
            std::size_t out_offset = 0);
  /// basis vectors first .. first + kept - 1 become combinations of the `columns` vectors from
  /// first on: rotation[k * columns + c] is the share of vector c in new vector k. Waits.
  void rotate(Buffer<float>& basis, int first, int columns, int kept,
              const std::vector<float>& rotation);
  /// w = pseudo-random values in [-1, 1), 0 where mask is 0 or from `rows` on.
  void random(Buffer<float>& w, const Buffer<float>& mask, std::size_t rows, std::uint32_t seed);
  /// The entry of largest magnitude of each of the first `columns` vectors, of equal ones the
  /// first. Waits for the device.
  std::vector<float> peaks(const Buffer<float>& basis, int columns);

 private:
  void sum_partials(int columns, DeviceSums& sums, int at);

  Context& context_;
  std::size_t pitch_;
  LaneShape shape_;
  std::size_t groups_;
  std::size_t tile_;
  DeviceSums partials_;
  Buffer<float> rotation_;
  Buffer<float> peaks_;
  KernelFile kernels_;
};

}  // namespace diacut
