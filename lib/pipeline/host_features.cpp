#include "pipeline/host_features.hpp"

#include <span>
#include <vector>

#include "image/feature_planes.hpp"

namespace diacut {

void HostFeatures::load(int first, int count, std::size_t pitch, std::size_t offset,
                        Buffer<float>& block) {
  const std::vector<float> planes =
      feature_planes(features_, first, count, {grid_.width, grid_.height});
  const std::span<const float> all(planes);
  const auto width = static_cast<std::size_t>(grid_.width);
  const auto stride = static_cast<std::size_t>(grid_.stride);
  for (std::size_t c = 0; c < static_cast<std::size_t>(count); ++c) {
    const std::span<const float> plane = all.subspan(c * grid_.pixels(), grid_.pixels());
    const std::size_t to = c * pitch + offset;
    if (stride == width) {
      block.upload(plane, to);
      continue;
    }
    for (std::size_t y = 0; y < static_cast<std::size_t>(grid_.height); ++y) {
      block.upload(plane.subspan(y * width, width), to + y * stride);
    }
  }
}

}  // namespace diacut
