#pragma once

#include <vector>

#include "diacut/image.hpp"

namespace diacut {

/// One of the eight ways to turn and mirror a picture by whole pixels. Pixel (u, v) of the turned
/// picture is pixel (x, y) of the picture: (x, y) = transposed ? (v, u) : (u, v), then x counted
/// from the right if mirrored_x, and y from below if mirrored_y.
struct Turn {
  bool transposed = false;
  bool mirrored_x = false;
  bool mirrored_y = false;

  bool operator==(const Turn&) const = default;
};

/// The turned picture's `second` turn: pixel (u, v) of the result is pixel second(u, v) of the
/// picture turned by `first`.
Turn composed(const Turn& first, const Turn& second);

/// The turn that brings an image to its canonical form, CuePose::kCanonical. Its moments are sums
/// of whole numbers, so that all eight forms of an image have the same canonical form to the bit,
/// unless they tie.
Turn canonical_turn(const Image& image);

/// The turns that CueParameters::turns stands for, the picture as it is first. Precondition:
/// `count` is 1, 2, 4 or 8.
std::vector<Turn> network_turns(int count);

}  // namespace diacut
