#include "boundary/gradient/image_gradient.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

ImageGradient::ImageGradient(Context& context, const Grid& grid, const std::vector<float>& smooth,
                             const std::vector<float>& derivative)
    : context_(&context),
      grid_(grid),
      weights_(context.allocate<float>(smooth.size() + derivative.size(),
                                       "the weights of the Gaussian")) {
  weights_.upload(smooth);
  weights_.upload(derivative, smooth.size());
  constexpr char kFile[] = "boundary/gradient/image_gradient.cl";
  const std::string options = fmt::format("-DRADIUS={}", derivative.size());
  fill_ = context.kernel(kFile, "gradient_fill", options);
  rows_ = context.kernel(kFile, "gradient_rows", options);
  columns_ = context.kernel(kFile, "gradient_columns", options);
  magnitude_ = context.kernel(kFile, "gradient_magnitude", options);
}

void ImageGradient::fill(Buffer<float>& plane, const Buffer<std::uint8_t>& valid) {
  set_arguments(fill_, plane, valid, grid_.width, grid_.height, grid_.stride);
  launch_rows(*context_, fill_, grid_.width, grid_.height);
}

void ImageGradient::add_channel(const Buffer<float>& plane, Buffer<float>& smooth,
                                Buffer<float>& slope, StructureTensor& tensor, bool first) {
  set_arguments(rows_, plane, weights_, smooth, slope, grid_.width);
  launch_rows(*context_, rows_, grid_.width, grid_.height);
  set_arguments(columns_, smooth, slope, weights_, tensor.xx, tensor.xy, tensor.yy, grid_.width,
                grid_.height, first ? 1 : 0);
  launch_rows(*context_, columns_, grid_.width, grid_.height);
}

void ImageGradient::magnitude(const StructureTensor& tensor, const Buffer<std::uint8_t>& valid,
                              Buffer<float>& magnitude) {
  set_arguments(magnitude_, tensor.xx, tensor.xy, tensor.yy, valid, magnitude, grid_.width,
                grid_.stride);
  launch_rows(*context_, magnitude_, grid_.width, grid_.height);
}

}  // namespace diacut
