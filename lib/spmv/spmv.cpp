#include "spmv/spmv.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "spmv/spmv_kernels.hpp"

namespace diacut {

Positions::Positions(Context& context, const std::vector<std::uint64_t>& positions,
                     const std::string& what, bool wide) {
  const bool fits = std::all_of(positions.begin(), positions.end(), [](std::uint64_t each) {
    return each <= std::numeric_limits<std::uint32_t>::max();
  });
  if (wide || !fits) {
    wide_ = context.allocate<std::uint64_t>(positions.size(), what);
    wide_.upload(positions);
  } else {
    narrow_ = context.allocate<std::uint32_t>(positions.size(), what);
    narrow_.upload(std::vector<std::uint32_t>(positions.begin(), positions.end()));
  }
}

SpmvLauncher::SpmvLauncher(Context& context, const std::string& file, const std::string& options,
                           SpmvStore store, const Range& range)
    : context_(&context),
      range_(range),
      kernel_(context.kernel(file, "spmv",
                             store == SpmvStore::kAdd ? options + " -DACCUMULATE" : options,
                             embedded_spmv_kernels())) {}

void SpmvLauncher::product(const Buffer<float>& in, Buffer<float>& out) {
  with_device_errors("binding the vectors of a product", [&] {
    kernel_.setArg(bound_, in.cl());
    kernel_.setArg(bound_ + 1, out.cl());
  });
  const bool free = range_.group == 0;
  const std::size_t items = round_up(range_.items, free ? 1 : range_.group);
  context_->launch(kernel_, cl::NDRange(items), free ? cl::NullRange : cl::NDRange(range_.group));
}

std::size_t spmv_group(const DeviceInfo& device, std::size_t group) {
  return std::min(group, std::bit_floor(std::max<std::size_t>(device.max_work_group, 1)));
}

}  // namespace diacut
