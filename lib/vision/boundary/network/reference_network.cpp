#include "boundary/network/reference_network.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.hpp"

namespace diacut {

namespace {

/// Sets each value to value(channel, x, y).
template <class Value>
ReferenceTensor filled(ReferenceTensor out, const Value& value) {
  parallel_for(static_cast<std::size_t>(out.channels), [&](std::size_t channel) {
    const int c = static_cast<int>(channel);
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) out.at(c, x, y) = value(c, x, y);
    }
  });
  return out;
}

ReferenceTensor convolution(const NetworkOp& op, const ReferenceTensor& in,
                            const ReferenceTensor* added) {
  const ConvolutionShape& shape = op.shape;
  const int inner = shape.inner();
  const ReferenceTensor out(shape.outputs, (in.width + shape.stride - 1) / shape.stride,
                            (in.height + shape.stride - 1) / shape.stride);
  return filled(out, [&](int c, int x, int y) {
    double sum = op.bias[c];
    std::size_t weight = static_cast<std::size_t>(c * inner * shape.taps());
    for (int i = 0; i < inner; ++i) {
      for (int ky = 0; ky < shape.kernel; ++ky) {
        for (int kx = 0; kx < shape.kernel; ++kx, ++weight) {
          const int from_x = shape.stride * x + shape.dilation * kx - shape.before();
          const int from_y = shape.stride * y + shape.dilation * ky - shape.before();
          if (from_x < 0 || from_x >= in.width || from_y < 0 || from_y >= in.height) continue;
          sum += op.weights[weight] * in.at(shape.depthwise ? c : i, from_x, from_y);
        }
      }
    }
    if (added != nullptr) sum += added->at(c, x, y);
    return shape.relu ? std::min<double>(std::max(sum, 0.0), shape.most) : sum;
  });
}

ReferenceTensor upsampled(const ReferenceTensor& in, int width, int height) {
  return filled({in.channels, width, height}, [&](int c, int x, int y) {
    const double u = std::clamp((x + 0.5) / 2 - 0.5, 0.0, in.width - 1.0);
    const double v = std::clamp((y + 0.5) / 2 - 0.5, 0.0, in.height - 1.0);
    const int left = static_cast<int>(u);
    const int upper = static_cast<int>(v);
    const int right = std::min(left + 1, in.width - 1);
    const int lower = std::min(upper + 1, in.height - 1);
    const double above = std::lerp(in.at(c, left, upper), in.at(c, right, upper), u - left);
    const double below = std::lerp(in.at(c, left, lower), in.at(c, right, lower), u - left);
    return std::lerp(above, below, v - upper);
  });
}

}  // namespace

ReferenceTensor::ReferenceTensor(int c, int w, int h)
    : channels(c),
      width(w),
      height(h),
      values(static_cast<std::size_t>(c) * w * static_cast<std::size_t>(h)) {}

double& ReferenceTensor::at(int channel, int x, int y) {
  return values[(static_cast<std::size_t>(channel) * height + y) * width + x];
}

double ReferenceTensor::at(int channel, int x, int y) const {
  return values[(static_cast<std::size_t>(channel) * height + y) * width + x];
}

ReferenceTensor reference_operation(const NetworkOp& op, const ReferenceTensor& in,
                                    const ReferenceTensor* added, int width, int height) {
  switch (op.kind) {
    case NetworkOpKind::kConvolution:
      return convolution(op, in, added);
    case NetworkOpKind::kUpsample:
      return upsampled(in, width, height);
    case NetworkOpKind::kSigmoid:
      break;
  }
  ReferenceTensor out = in;
  for (double& value : out.values) value = 1 / (1 + std::exp(-value));
  return out;
}

std::vector<ReferenceTensor> reference_network(const Network& network,
                                               const std::vector<float>& planes, int width,
                                               int height) {
  std::vector<ReferenceTensor> tensors(network.tensors.size());
  tensors[0] = ReferenceTensor(3, width, height);
  std::transform(planes.begin(), planes.end(), tensors[0].values.begin(),
                 [](float value) { return 4 * (static_cast<double>(value) - 0.5); });
  for (const NetworkOp& op : network.ops) {
    const auto output = static_cast<std::size_t>(op.output);
    const int level = network.tensors[output].level;
    tensors[output] =
        reference_operation(op, tensors[op.input], op.added < 0 ? nullptr : &tensors[op.added],
                            network_side(width, level), network_side(height, level));
  }
  return tensors;
}

}  // namespace diacut
