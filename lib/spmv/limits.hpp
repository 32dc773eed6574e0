#pragma once

#include <cstddef>
#include <string>

namespace diacut {

/// How much a padded format may store. A few diagonals or one long row can make the stored matrix a
/// thousand times larger.
struct FormatLimits {
  double fill = 8.0;                          ///< The most stored elements for each non-zero.
  std::size_t free = std::size_t{1} << 16;    ///< Elements that are allowed whatever the fill.
  std::size_t bytes = std::size_t{64} << 30;  ///< The most host memory that values may take.
};

/// Throws InputError saying how much `format` would store, and what to use instead. `stored` is a
/// double because it may pass 2^64.
void check_fill(double stored, std::size_t nonzeros, const std::string& format,
                const FormatLimits& limits);

}  // namespace diacut
