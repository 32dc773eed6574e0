#include "boundary/boundary.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "boundary/gradient/gradient.hpp"
#include "boundary/network/network_boundary.hpp"
#include "core/large_memory.hpp"
#include "diacut/errors.hpp"
#include "image/input_checks.hpp"

namespace diacut {

namespace {

/// The image's pixel that row y of a view begins with.
std::ptrdiff_t first_in_row(const Image& image, const PictureView& view, int y) {
  return static_cast<std::ptrdiff_t>(view.y - view.image_y + y) * image.width + view.x -
         view.image_x;
}

/// For each element of the grid, which is the part of the image that the view shows, 1 where it is
/// a pixel with data, else 0.
std::vector<std::uint8_t> valid_elements(const Image& image, const Grid& grid,
                                         const PictureView& view) {
  auto valid = large_vector<std::uint8_t>(grid.rows());
  for (int y = 0; y < grid.height; ++y) {
    const auto row = valid.begin() + static_cast<std::ptrdiff_t>(y) * grid.width;
    if (image.valid.empty()) {
      std::fill_n(row, grid.width, std::uint8_t{1});
    } else {
      const auto from = image.valid.begin() + first_in_row(image, view, y);
      std::transform(from, from + grid.width, row,
                     [](std::uint8_t data) { return std::uint8_t{data != 0}; });
    }
  }
  return valid;
}

std::size_t count_valid(const std::vector<std::uint8_t>& valid) {
  return static_cast<std::size_t>(std::count(valid.begin(), valid.end(), std::uint8_t{1}));
}

/// `with_data`: how many of the elements are 1.
Buffer<std::uint8_t> uploaded(Context& context, const std::vector<std::uint8_t>& valid,
                              std::size_t with_data) {
  auto buffer = context.allocate<std::uint8_t>(valid.size(), "which pixels have data");
  // To fill takes no wait for what the device does before.
  if (with_data == valid.size()) {
    buffer.fill(1);
  } else {
    buffer.upload(valid);
  }
  return buffer;
}

// A boundary map of the image's pixels, on the grid; 0 where there is no data.
Buffer<float> on_device(Context& context, const std::vector<float>& strength, const Grid& grid,
                        const std::vector<std::uint8_t>& valid) {
  std::vector<float> values(grid.rows(), 0.0f);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (valid[i] != 0) values[i] = strength[i];
  }
  auto map = context.allocate<float>(grid.rows(), "boundary map");
  map.upload(values);
  return map;
}

/// The magnitude at the pixels of the part, which is computed for the whole image.
void fill_with_magnitude(const Image& image, double sigma, const PictureView& view, PartMap& part) {
  const std::vector<float> found = gradient_magnitude(image, sigma);
  for (int y = 0; y < part.grid.height; ++y) {
    std::copy_n(found.begin() + first_in_row(image, view, y), part.grid.width,
                part.values.begin() + static_cast<std::ptrdiff_t>(y) * part.grid.width);
  }
}

}  // namespace

void check_boundary(const BoundaryParameters& parameters) {
  if (parameters.kind == BoundaryKind::kLearned) load_networks(parameters.weights);
}

bool gives_inside(const BoundaryParameters& parameters) {
  return parameters.kind == BoundaryKind::kLearned &&
         load_networks(parameters.weights).front()->outputs() > 1;
}

bool gives_embedding(const BoundaryParameters& parameters) {
  return parameters.kind == BoundaryKind::kLearned &&
         gives_embedding(load_networks(parameters.weights), parameters);
}

std::vector<DeviceBoundary> boundary_maps(Context& context, std::span<const BoundaryInput> images,
                                          const Grid& grid, const BoundaryParameters& parameters,
                                          DeviceNetworks& networks, bool embeds,
                                          const std::function<void(double share)>& tell) {
  const bool learned = parameters.kind == BoundaryKind::kLearned && images.front().given == nullptr;
  std::vector<DeviceBoundary> maps(images.size());
  std::vector<ImageToMap> to_map;
  for (std::size_t k = 0; k < images.size(); ++k) {
    const auto& [image, given] = images[k];
    DeviceBoundary& map = maps[k];
    map.grid = grid;
    const std::vector<std::uint8_t> valid = valid_elements(image, grid, whole_picture(grid));
    const std::size_t with_data = count_valid(valid);
    map.valid = uploaded(context, valid, with_data);
    if (given != nullptr) {
      check_boundary_map(*given, grid.width, grid.height);
      map.values = on_device(context, given->strength, grid, valid);
    } else if (learned) {
      to_map.push_back({image, map.valid, with_data});
    } else {
      map.values = on_device(context, gradient_boundary_map(image, parameters), grid, valid);
    }
  }
  if (!learned) return maps;
  std::vector<NetworkMaps> found =
      network_boundary_maps(context, networks.get(context, parameters.weights), networks.tensors(),
                            to_map, grid, parameters, whole_picture(grid), embeds, tell);
  for (std::size_t k = 0; k < maps.size(); ++k) {
    maps[k].values = std::move(found[k].boundary);
    maps[k].inside = std::move(found[k].inside);
    maps[k].embedding = std::move(found[k].embedding);
  }
  return maps;
}

DeviceBoundary boundary_map(Context& context, const Image& image, const Grid& grid,
                            const BoundaryParameters& parameters, DeviceNetworks& networks,
                            bool embeds) {
  const BoundaryInput one{image};
  return std::move(boundary_maps(context, {&one, 1}, grid, parameters, networks, embeds).front());
}

DeviceBoundary boundary_map(Context& context, const Image& image, const Grid& grid,
                            const BoundaryParameters& parameters) {
  DeviceNetworks networks;
  return boundary_map(context, image, grid, parameters, networks);
}

DeviceBoundary empty_boundary_map(Context& context, const Image& image, const Grid& grid) {
  DeviceBoundary map;
  map.grid = grid;
  const std::vector<std::uint8_t> valid = valid_elements(image, grid, whole_picture(grid));
  map.valid = uploaded(context, valid, count_valid(valid));
  map.values = context.allocate<float>(grid.rows(), "boundary map");
  map.values.fill(0);
  return map;
}

DeviceBoundary batched(Context& context, const std::vector<DeviceBoundary>& maps,
                       const Batch& batch) {
  const Grid grid = batch.grid();
  DeviceBoundary result{grid,
                        context.allocate<float>(grid.rows(), "boundary maps of all images"),
                        context.allocate<std::uint8_t>(grid.rows(), "which pixels have data"),
                        {}};
  result.values.fill(0);
  result.valid.fill(0);
  for (std::size_t k = 0; k < maps.size(); ++k) {
    const std::size_t rows = batch.image.rows();
    copy_elements(maps[k].values, 0, result.values, k * batch.segment(), rows);
    copy_elements(maps[k].valid, 0, result.valid, k * batch.segment(), rows);
  }
  return result;
}

PartMap empty_part_map(const Image& image, const Grid& grid, const PictureView& view) {
  return {grid, large_vector<float>(grid.rows()), valid_elements(image, grid, view)};
}

void fill_part_map(Context& context, const Image& image, const BoundaryParameters& parameters,
                   DeviceNetworks& networks, const PictureView& view, PartMap& part) {
  const std::size_t with_data = count_valid(part.valid);
  if (with_data == 0) return;
  if (parameters.kind == BoundaryKind::kGradient) {
    return fill_with_magnitude(image, parameters.sigma, view, part);
  }
  const Buffer<std::uint8_t> valid = uploaded(context, part.valid, with_data);
  const ImageToMap one{image, valid, with_data};
  network_boundary_maps(context, networks.get(context, parameters.weights), networks.tensors(),
                        {&one, 1}, part.grid, parameters, view, false)
      .front()
      .boundary.download(part.values);
}

Stretch boundary_needs(const BoundaryParameters& parameters, int side, const Stretch& wanted,
                       bool gaps) {
  if (parameters.kind == BoundaryKind::kLearned) {
    return network_needs(load_networks(parameters.weights), parameters, side, wanted, gaps);
  }
  const int reach = gradient_reach(parameters.sigma);
  return {std::max(wanted.begin - reach, 0), std::min(wanted.end + reach, side)};
}

Buffer<float> part_boundary_map(Context& context, const PartMap& part,
                                const BoundaryParameters& parameters, float full) {
  auto boundary = context.allocate<float>(part.values.size(), "boundary map");
  if (parameters.kind == BoundaryKind::kLearned) {
    boundary.upload(part.values);
    return boundary;
  }
  const float least = std::max(full, static_cast<float>(parameters.floor));
  std::vector<float> strength = part.values;
  for (std::size_t i = 0; i < strength.size(); ++i) {
    strength[i] = part.valid[i] != 0 ? gradient_strength(strength[i], least) : 0.0F;
  }
  boundary.upload(strength);
  return boundary;
}

void add_walls(DeviceBoundary& map, const std::vector<std::uint8_t>& walls) {
  std::vector<float> values = map.values.download();
  std::vector<std::uint8_t> valid = map.valid.download();
  for (std::size_t i = 0; i < walls.size(); ++i) {
    if (walls[i] == 0) continue;
    values[i] = kWall;
    valid[i] = 0;
  }
  map.values.upload(values);
  map.valid.upload(valid);
}

}  // namespace diacut
