#include "spmv/measure/copy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "opencl/arguments.hpp"
#include "spmv/spmv_kernels.hpp"

namespace diacut {

namespace {
constexpr std::size_t kCopyGroup = 256;
}  // namespace

Copy::Copy(Context& context, int floats)
    : context_(&context),
      floats_(static_cast<std::size_t>(floats)),
      group_(std::min(kCopyGroup, context.info().max_work_group)),
      kernel_(context.kernel(
          "spmv/measure/copy.cl", "copy",
          floats == 1 ? std::string("-DELEMENT=float") : fmt::format("-DELEMENT=float{}", floats),
          embedded_spmv_kernels())) {}

void Copy::operator()(const Buffer<float>& in, Buffer<float>& out, std::size_t count) {
  const std::size_t elements = count / floats_;
  set_arguments(kernel_, in, out, elements);
  context_->launch(kernel_, cl::NDRange(round_up(elements, group_)), cl::NDRange(group_));
}

}  // namespace diacut
