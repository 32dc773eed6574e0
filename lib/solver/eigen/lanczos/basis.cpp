#include "eigen/lanczos/basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace diacut {

namespace {

std::size_t groups_for(const LaneShape& shape, std::size_t pitch) {
  return round_up(pitch, shape.chunk()) / shape.chunk();
}

constexpr std::size_t kBlock = 8;
/// Vectors that basis_rotate makes at a time.
constexpr std::size_t kRotated = 8;

/// As many rows as fit half of the local memory with `columns` floats each, at most 64.
std::size_t tile_for(const DeviceInfo& device, int columns) {
  const std::size_t row_bytes = static_cast<std::size_t>(columns) * sizeof(float);
  const std::size_t fit = device.local_memory / 2 / row_bytes;
  if (fit == 0) {
    throw DeviceError(
        fmt::format("{} basis vectors are more than {} can rotate in its {} bytes of "
                    "local memory: lower eigen.basis or eigen.vectors",
                    columns, device.name, device.local_memory));
  }
  return std::min<std::size_t>(std::bit_floor(fit), 64);
}

}  // namespace

BasisKernels::BasisKernels(Context& context, std::size_t pitch, int max_columns)
    : context_(context),
      pitch_(pitch),
      shape_(lane_shape(context.info())),
      groups_(groups_for(shape_, pitch)),
      tile_(tile_for(context.info(), max_columns)),
      partials_(context, groups_ * static_cast<std::size_t>(max_columns), "partial sums"),
      rotation_(context,
                static_cast<std::size_t>(max_columns) *
                    round_up(static_cast<std::size_t>(max_columns), kRotated),
                "a rotation of the basis"),
      peaks_(context, groups_ * static_cast<std::size_t>(max_columns), "peaks of vectors"),
      kernels_(context, "eigen/lanczos/basis.cl",
               fmt::format("{} -DBLOCK={} -DTILE={}", lane_options(shape_), kBlock, tile_)) {}

void BasisKernels::sum_partials(int columns, DeviceSums& sums, int at) {
  kernels_.launch("basis_sum", cl::NDRange(static_cast<std::size_t>(columns) * shape_.group),
                  cl::NDRange(shape_.group), partials_, static_cast<int>(groups_), sums, at);
}

void BasisKernels::dots(const Buffer<float>& basis, int columns, const Buffer<float>& w,
                        DeviceSums& sums, int at) {
  const std::size_t blocks = round_up(static_cast<std::size_t>(columns), kBlock) / kBlock;
  kernels_.launch("basis_dots", cl::NDRange(groups_ * shape_.group, blocks),
                  cl::NDRange(shape_.group, 1), basis, pitch_, columns, w, partials_);
  sum_partials(columns, sums, at);
}

void BasisKernels::update(const Buffer<float>& basis, int columns, Buffer<float>& w,
                          DeviceSums& sums, int coefficients, int norm2) {
  kernels_.launch("basis_update", cl::NDRange(groups_ * shape_.group), cl::NDRange(shape_.group),
                  basis, pitch_, columns, sums, coefficients, w, partials_);
  sum_partials(1, sums, norm2);
}

void BasisKernels::append(Buffer<float>& basis, int column, const Buffer<float>& w,
                          Buffer<float>& copy, const DeviceSums& sums, int norm2) {
  kernels_.launch("basis_append", cl::NDRange(pitch_ / shape_.width), cl::NullRange, basis, pitch_,
                  column, w, copy, sums, norm2);
}

void BasisKernels::copy(const Buffer<float>& basis, int column, float factor, Buffer<float>& out,
                        std::size_t out_offset) {
  kernels_.launch("basis_copy", cl::NDRange(pitch_ / shape_.width), cl::NullRange, basis, pitch_,
                  column, factor, out, out_offset);
}

void BasisKernels::rotate(Buffer<float>& basis, int first, int columns, int kept,
                          const std::vector<float>& rotation) {
  const auto from = static_cast<std::size_t>(columns);
  const std::size_t stride = round_up(static_cast<std::size_t>(kept), kRotated);
  std::vector<float> columns_first(from * stride, 0.0F);
  for (std::size_t k = 0; k < static_cast<std::size_t>(kept); ++k) {
    for (std::size_t c = 0; c < from; ++c) columns_first[c * stride + k] = rotation[k * from + c];
  }
  rotation_.upload(columns_first);
  kernels_.launch("basis_rotate", cl::NDRange(round_up(pitch_, tile_)), cl::NDRange(tile_), basis,
                  pitch_, first, columns, kept, static_cast<cl_uint>(stride), rotation_,
                  cl::Local(tile_ * static_cast<std::size_t>(columns) * sizeof(float)));
  context_.finish();
}

void BasisKernels::random(Buffer<float>& w, const Buffer<float>& mask, std::size_t rows,
                          std::uint32_t seed) {
  kernels_.launch("basis_random", cl::NDRange(pitch_), cl::NullRange, w, pitch_, rows, mask, seed);
}

std::vector<float> BasisKernels::peaks(const Buffer<float>& basis, int columns) {
  kernels_.launch("basis_peaks",
                  cl::NDRange(groups_ * shape_.group, static_cast<std::size_t>(columns)),
                  cl::NDRange(shape_.group, 1), basis, pitch_, peaks_);
  std::vector<float> parts(groups_ * static_cast<std::size_t>(columns));
  peaks_.download(std::span<float>(parts));
  std::vector<float> result(static_cast<std::size_t>(columns), 0.0F);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    float& peak = result[i / groups_];
    if (std::abs(parts[i]) > std::abs(peak)) peak = parts[i];
  }
  return result;
}

}  // namespace diacut
