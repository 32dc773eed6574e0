#include "spmv/measure/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace diacut {

namespace {

constexpr std::size_t kGroup = 256;
constexpr std::size_t kMemorySteps = 8;
constexpr std::size_t kFlopSteps = 256;
constexpr std::size_t kGroupsPerUnit = 32;

KernelFile control_kernels(Context& context, int floats, std::size_t steps) {
  return {
      context, "spmv/measure/control.cl",
      fmt::format("-DELEMENT=float{} -DSTEPS={}", floats == 1 ? "" : std::to_string(floats), steps),
      embedded_spmv_kernels()};
}

std::uint32_t mix(std::uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bU;
  h = (h ^ (h >> 13)) * 0xc2b2ae35U;
  return h ^ (h >> 16);
}

}  // namespace

Control::Control(Context& context, int floats)
    : context_(&context),
      floats_(static_cast<std::size_t>(floats)),
      group_(std::min(kGroup, context.info().max_work_group)),
      memory_(control_kernels(context, floats, kMemorySteps)),
      arithmetic_(control_kernels(context, floats, kFlopSteps)) {}

std::size_t Control::granularity() const { return floats_ * group_ * kMemorySteps; }

void Control::read(const Buffer<float>& in, Buffer<float>& out, std::size_t count) {
  memory_.launch("control_read", cl::NDRange(count / floats_ / kMemorySteps), cl::NDRange(group_),
                 in, out);
}

void Control::write(Buffer<float>& out, std::size_t count) {
  memory_.launch("control_write", cl::NDRange(count / floats_ / kMemorySteps), cl::NDRange(group_),
                 out, 1.5f);
}

double Control::flops(Buffer<float>& out) {
  const std::size_t items = context_->info().compute_units * kGroupsPerUnit * group_;
  arithmetic_.launch("control_flops", cl::NDRange(items), cl::NDRange(group_), out, 0.5f);
  return 2.0 * 16.0 * static_cast<double>(kFlopSteps * floats_ * items);
}

void Control::copy(const Buffer<float>& in, Buffer<float>& out, std::size_t count) {
  const std::size_t elements = count / floats_;
  memory_.launch("control_copy", cl::NDRange(round_up(elements, group_)), cl::NDRange(group_), in,
                 out, elements);
}

void random_matrix(Context& context, const RandomMatrixShape& shape, std::uint32_t seed,
                   Buffer<float>& values) {
  auto steps = context.allocate<StencilOffset>(shape.steps.size(), "a random matrix's neighbours");
  steps.upload(shape.steps);
  KernelFile(context, "spmv/measure/random_matrix.cl", {}, embedded_spmv_kernels())
      .launch("random_matrix", cl::NDRange(shape.pitch, shape.steps.size()), cl::NullRange, steps,
              shape.grid.width, shape.grid.height, seed, shape.pitch, values);
  context.finish();
}

float reference_random_element(const RandomMatrixShape& shape, std::uint32_t seed, std::size_t d,
                               std::size_t row) {
  const Grid& grid = shape.grid;
  const auto width = static_cast<std::size_t>(grid.width);
  const auto x = static_cast<std::int64_t>(row % width);
  const auto y = static_cast<std::int64_t>(row / width);
  const std::int64_t to_x = x + shape.steps[d].dx;
  const std::int64_t to_y = y + shape.steps[d].dy;
  if (y >= grid.height) return 0.0f;
  if (to_x < 0 || to_x >= grid.width || to_y < 0 || to_y >= grid.height) return 0.0f;
  const std::uint32_t hash = mix(static_cast<std::uint32_t>(row) + 0x9e3779b9U);
  const std::uint32_t bits = mix(hash ^ (seed + static_cast<std::uint32_t>(d))) >> 8;
  return static_cast<float>(bits | 1) * 0x1p-24f;
}

}  // namespace diacut
