#include "pipeline/working_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "image/detail.hpp"
#include "region/placement.hpp"

namespace diacut {

namespace {

/// The longer side of the picture that the network sees, as a part of ImageParameters::detail: 481
/// pixels, the photographs that it learned from, of 640.
constexpr double kNetworkShare = 481.0 / 640;

/// A pointer to what somebody else owns.
template <class Value>
std::shared_ptr<const Value> borrowed(const Value* value) {
  return {std::shared_ptr<const void>(), value};
}

/// Throws as boundary_map() does, which sees only the reduced map.
void check_edges(const EdgeMap& edges, const Image& image) {
  if (edges.width != image.width || edges.height != image.height ||
      edges.strength.size() != image.pixel_count()) {
    throw InputError(
        fmt::format("the edge map has {}x{} pixels, the image {}x{}: give one of the same size",
                    edges.width, edges.height, image.width, image.height));
  }
  const auto bad = std::find_if(edges.strength.begin(), edges.strength.end(), [](float strength) {
    return !(strength >= 0.0f && strength <= 1.0f);
  });
  if (bad != edges.strength.end()) {
    throw InputError(
        fmt::format("the edge map holds the value {}, expected values from 0 to 1", *bad));
  }
}

double pixels_of(const PictureSize& size) {
  return static_cast<double>(size.width) * static_cast<double>(size.height);
}

}  // namespace

WorkingImage working_image(const ImageToSegment& asked, const Parameters& parameters) {
  const Image& image = *asked.image;
  const PictureSize full{image.width, image.height};
  const PictureSize working = reduced_size(full, parameters.image.detail);
  if (working == full) return {borrowed(asked.image), borrowed(asked.edges), nullptr};
  WorkingImage result;
  if (asked.edges != nullptr) {
    check_edges(*asked.edges, image);
    result.edges = std::make_shared<EdgeMap>(EdgeMap{
        working.width, working.height, reduced_by_maximum(asked.edges->strength, full, working)});
  }
  result.image = std::make_shared<Image>(reduced(image, working));
  result.full =
      std::make_shared<FullImage>(FullImage{full, image.valid, detail_picture(image, working)});
  return result;
}

Parameters working_parameters(const Parameters& parameters, const PictureSize& working,
                              const PictureSize& full) {
  Parameters result = parameters;
  if (parameters.image.detail == 0) return result;
  // Of the working image, so that all images of a batch, which have one size, have one scale.
  const double scale = kNetworkShare * parameters.image.detail / longer_side(working);
  for (double& each : result.cue.scales) each *= std::min(1.0, scale);
  LeastSize& least = result.region.min_size;
  if (parameters.region.method == RegionMethod::kKway && least.unit == LeastSize::Unit::kPixels) {
    least.value = std::round(least.value * pixels_of(working) / pixels_of(full));
  }
  return result;
}

void place(Segmentation& result, const PictureSize& working, const FullImage& full) {
  const std::vector<std::uint8_t> levels = detail_levels(full.detail, working, full.size);
  const FullPicture picture{full.size.width, full.size.height, levels, full.valid};
  if (result.hierarchy) {
    result.hierarchy = placed(*result.hierarchy, picture);
    result.contours = enlarged(result.contours, working, full.size, full.valid);
  } else {
    result.labels = placed(result.labels, picture);
  }
}

}  // namespace diacut
