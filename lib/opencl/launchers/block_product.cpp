#include "opencl/launchers/block_product.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

BlockProduct::BlockProduct(Context& context, std::span<const GridDiagonal> diagonals, int columns)
    : context_(&context), columns_(columns), runs_(block_runs(context.info(), columns)) {
  kernel_ =
      context.kernel("block_product.cl", "block_product",
                     fmt::format("{} {} {} -DREACH={}", block_options(context.info(), columns),
                                 bands_option(diagonals), runs_.options(), reach_of(diagonals)));
}

void BlockProduct::launch(const Buffer<float>& values, const GridLayout& layout,
                          const Buffer<float>& x, const Buffer<float>& other, Buffer<float>& out,
                          float alpha, float beta, float gamma) {
  set_arguments(kernel_, values, layout.pitch, layout.rows(),
                static_cast<std::size_t>(layout.stride), x, other, out, alpha, beta, gamma);
  runs_.launch(*context_, kernel_, 1, layout.rows());
}

}  // namespace diacut
