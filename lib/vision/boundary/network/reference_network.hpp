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

/// All tensors of a network in double, for three planes of width * height values in [0, 1]. That of
/// network.output() has network.outputs() planes of as many values.
std::vector<ReferenceTensor> reference_network(const Network& network,
                                               const std::vector<float>& planes, int width,
                                               int height);

}  // namespace diacut
