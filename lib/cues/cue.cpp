#include "cues/cue.hpp"

#include <algorithm>

#include "cues/gradient.hpp"

namespace diacut {

namespace {

// Which elements of the grid are pixels with data.
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

}  // namespace

void plan_cue(MemoryPlan& plan, const Grid& grid, const CueParameters& parameters) {
  plan.add("which pixels have data", grid.rows());
  switch (parameters.kind) {
    case CueKind::kGradient:
      plan_gradient(plan, grid, parameters.sigma);
      break;
  }
}

BoundaryMap boundary_strength(Context& context, const Image& image, const Grid& grid,
                              const CueParameters& parameters) {
  BoundaryMap map;
  map.grid = grid;
  const std::vector<std::uint8_t> valid = valid_elements(image, grid);
  const auto valid_pixels =
      static_cast<std::size_t>(std::count(valid.begin(), valid.end(), std::uint8_t{1}));
  map.valid = context.allocate<std::uint8_t>(grid.rows(), "which pixels have data");
  map.valid.upload(valid);
  switch (parameters.kind) {
    case CueKind::kGradient:
      map.strength = gradient_strength(context, image, grid, map.valid, valid_pixels, parameters);
      break;
  }
  return map;
}

}  // namespace diacut
