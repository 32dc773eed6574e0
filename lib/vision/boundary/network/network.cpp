#include "boundary/network/network.hpp"

#include <algorithm>

namespace diacut {

int network_side(int side, int level) {
  for (int i = 0; i < level; ++i) side = (side + 1) / 2;
  return side;
}

int Network::levels() const {
  int deepest = 0;
  for (const NetworkTensor& tensor : tensors) deepest = std::max(deepest, tensor.level);
  return deepest;
}

int Network::margin(int level) const {
  int most = 0;
  for (const NetworkOp& op : ops) {
    if (tensors[op.input].level != level) continue;
    most = std::max({most, op.shape.before(), op.shape.after()});
  }
  return most;
}

int Network::reach() const {
  // Pixel i of level l covers the input pixels i * 2^l to (i + 1) * 2^l - 1. reaches[t] is how far
  // a pixel of tensor t depends on input pixels beyond the ones that it covers.
  std::vector<int> reaches(tensors.size(), 0);
  for (const NetworkOp& op : ops) {
    int& reach = reaches[op.output];
    reach = reaches[op.input];
    const int level = tensors[op.input].level;
    // An output pixel covers `stride` input pixels, so its last tap lies stride - 1 less beyond
    // them.
    reach += std::max(op.shape.before(), op.shape.after() - (op.shape.stride - 1)) << level;
    if (op.added >= 0) reach = std::max(reach, reaches[op.added]);
    // An upsampled pixel is interpolated between the coarse pixel that it lies in and a neighbour
    // of that coarse pixel.
    if (op.kind == NetworkOpKind::kUpsample) reach += 1 << level;
  }
  return reaches.back();
}

double Network::operations(int width, int height) const {
  double sum = 0;
  for (const NetworkOp& op : ops) {
    const int level = tensors[op.output].level;
    sum += 2.0 * static_cast<double>(op.weights.size()) * network_side(width, level) *
           network_side(height, level);
  }
  return sum;
}

NetworkPlanes network_planes(int width, int height, int margin, int images) {
  // The widest vector of a kernel, in floats.
  constexpr std::size_t kStep = 16;
  // Rows whose distance is a multiple of this many elements fall into the same few cache sets.
  constexpr std::size_t kAliasing = 512;
  // Two vectors at least: a convolution of stride 2 loads two for one, also of the narrowest image.
  std::size_t stride =
      std::max(2 * kStep, round_up(static_cast<std::size_t>(width) + margin, kStep));
  if (stride % kAliasing == 0) stride += kStep;
  return {width, height, margin, static_cast<int>(stride), images};
}

NetworkRange planes_range(const NetworkPlanes& planes, int channels, int lanes, int down) {
  const auto depth = static_cast<std::size_t>(channels);
  // ROW_GROUPS of planes.clh.
  const int above = (planes.margin + down) / down * down;
  const auto rows = static_cast<std::size_t>((above + planes.height + planes.margin + down) / down *
                                             planes.images);
  if (lanes > 1) return {cl::NDRange(1, rows, depth), cl::NDRange(1, 1, 1)};
  const auto stride = static_cast<std::size_t>(planes.stride);
  return {cl::NDRange(round_up(stride, kRowGroup), rows, depth), cl::NDRange(kRowGroup, 1, 1)};
}

int network_lanes(Context& context) {
  if (context.info().kind != DeviceKind::kCpu) return 1;
  return with_device_errors("asking for the device's vectors", [&] {
    const auto device = context.queue().getInfo<CL_QUEUE_DEVICE>();
    const auto width = device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>();
    return width >= 16 ? 16 : width >= 8 ? 8 : 4;
  });
}

}  // namespace diacut
