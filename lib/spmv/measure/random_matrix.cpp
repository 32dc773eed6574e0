#include "spmv/measure/random_matrix.hpp"

#include "opencl/arguments.hpp"
#include "spmv/spmv_kernels.hpp"

namespace diacut {

namespace {

std::uint32_t mix(std::uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bU;
  h = (h ^ (h >> 13)) * 0xc2b2ae35U;
  return h ^ (h >> 16);
}

}  // namespace

void random_matrix(Context& context, const RandomMatrixShape& shape, std::uint32_t seed,
                   Buffer<float>& values) {
  Buffer<std::int32_t> steps =
      context.allocate<std::int32_t>(shape.steps.size(), "a random matrix's neighbours");
  steps.upload(shape.steps);
  cl::Kernel kernel =
      context.kernel("spmv/measure/random_matrix.cl", "random_matrix", {}, embedded_spmv_kernels());
  set_arguments(kernel, steps, shape.width, shape.height, shape.stride, seed, shape.pitch, values);
  context.launch(kernel, cl::NDRange(shape.pitch, shape.steps.size() / 2), cl::NullRange);
  context.finish();
}

float reference_random_element(const RandomMatrixShape& shape, std::uint32_t seed, std::size_t d,
                               std::size_t row) {
  const auto stride = static_cast<std::size_t>(shape.stride);
  const auto x = static_cast<std::int64_t>(row % stride);
  const auto y = static_cast<std::int64_t>(row / stride);
  const std::int64_t to_x = x + shape.steps[2 * d];
  const std::int64_t to_y = y + shape.steps[2 * d + 1];
  if (x >= shape.width || y >= shape.height) return 0.0f;
  if (to_x < 0 || to_x >= shape.width || to_y < 0 || to_y >= shape.height) return 0.0f;
  const std::uint32_t hash = mix(static_cast<std::uint32_t>(row) + 0x9e3779b9U);
  const std::uint32_t bits = mix(hash ^ (seed + static_cast<std::uint32_t>(d))) >> 8;
  return static_cast<float>(bits | 1) * 0x1p-24f;
}

}  // namespace diacut
