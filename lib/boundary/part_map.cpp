#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "boundary/boundary.hpp"
#include "boundary/gradient/gradient.hpp"
#include "boundary/gradient/normalize.hpp"
#include "boundary/network/network_boundary.hpp"
#include "core/large_memory.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// The part of an image's mask that the grid covers.
std::vector<std::uint8_t> valid_in(const Image& image, const Grid& grid, const PictureView& view) {
  auto valid = large_vector<std::uint8_t>(grid.pixels(), 1);
  if (image.valid.empty()) return valid;
  const auto width = static_cast<std::size_t>(grid.width);
  for (int y = 0; y < grid.height; ++y) {
    const std::size_t from = static_cast<std::size_t>(view.y - view.image_y + y) *
                                 static_cast<std::size_t>(image.width) +
                             static_cast<std::size_t>(view.x - view.image_x);
    std::transform(image.valid.begin() + static_cast<std::ptrdiff_t>(from),
                   image.valid.begin() + static_cast<std::ptrdiff_t>(from + width),
                   valid.begin() + static_cast<std::ptrdiff_t>(y) * grid.width,
                   [](std::uint8_t data) { return std::uint8_t{data != 0}; });
  }
  return valid;
}

std::size_t count_valid(const std::vector<std::uint8_t>& valid) {
  return static_cast<std::size_t>(std::count(valid.begin(), valid.end(), std::uint8_t{1}));
}

Buffer<std::uint8_t> uploaded(Context& context, const std::vector<std::uint8_t>& valid) {
  auto buffer = context.allocate<std::uint8_t>(valid.size(), "which pixels have data");
  buffer.upload(valid);
  return buffer;
}

/// The magnitude at the pixels of the part, which is computed for the whole image.
void fill_with_magnitude(Context& context, const Image& image, double sigma,
                         const PictureView& view, PartMap& part) {
  const Grid whole{image.width, image.height, image.width};
  const std::vector<std::uint8_t> valid = valid_in(image, whole, whole_picture(whole));
  const std::vector<float> found =
      gradient_magnitude(context, image, whole, uploaded(context, valid), count_valid(valid), sigma)
          .download();
  for (int y = 0; y < part.grid.height; ++y) {
    const auto row = found.begin() +
                     static_cast<std::ptrdiff_t>(view.y - view.image_y + y) * whole.width + view.x -
                     view.image_x;
    std::copy_n(row, part.grid.width,
                part.values.begin() + static_cast<std::ptrdiff_t>(y) * part.grid.width);
  }
}

}  // namespace

PartMap empty_part_map(const Image& image, const Grid& grid, const PictureView& view) {
  return {grid, large_vector<float>(grid.pixels()), valid_in(image, grid, view)};
}

void fill_part_map(Context& context, const Image& image, const CueParameters& parameters,
                   DeviceNetworks& networks, const PictureView& view, PartMap& part) {
  const std::size_t with_data = count_valid(part.valid);
  if (with_data == 0) return;
  if (parameters.kind == CueKind::kGradient) {
    return fill_with_magnitude(context, image, parameters.sigma, view, part);
  }
  network_boundary_map(context, networks.get(context, parameters.weights), networks.tensors(),
                       image, part.grid, uploaded(context, part.valid), with_data, parameters, view)
      .boundary.download(part.values);
}

PartMap part_map(Context& context, const Image& image, const Grid& grid,
                 const CueParameters& parameters, DeviceNetworks& networks,
                 const PictureView& view) {
  PartMap part = empty_part_map(image, grid, view);
  fill_part_map(context, image, parameters, networks, view, part);
  return part;
}

Stretch cue_needs(const CueParameters& parameters, int side, const Stretch& wanted, bool gaps) {
  if (parameters.kind == CueKind::kLearned) {
    return network_needs(load_networks(parameters.weights), parameters, side, wanted, gaps);
  }
  const int reach = gradient_reach(parameters.sigma);
  return {std::max(wanted.begin - reach, 0), std::min(wanted.end + reach, side)};
}

Buffer<float> settled_boundary_map(Context& context, const PartMap& part,
                                   const CueParameters& parameters, float full) {
  auto boundary = context.allocate<float>(part.values.size(), "boundary map");
  if (parameters.kind == CueKind::kLearned) {
    boundary.upload(part.values);
    return boundary;
  }
  auto magnitude = context.allocate<float>(part.values.size(), "magnitude of the gradient");
  magnitude.upload(part.values);
  auto quantile = context.allocate<std::uint32_t>(1, "a quantile");
  quantile.upload(std::array<std::uint32_t, 1>{std::bit_cast<std::uint32_t>(full)});
  launch_gradient_normalize(context, part.grid, magnitude, uploaded(context, part.valid), quantile,
                            static_cast<float>(parameters.floor), boundary);
  return boundary;
}

}  // namespace diacut
