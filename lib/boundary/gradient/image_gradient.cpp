#include "boundary/gradient/image_gradient.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

CueGradient::CueGradient(Context& context, const CueLayout& layout,
                         const std::vector<float>& smooth, const std::vector<float>& derivative)
    : context_(&context),
      layout_(layout),
      weights_(context.allocate<float>(smooth.size() + derivative.size(), "the cue's weights")) {
  weights_.upload(smooth);
  weights_.upload(derivative, smooth.size());
  constexpr char kFile[] = "boundary/gradient/image_gradient.cl";
  const std::string options = fmt::format("-DRADIUS={}", derivative.size());
  fill_ = context.kernel(kFile, "cue_fill", options);
  rows_ = context.kernel(kFile, "cue_rows", options);
  columns_ = context.kernel(kFile, "cue_columns", options);
  magnitude_ = context.kernel(kFile, "cue_magnitude", options);
}

std::size_t CueGradient::memory(int radius) {
  return static_cast<std::size_t>(2 * radius + 1) * sizeof(float);
}

void CueGradient::fill(Buffer<float>& plane, const Buffer<std::uint8_t>& valid) {
  set_arguments(fill_, plane, valid, layout_.width, layout_.height, layout_.stride);
  launch_rows(*context_, fill_, layout_.width, layout_.height);
}

void CueGradient::add_channel(const Buffer<float>& plane, Buffer<float>& smooth,
                              Buffer<float>& slope, CueTensor& tensor, bool first) {
  set_arguments(rows_, plane, weights_, smooth, slope, layout_.width);
  launch_rows(*context_, rows_, layout_.width, layout_.height);
  set_arguments(columns_, smooth, slope, weights_, tensor.xx, tensor.xy, tensor.yy, layout_.width,
                layout_.height, first ? 1 : 0);
  launch_rows(*context_, columns_, layout_.width, layout_.height);
}

void CueGradient::magnitude(const CueTensor& tensor, const Buffer<std::uint8_t>& valid,
                            Buffer<float>& magnitude) {
  set_arguments(magnitude_, tensor.xx, tensor.xy, tensor.yy, valid, magnitude, layout_.width,
                layout_.stride);
  launch_rows(*context_, magnitude_, layout_.width, layout_.height);
}

}  // namespace diacut
