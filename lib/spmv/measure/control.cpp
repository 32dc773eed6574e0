#include "spmv/measure/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "opencl/arguments.hpp"
#include "spmv/spmv_kernels.hpp"

namespace diacut {

namespace {

constexpr std::size_t kGroup = 256;
constexpr std::size_t kMemorySteps = 8;
constexpr std::size_t kFlopSteps = 256;
constexpr std::size_t kGroupsPerUnit = 32;

std::string options(int floats, std::size_t steps) {
  return fmt::format("-DELEMENT=float{} -DSTEPS={}", floats == 1 ? "" : std::to_string(floats),
                     steps);
}

}  // namespace

Control::Control(Context& context, int floats)
    : context_(&context),
      floats_(static_cast<std::size_t>(floats)),
      group_(std::min(kGroup, context.info().max_work_group)),
      read_(context.kernel("spmv/measure/control.cl", "control_read", options(floats, kMemorySteps),
                           embedded_spmv_kernels())),
      write_(context.kernel("spmv/measure/control.cl", "control_write",
                            options(floats, kMemorySteps), embedded_spmv_kernels())),
      flops_(context.kernel("spmv/measure/control.cl", "control_flops", options(floats, kFlopSteps),
                            embedded_spmv_kernels())) {}

std::size_t Control::granularity() const { return floats_ * group_ * kMemorySteps; }

void Control::read(const Buffer<float>& in, Buffer<float>& out, std::size_t count) {
  set_arguments(read_, in, out);
  context_->launch(read_, cl::NDRange(count / floats_ / kMemorySteps), cl::NDRange(group_));
}

void Control::write(Buffer<float>& out, std::size_t count) {
  set_arguments(write_, out, 1.5f);
  context_->launch(write_, cl::NDRange(count / floats_ / kMemorySteps), cl::NDRange(group_));
}

double Control::flops(Buffer<float>& out) {
  const std::size_t items = context_->info().compute_units * kGroupsPerUnit * group_;
  set_arguments(flops_, out, 0.5f);
  context_->launch(flops_, cl::NDRange(items), cl::NDRange(group_));
  return 2.0 * 16.0 * static_cast<double>(kFlopSteps * floats_ * items);
}

}  // namespace diacut
