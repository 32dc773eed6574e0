#include "boundary/boundary.hpp"

#include <algorithm>
#include <utility>

#include "boundary/gradient/gradient.hpp"
#include "boundary/network/network_boundary.hpp"
#include "image/edge_check.hpp"
#include "opencl/copy_elements.hpp"

namespace diacut {

namespace {

// For each element of the grid, 1 where it is a pixel with data, else 0.
std::vector<std::uint8_t> valid_elements(const Image& image, const Grid& grid) {
  std::vector<std::uint8_t> valid(grid.rows(), 0);
  for (int y = 0; y < grid.height; ++y) {
    const auto row = valid.begin() + static_cast<std::ptrdiff_t>(y) * grid.stride;
    if (image.valid.empty()) {
      std::fill_n(row, grid.width, std::uint8_t{1});
    } else {
      const auto from = image.valid.begin() + static_cast<std::ptrdiff_t>(y) * grid.width;
      std::transform(from, from + grid.width, row,
                     [](std::uint8_t data) { return std::uint8_t{data != 0}; });
    }
  }
  return valid;
}

// The boundary map that the user gave, on the grid.
Buffer<float> given_map(Context& context, const EdgeMap& edges, const Grid& grid,
                        const std::vector<std::uint8_t>& valid) {
  check_edges(edges, grid.width, grid.height);
  std::vector<float> values(grid.rows(), 0.0f);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const std::size_t element = static_cast<std::size_t>(y) * grid.stride + x;
      if (valid[element] == 0) continue;
      values[element] = edges.strength[static_cast<std::size_t>(y) * grid.width + x];
    }
  }
  auto map = context.allocate<float>(grid.rows(), "boundary map");
  map.upload(values);
  return map;
}

}  // namespace

void check_cue(const CueParameters& parameters) {
  if (parameters.kind == CueKind::kLearned) load_networks(parameters.weights);
}

bool gives_inside(const CueParameters& parameters) {
  return parameters.kind == CueKind::kLearned &&
         load_networks(parameters.weights).front()->outputs() > 1;
}

BoundaryMap boundary_map(Context& context, const Image& image, const Grid& grid,
                         const CueParameters& parameters, DeviceNetworks& networks,
                         const EdgeMap* edges) {
  BoundaryMap map;
  map.grid = grid;
  const std::vector<std::uint8_t> valid = valid_elements(image, grid);
  const auto valid_pixels =
      static_cast<std::size_t>(std::count(valid.begin(), valid.end(), std::uint8_t{1}));
  map.valid = context.allocate<std::uint8_t>(grid.rows(), "which pixels have data");
  map.valid.upload(valid);
  if (edges != nullptr) {
    map.values = given_map(context, *edges, grid, valid);
    return map;
  }
  switch (parameters.kind) {
    case CueKind::kLearned: {
      NetworkMaps maps = network_boundary_map(context, networks.get(context, parameters.weights),
                                              networks.tensors(), image, grid, map.valid,
                                              valid_pixels, parameters);
      map.values = std::move(maps.boundary);
      map.inside = std::move(maps.inside);
      break;
    }
    case CueKind::kGradient:
      map.values = gradient_boundary_map(context, image, grid, map.valid, valid_pixels, parameters);
      break;
  }
  return map;
}

BoundaryMap boundary_map(Context& context, const Image& image, const Grid& grid,
                         const CueParameters& parameters) {
  DeviceNetworks networks;
  return boundary_map(context, image, grid, parameters, networks);
}

BoundaryMap empty_boundary_map(Context& context, const Image& image, const Grid& grid) {
  BoundaryMap map;
  map.grid = grid;
  map.valid = context.allocate<std::uint8_t>(grid.rows(), "which pixels have data");
  map.valid.upload(valid_elements(image, grid));
  map.values = context.allocate<float>(grid.rows(), "boundary map");
  map.values.fill(0);
  return map;
}

BoundaryMap batched(Context& context, const std::vector<BoundaryMap>& maps, const Batch& batch) {
  const Grid grid = batch.grid();
  BoundaryMap result{grid,
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

}  // namespace diacut
