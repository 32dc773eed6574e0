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
    if (tensors[static_cast<std::size_t>(op.inputs.front())].level != level) continue;
    most = std::max({most, op.shape.before(), op.shape.after()});
  }
  return most;
}

int Network::reach() const {
  // Pixel i of level l covers the input pixels i * 2^l to (i + 1) * 2^l - 1. reaches[t] is how far
  // a pixel of tensor t depends on input pixels beyond the ones that it covers.
  std::vector<int> reaches(tensors.size(), 0);
  for (const NetworkOp& op : ops) {
    int& reach = reaches[static_cast<std::size_t>(op.output)];
    for (const int input : op.inputs) {
      reach = std::max(reach, reaches[static_cast<std::size_t>(input)]);
    }
    const int level = tensors[static_cast<std::size_t>(op.inputs.front())].level;
    // An output pixel covers `stride` input pixels, so its last tap lies stride - 1 less beyond
    // them.
    reach += std::max(op.shape.before(), op.shape.after() - (op.shape.stride - 1)) << level;
    if (op.added >= 0) reach = std::max(reach, reaches[static_cast<std::size_t>(op.added)]);
    // An upsampled pixel is interpolated between the coarse pixel that it lies in and a neighbour
    // of that coarse pixel.
    if (op.kind == NetworkOpKind::kUpsample) reach += 1 << level;
  }
  return reaches.back();
}

double Network::operations(int width, int height) const {
  double sum = 0;
  for (const NetworkOp& op : ops) {
    const int level = tensors[static_cast<std::size_t>(op.output)].level;
    sum += 2.0 * static_cast<double>(op.weights.size()) * network_side(width, level) *
           network_side(height, level);
  }
  return sum;
}

}  // namespace diacut
