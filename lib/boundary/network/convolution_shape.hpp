#pragma once

#include <limits>

namespace diacut {

/// The size and kind of a convolution.
struct ConvolutionShape {
  int inputs = 0;     ///< Channels of all input tensors together.
  int outputs = 0;    ///< Output channels.
  int kernel = 1;     ///< Taps along each axis: 1, 3 or 5.
  int stride = 1;     ///< Input pixels from one output pixel to the next: 1 or 2.
  int shift = 0;      ///< Pixels by which the taps lie right of and below the symmetric place.
  int dilation = 1;   ///< Distance of neighbouring taps, in pixels.
  bool relu = false;  ///< Whether min(most, max(0, .)) ends the operation.
  float most = std::numeric_limits<float>::infinity();  ///< Used with `relu`.

  int taps() const { return kernel * kernel; }
  /// Pixels from the leftmost tap to the pixel that the output pixel lies on.
  int before() const { return dilation * (kernel / 2 - shift); }
  /// Pixels from the pixel that the output pixel lies on to the rightmost tap.
  int after() const { return dilation * (kernel - 1) - before(); }
};

}  // namespace diacut
