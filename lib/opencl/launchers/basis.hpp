#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// How the kernels built on kernels/lanes.clh deal rows to work-items on a device.
struct LaneShape {
  std::size_t group = 1;
  std::size_t width = 8;
  std::size_t steps = 512;

  std::size_t chunk() const { return group * width * steps; }
};

/// Few long pieces on a CPU, whose items run one after the other; many neighbouring ones elsewhere.
LaneShape lane_shape(const DeviceInfo& device);
/// The macros that lanes.clh asks for.
std::string lane_options(const LaneShape& shape);

/// Sums kept on the device in the accumulators of kernels/accumulate.clh (8 bytes each). Kernels
/// write to and read from it at an offset, so that one download fetches what several left.
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

/// The kernels of kernels/basis.cl over vectors of `pitch` floats, pitch being a multiple of 32.
/// Vectors in `basis` are `pitch` apart. All calls enqueue and return unless they give a number.
class BasisKernels {
 public:
  /// At most `max_columns` vectors in one call.
  BasisKernels(Context& context, std::size_t pitch, int max_columns);

  /// Bytes that the constructor allocates.
  static std::size_t memory(const DeviceInfo& device, std::size_t pitch, int max_columns);

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
  /// Of each of the first vectors the entry of largest magnitude, the first of equals. Waits.
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
  cl::Kernel dots_;
  cl::Kernel sum_;
  cl::Kernel update_;
  cl::Kernel append_;
  cl::Kernel copy_;
  cl::Kernel rotate_;
  cl::Kernel random_;
  cl::Kernel peak_;
};

}  // namespace diacut
