#pragma once

#include <cstddef>
#include <vector>

#include "boundary/network/network.hpp"
#include "diacut/image.hpp"

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

/// What a network sees of a picture: three planes of (width + 2 border) * (height + 2 border)
/// values in [0, 1], a grey picture thrice. Resized to width * height where that is another size
/// than the picture's (means of areas to shrink, cubic to enlarge, with half-pixel centres and the
/// edge going on), then mirrored beyond its edges by `border`. Every pixel counts, with data or
/// without.
std::vector<float> reference_picture(const Image& image, int width, int height, int border = 0);

}  // namespace diacut
