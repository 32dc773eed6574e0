#include "region/region_product.hpp"

#include <fmt/format.h>

#include <bit>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {
constexpr std::size_t kGroup = 64;
}  // namespace

int RegionProduct::padded_columns(int columns) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(columns)));
}

RegionProduct::RegionProduct(Context& context, const RegionLayout& layout,
                             std::span<const RegionDiagonal> diagonals)
    : context_(&context), layout_(layout), options_("-DENTRIES=") {
  for (std::size_t d = 0; d < diagonals.size(); ++d) {
    options_ += fmt::format("ENTRY({},{},{})", d, diagonals[d].dx, diagonals[d].dy);
  }
}

void RegionProduct::launch(const Buffer<float>& values, const Buffer<float>& root,
                           const Buffer<std::int32_t>& region, const Buffer<float>& x, int columns,
                           Buffer<float>& out) {
  auto found = kernels_.find(columns);
  if (found == kernels_.end()) {
    found =
        kernels_
            .emplace(columns, context_->kernel("region/region_product.cl", "region_product",
                                               fmt::format("{} -DCOLUMNS={}", options_, columns)))
            .first;
  }
  cl::Kernel& kernel = found->second;
  set_arguments(kernel, values, root, region, x, out, layout_.width, layout_.height, layout_.stride,
                layout_.pitch);
  context_->launch(kernel, cl::NDRange(round_up(layout_.pixels(), kGroup)), cl::NDRange(kGroup));
}

}  // namespace diacut
