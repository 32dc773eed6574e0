#include "boundary/network/reference_network.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace diacut {

namespace {

/// All inputs as one tensor, their channels joined in order.
ReferenceTensor joined(const std::vector<const ReferenceTensor*>& inputs) {
  ReferenceTensor all = *inputs.front();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    all.channels += inputs[i]->channels;
    all.values.insert(all.values.end(), inputs[i]->values.begin(), inputs[i]->values.end());
  }
  return all;
}

ReferenceTensor convolution(const NetworkOp& op, const ReferenceTensor& in,
                            const ReferenceTensor* added) {
  const bool depthwise = op.kind == NetworkOpKind::kDepthwise;
  const int inner = depthwise ? 1 : in.channels;
  const ConvolutionShape& shape = op.shape;
  ReferenceTensor out(shape.outputs, (in.width + shape.stride - 1) / shape.stride,
                      (in.height + shape.stride - 1) / shape.stride);
  for (int c = 0; c < out.channels; ++c) {
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) {
        double sum = op.bias[static_cast<std::size_t>(c)];
        std::size_t weight = static_cast<std::size_t>(c * inner * shape.taps());
        for (int i = 0; i < inner; ++i) {
          for (int ky = 0; ky < shape.kernel; ++ky) {
            for (int kx = 0; kx < shape.kernel; ++kx, ++weight) {
              const int from_x = shape.stride * x + shape.dilation * kx - shape.before();
              const int from_y = shape.stride * y + shape.dilation * ky - shape.before();
              if (from_x < 0 || from_x >= in.width || from_y < 0 || from_y >= in.height) continue;
              sum += op.weights[weight] * in.at(depthwise ? c : i, from_x, from_y);
            }
          }
        }
        if (added != nullptr) sum += added->at(c, x, y);
        out.at(c, x, y) = shape.relu ? std::min<double>(std::max(sum, 0.0), shape.most) : sum;
      }
    }
  }
  return out;
}

ReferenceTensor pooled(const ReferenceTensor& in) {
  ReferenceTensor out(in.channels, (in.width + 1) / 2, (in.height + 1) / 2);
  for (int c = 0; c < out.channels; ++c) {
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) {
        double largest = in.at(c, 2 * x, 2 * y);
        for (int from_y = 2 * y; from_y < std::min(2 * y + 2, in.height); ++from_y) {
          for (int from_x = 2 * x; from_x < std::min(2 * x + 2, in.width); ++from_x) {
            largest = std::max(largest, in.at(c, from_x, from_y));
          }
        }
        out.at(c, x, y) = largest;
      }
    }
  }
  return out;
}

ReferenceTensor upsampled(const ReferenceTensor& in, int width, int height) {
  ReferenceTensor out(in.channels, width, height);
  for (int c = 0; c < out.channels; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double u = std::clamp((x + 0.5) / 2 - 0.5, 0.0, in.width - 1.0);
        const double v = std::clamp((y + 0.5) / 2 - 0.5, 0.0, in.height - 1.0);
        const int left = static_cast<int>(u);
        const int upper = static_cast<int>(v);
        const int right = std::min(left + 1, in.width - 1);
        const int lower = std::min(upper + 1, in.height - 1);
        const double above =
            (left + 1 - u) * in.at(c, left, upper) + (u - left) * in.at(c, right, upper);
        const double below =
            (left + 1 - u) * in.at(c, left, lower) + (u - left) * in.at(c, right, lower);
        out.at(c, x, y) = (upper + 1 - v) * above + (v - upper) * below;
      }
    }
  }
  return out;
}

/// The weights of the `in` pixels of a side in pixel i of the side resized to `out` pixels.
std::vector<double> shares(int i, int in, int out) {
  std::vector<double> all(static_cast<std::size_t>(in), 0.0);
  const double step = static_cast<double>(in) / out;
  if (in > out) {
    for (int k = 0; k < in; ++k) {
      const double covered = std::min(k + 1.0, (i + 1) * step) - std::max<double>(k, i * step);
      all[static_cast<std::size_t>(k)] = std::max(covered, 0.0) / step;
    }
    return all;
  }
  const double centre = (i + 0.5) * step - 0.5;
  for (int k = -2; k < in + 2; ++k) {
    const double d = std::abs(k - centre);
    const double share = d < 1   ? 1.25 * d * d * d - 2.25 * d * d + 1
                         : d < 2 ? -0.75 * d * d * d + 3.75 * d * d - 6 * d + 3
                                 : 0;
    all[static_cast<std::size_t>(std::clamp(k, 0, in - 1))] += share;
  }
  return all;
}

}  // namespace

ReferenceTensor::ReferenceTensor(int c, int w, int h)
    : channels(c),
      width(w),
      height(h),
      values(static_cast<std::size_t>(c) * static_cast<std::size_t>(w) *
             static_cast<std::size_t>(h)) {}

double& ReferenceTensor::at(int channel, int x, int y) {
  return values[(static_cast<std::size_t>(channel) * height + y) * width + x];
}

double ReferenceTensor::at(int channel, int x, int y) const {
  return values[(static_cast<std::size_t>(channel) * height + y) * width + x];
}

ReferenceTensor reference_operation(const NetworkOp& op,
                                    const std::vector<const ReferenceTensor*>& inputs,
                                    const ReferenceTensor* added, int width, int height) {
  switch (op.kind) {
    case NetworkOpKind::kConvolution:
    case NetworkOpKind::kDepthwise:
      return convolution(op, joined(inputs), added);
    case NetworkOpKind::kMaxPool:
      return pooled(*inputs.front());
    case NetworkOpKind::kUpsample:
      return upsampled(*inputs.front(), width, height);
    case NetworkOpKind::kSigmoid:
      break;
  }
  ReferenceTensor out = *inputs.front();
  for (double& value : out.values) value = 1 / (1 + std::exp(-value));
  return out;
}

std::vector<double> reference_network(const Network& network, const std::vector<float>& planes,
                                      int width, int height) {
  std::vector<ReferenceTensor> tensors(network.tensors.size());
  tensors[0] = ReferenceTensor(3, width, height);
  std::transform(planes.begin(), planes.end(), tensors[0].values.begin(),
                 [](float value) { return 4 * (static_cast<double>(value) - 0.5); });
  for (const NetworkOp& op : network.ops) {
    std::vector<const ReferenceTensor*> inputs;
    for (const int input : op.inputs) inputs.push_back(&tensors[static_cast<std::size_t>(input)]);
    const auto output = static_cast<std::size_t>(op.output);
    const int level = network.tensors[output].level;
    tensors[output] = reference_operation(
        op, inputs, op.added < 0 ? nullptr : &tensors[static_cast<std::size_t>(op.added)],
        network_side(width, level), network_side(height, level));
  }
  return std::move(tensors.back().values);
}

std::vector<float> reference_picture(const Image& image, int width, int height, int border) {
  ReferenceTensor resized(3, width, height);
  for (int y = 0; y < height; ++y) {
    const std::vector<double> rows = shares(y, image.height, height);
    for (int x = 0; x < width; ++x) {
      const std::vector<double> columns = shares(x, image.width, width);
      for (int channel = 0; channel < 3; ++channel) {
        double sum = 0;
        for (int j = 0; j < image.height; ++j) {
          for (int i = 0; i < image.width; ++i) {
            const auto pixel = static_cast<std::size_t>(j) * image.width + i;
            sum += rows[static_cast<std::size_t>(j)] * columns[static_cast<std::size_t>(i)] *
                   image.pixels[pixel * image.channels + std::min(channel, image.channels - 1)];
          }
        }
        resized.at(channel, x, y) = std::clamp(sum, 0.0, 1.0);
      }
    }
  }
  const auto inner = [](int at, int count) {
    while (at < 0 || at >= count) at = at < 0 ? -1 - at : 2 * count - 1 - at;
    return at;
  };
  std::vector<float> planes;
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = -border; y < height + border; ++y) {
      for (int x = -border; x < width + border; ++x) {
        planes.push_back(
            static_cast<float>(resized.at(channel, inner(x, width), inner(y, height))));
      }
    }
  }
  return planes;
}

}  // namespace diacut
