#include "pipeline/part_maps.hpp"

#include <utility>

#include "contour/boundary_orientation.hpp"
#include "contour/combined_contour.hpp"
#include "pipeline/device_checks.hpp"

namespace diacut {

PartMaps::PartMaps(const Parameters& parameters, const std::string& device,
                   const std::string& kernel_dir)
    : parameters_(parameters), context_(device, kernel_dir) {}

PartMaps::~PartMaps() = default;

PartMap PartMaps::map(const Image& image, const Grid& grid, const PictureView& view) {
  return with_device_errors("segmenting", [&] {
    const std::lock_guard<std::mutex> turn(turn_);
    return part_map(context_, image, grid, parameters_.cue, networks_, view);
  });
}

PartContours PartMaps::contours_of(const Grid& grid, const std::vector<float>& part, float full) {
  const std::lock_guard<std::mutex> turn(turn_);
  request_contour_kernels(context_, false);
  request_orientation_kernels(context_);
  const Buffer<float> boundary = settled_boundary_map(context_, part, grid, parameters_.cue, full);
  check_boundary_map(boundary);
  const Buffer<float> contours = cue_contour(context_, grid, boundary, parameters_.contour);
  const Buffer<float> orientation = boundary_orientation(context_, grid, contours);
  return {contours.download(), orientation.download()};
}

PartContours PartMaps::contours(const std::vector<float>& part, int width, int height, float full) {
  return with_device_errors("segmenting", [&] {
    PartContours found = contours_of({width, height, width}, part, full);
    check_contours(context_, found.strength, found.orientation);
    return found;
  });
}

}  // namespace diacut
