#include "eigen/multilevel/dense_product.hpp"

#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

DenseProduct::DenseProduct(Context& context, int columns,
                           std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      active_(or_one_image(context, std::move(active))),
      kernel_(context.kernel("eigen/multilevel/dense_product.cl", "dense_product",
                             block_options(context.info(), columns))) {}

void DenseProduct::launch(const Buffer<float>& matrices, std::size_t rows, const Buffer<float>& b,
                          Buffer<float>& out, int columns) {
  const int sets = columns / block_vector(context_->info(), columns);
  set_arguments(kernel_, matrices, static_cast<int>(rows), b, out, active_->list(), sets);
  context_->launch(
      kernel_,
      cl::NDRange(round_up(rows * static_cast<std::size_t>(sets), kRowGroup), active_->count()),
      cl::NDRange(kRowGroup, 1));
}

}  // namespace diacut
