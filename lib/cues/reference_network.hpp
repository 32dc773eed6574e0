#pragma once

#include <cstddef>
#include <vector>

#include "cues/network.hpp"

namespace diacut {

/// A tensor on the host: channels, then rows.
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

/// One operation in double, by plain loops, written for reading. `added` is null for none; the
/// result has this width and height, which only an upsampling needs to be told.
ReferenceTensor reference_operation(const NetworkOp& op,
                                    const std::vector<const ReferenceTensor*>& inputs,
                                    const ReferenceTensor* added, int width, int height);

/// The whole network, for three planes of width * height values in [0, 1]: width * height values.
std::vector<double> reference_network(const Network& network, const std::vector<float>& planes,
                                      int width, int height);

}  // namespace diacut
