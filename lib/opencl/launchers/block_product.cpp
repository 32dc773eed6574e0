#include "opencl/launchers/block_product.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

/// Sets of one item, such that as many sums as a CPU has registers for are open at once.
std::size_t taken_at_once(std::size_t sets) {
  for (const std::size_t taken : {4U, 3U, 2U}) {
    if (sets % taken == 0) return taken;
  }
  return 1;
}

}  // namespace

BlockProduct::BlockProduct(Context& context, std::span<const GridDiagonal> diagonals, int columns)
    : context_(&context), columns_(columns), run_(1), taken_(1) {
  std::size_t tile = 1;
  if (context.info().kind == DeviceKind::kCpu) {
    taken_ = taken_at_once(static_cast<std::size_t>(columns / block_vector(context.info())));
    tile = taken_ > 2 ? 4 : 8;
    run_ = 64;
  }
  kernel_ =
      context.kernel("block_product.cl", "block_product",
                     fmt::format("{} {} -DREACH={} -DRUN={} -DTILE={} -DTAKEN={}",
                                 block_options(context.info(), columns), bands_option(diagonals),
                                 reach_of(diagonals), run_, tile, taken_));
}

void BlockProduct::launch(const Buffer<float>& values, const GridLayout& layout,
                          const Buffer<float>& x, const Buffer<float>& other, Buffer<float>& out,
                          float alpha, float beta, float gamma) {
  const std::size_t rows = layout.rows();
  const auto sets = static_cast<std::size_t>(columns_ / block_vector(context_->info()));
  set_arguments(kernel_, values, layout.pitch, rows, static_cast<std::size_t>(layout.stride), x,
                other, out, alpha, beta, gamma);
  if (run_ == 1) {
    context_->launch(kernel_, cl::NDRange(round_up(rows * sets, kRowGroup)),
                     cl::NDRange(kRowGroup));
  } else {
    context_->launch(kernel_, cl::NDRange(round_up(rows, run_) / run_, sets / taken_),
                     cl::NDRange(1, 1));
  }
}

}  // namespace diacut
