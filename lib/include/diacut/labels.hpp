#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace diacut {

/// A segmentation. values.size() == width * height, row by row. Labels run 1..count in the order
/// in which a scan from the top left first meets them; 0 only where the image has no data. Each
/// region is 4-connected.
struct Labels {
  int width = 0;
  int height = 0;
  std::int64_t count = 0;
  std::vector<std::int32_t> values;
};

}  // namespace diacut
