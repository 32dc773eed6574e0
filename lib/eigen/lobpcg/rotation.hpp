#pragma once

#include <span>

#include "eigen/lobpcg/workspace.hpp"

namespace diacut {

/// Ritz values on the device: the workspace's columns() for each of all segments, whether active or
/// not.
struct RitzValues {
  Uploaded words;
};

/// Enqueues.
RitzValues upload_ritz_values(Workspace& workspace, std::span<const float> values);

/// The matrix Q of a Rayleigh-Ritz step on the device, with the Ritz values that belong to S Q.
struct Rotation {
  Uploaded words;            ///< The Ritz values, `places` and Q.
  std::size_t places = 0;    ///< Where in `words` the places in the next P begin.
  std::size_t rotation = 0;  ///< Where in `words` Q begins.

  RitzValues ritz_values() const { return {words}; }
};

/// One upload for all that a basis update takes. `places`, for each active segment: of each column
/// of S Q its column in the next P, or -1, and then how many columns P has. `q`, for each active
/// segment: row-major, one row for each column of S. Enqueues.
Rotation upload_rotation(Workspace& workspace, std::span<const float> ritz_values,
                         std::span<const std::int32_t> places, std::span<const float> q);

/// One image's rotation: its basis has columns() of X, and one of W, and of P, for each column of X
/// that it corrects.
struct ImageRotation {
  std::span<const float> q;                ///< Row-major, columns() wide.
  std::span<const std::int32_t> selected;  ///< The columns of X that are corrected, ascending.
};
/// Rotations of all active images in a basis of `blocks` blocks, W and P `width` columns wide: rows
/// of Q for columns of W and P that an image does not have are 0. Enqueues.
Rotation upload_rotation(Workspace& workspace, std::span<const float> ritz_values,
                         std::span<const ImageRotation> images, int blocks, int width);

}  // namespace diacut
