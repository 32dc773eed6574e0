#pragma once

#include <vector>

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

/// The turns that CueParameters::turns stands for, the picture as it is first. Precondition:
/// `count` is 1, 2, 4 or 8.
std::vector<Turn> network_turns(int count);

}  // namespace diacut
