#pragma once

#include <vector>

#include "boundary/network/network.hpp"
#include "diacut/image.hpp"

namespace diacut {

/// A tensor on the host: `channels` planes of height rows of width values.
struct ReferenceTensor {
  int channels = 0;
  int width = 0;
  int height = 0;
  std::vector<double> values;

  ReferenceTensor() = default;
  ReferenceTensor(int c, int w, int h);
  double& at(int channel, int x, int y);
  double at(int channel, int x, int y) const;
};

/// One operation of a network in double, by plain loops, written to be read. `added` may be null.
/// `width` and `height` are the sides of the result; only upsampling reads them.
ReferenceTensor reference_operation(const NetworkOp& op, const ReferenceTensor& in,
                                    const ReferenceTensor* added, int width, int height);

/// A whole network in double: its output, network.outputs() planes of width * height values, for
/// three planes of width * height values in [0, 1]; or another tensor of it, as `tensor` says.
std::vector<double> reference_network(const Network& network, const std::vector<float>& planes,
                                      int width, int height, int tensor = -1);

}  // namespace diacut
