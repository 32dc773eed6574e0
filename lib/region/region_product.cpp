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

RegionProduct::RegionProduct(Context& context, const Stencil& stencil)
    : context_(&context), options_("-DENTRIES=") {
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    options_ += fmt::format("ENTRY({},{},{})", d, stencil.entries[d].dx, stencil.entries[d].dy);
  }
}

void RegionProduct::launch(const NormalizedMatrix& matrix, const Buffer<std::int32_t>& region,
                           const Buffer<float>& x, int columns, Buffer<float>& out) {
  auto found = kernels_.find(columns);
  if (found == kernels_.end()) {
    found =
        kernels_
            .emplace(columns, context_->kernel("region/region_product.cl", "region_product",
                                               fmt::format("{} -DCOLUMNS={}", options_, columns)))
            .first;
  }
  Kernel& kernel = found->second;
  const Grid grid = matrix.grid();
  set_arguments(kernel, matrix.dia().values, matrix.sqrt_degree(), region, x, out, grid.width,
                grid.height, static_cast<std::size_t>(grid.stride), matrix.shape().pitch);
  context_->launch(kernel, cl::NDRange(round_up(grid.pixels(), kGroup)), cl::NDRange(kGroup));
}

}  // namespace diacut
