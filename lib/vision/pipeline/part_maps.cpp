#include "pipeline/part_maps.hpp"

#include <cmath>
#include <utility>

#include "contour/boundary_orientation.hpp"
#include "contour/combined_contour.hpp"
#include "core/large_memory.hpp"
#include "core/parallel.hpp"

namespace diacut {

namespace {
/// Fewer pixels are not worth another thread.
constexpr std::size_t kLeastPixels = std::size_t{1} << 16;
}  // namespace

PartMaps::PartMaps(const Parameters& parameters, const std::string& device,
                   const std::string& kernel_dir)
    : parameters_(parameters), context_(device, kernel_dir) {}

PartMaps::~PartMaps() = default;

// Only what takes the device is done in a thread's turn: memory that was never written takes as
// long to be had as its data to be copied.

PartMap PartMaps::map(const Image& image, const Grid& grid, const PictureView& view) {
  return with_device_errors("segmenting", [&] {
    PartMap part = empty_part_map(image, grid, view);
    const std::lock_guard<std::mutex> turn(turn_);
    fill_part_map(context_, image, parameters_.boundary, networks_, view, part);
    return part;
  });
}

Contours PartMaps::contours(std::vector<float> part, int width, int height, float full) {
  return with_device_errors("segmenting", [&] {
    PartMap map{{width, height}, std::move(part), {}};
    map.valid = large_vector<std::uint8_t>(map.values.size());
    parallel_ranges(map.values.size(), kLeastPixels, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        map.valid[i] = std::isnan(map.values[i]) ? 0 : 1;
        if (map.valid[i] == 0) map.values[i] = 0;
      }
    });
    if (parameters_.boundary.kind == BoundaryKind::kLearned)
      check_computed_map(context_, map.values);
    Contours found{large_vector<float>(map.values.size()), large_vector<float>(map.values.size())};
    {
      const std::lock_guard<std::mutex> turn(turn_);
      const Buffer<float> boundary = part_boundary_map(context_, map, parameters_.boundary, full);
      if (parameters_.boundary.kind == BoundaryKind::kGradient) {
        check_computed_maps(context_, {&boundary});
      }
      const Buffer<float> strength =
          boundary_contour(context_, map.grid, boundary,
                           contour_parameters(parameters_.contour, BoundarySource::kNetwork));
      boundary_orientation(context_, map.grid, strength).download(found.orientation);
      strength.download(found.strength);
    }
    check_computed_contours(context_, found);
    return found;
  });
}

}  // namespace diacut
