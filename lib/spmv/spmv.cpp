#include "spmv/spmv.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "spmv/spmv_kernels.hpp"

namespace diacut {

KernelProduct::Positions KernelProduct::hold_positions(const std::vector<std::uint64_t>& positions,
                                                       const char* what, bool wide) {
  const bool fits = std::all_of(positions.begin(), positions.end(), [](std::uint64_t each) {
    return each <= std::numeric_limits<std::uint32_t>::max();
  });
  if (wide || !fits) return {hold(positions, what), "ulong"};
  return {hold(std::vector<std::uint32_t>(positions.begin(), positions.end()), what), "uint"};
}

cl::Kernel KernelProduct::kernel(const std::string& file, const std::string& name,
                                 const std::string& options) {
  return context_->kernel(file, name, options, embedded_spmv_kernels());
}

void KernelProduct::product(const Buffer<float>& in, Buffer<float>& out) {
  set_arguments_from(kernel_, bound_, in, out);
  const bool free = range_.group == 0;
  const std::size_t items = round_up(range_.items, free ? 1 : range_.group);
  context_->launch(kernel_, cl::NDRange(items), free ? cl::NullRange : cl::NDRange(range_.group));
}

std::size_t spmv_group(const DeviceInfo& device, std::size_t group) {
  return std::min(group, std::bit_floor(std::max<std::size_t>(device.max_work_group, 1)));
}

}  // namespace diacut
