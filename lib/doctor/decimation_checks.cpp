// The grids that contours are solved on: their matrix, products with it, and interpolation.
#include <array>
#include <cmath>
#include <span>

#include "doctor/checks.hpp"
#include "eigen/decimation/decimation.hpp"
#include "eigen/decimation/reference_decimation.hpp"

namespace diacut {

namespace {

/// Holds planes found against those expected, pixel by pixel: they may differ by a share of the
/// magnitude.
void expect_planes(Trial& trial, const char* what, const PlaneGrid& grid,
                   std::span<const float> found, std::span<const double> expected,
                   std::span<const double> magnitude, double roundings) {
  for (std::size_t plane = 0; plane < expected.size(); plane += grid.pitch) {
    for (int y = 0; y < grid.height; ++y) {
      const std::size_t row = plane + grid.element(0, y);
      const auto width = static_cast<std::size_t>(grid.width);
      trial.expect(what, found.subspan(row, width), expected.subspan(row, width),
                   magnitude.subspan(row, width), roundings);
    }
  }
}

/// Random numbers at the pixels of planes, 0 in the margins and behind them.
std::vector<float> drawn_in_planes(Trial& trial, const PlaneGrid& grid, std::size_t planes) {
  std::vector<float> values(planes * grid.pitch + kBehindPlanes, 0.0F);
  for (std::size_t plane = 0; plane < planes; ++plane) {
    for (int y = 0; y < grid.height; ++y) {
      const std::vector<float> row = trial.uniform(static_cast<std::size_t>(grid.width));
      std::copy(
          row.begin(), row.end(),
          values.begin() + static_cast<std::ptrdiff_t>(plane * grid.pitch + grid.element(0, y)));
    }
  }
  return values;
}

}  // namespace

void check_decimation(Trial& trial, int radius) {
  constexpr int kWidth = 43;
  constexpr int kHeight = 29;
  const PlaneGrid grid = PlaneGrid(2 * kWidth, 2 * kHeight, radius).decimated();
  Decimation decimation(trial.context(), radius, 1);
  const Stencil& stencil = decimation.stencil();
  const KeptNeighbours neighbours(radius);

  // Affinities of a matrix of positive numbers to the kept pixels, and their matrix.
  std::vector<float> values = drawn_in_planes(trial, grid, stencil.size());
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    const auto& [dx, dy] = stencil.entries[d];
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) {
        const bool inside =
            x + dx >= 0 && x + dx < grid.width && y + dy >= 0 && y + dy < grid.height;
        if (!inside) values[d * grid.pitch + grid.element(x, y)] = 0;
      }
    }
  }
  const Buffer<float> matrix = trial.uploaded(values);
  const Interpolation split = decimation.split(matrix, grid);
  const PlaneGrid& cells = split.cells;
  const std::vector<float> weights = split.weights.download();
  const std::vector<float> roots = split.roots.download();
  const ReferenceInterpolation expected = reference_split(grid, radius, values);
  const double most = static_cast<double>(neighbours.size());
  expect_planes(trial, "affinity to a kept pixel", cells, weights, expected.weights,
                expected.weights, most);
  expect_planes(trial, "sum of affinities", cells, roots, expected.roots, expected.roots, most);
  const std::vector<double> product = reference_decimated_matrix(cells, radius, weights);
  expect_planes(trial, "matrix of the kept pixels", cells, decimation.matrix(split).download(),
                product, product, most + 2);

  // A step with the first matrix, and vectors of the kept pixels at all pixels.
  constexpr int kColumns = Decimation::kGroup;
  const std::vector<float> x = drawn_in_planes(trial, grid, kColumns);
  const std::vector<float> before = drawn_in_planes(trial, grid, kColumns);
  const Buffer<float> on_device = trial.uploaded(x);
  Buffer<float> out = trial.uploaded(before);
  const std::array<double, 3> factors = {1.5, -0.25, 2};
  const Buffer<float> steps = trial.uploaded(std::vector<float>{1.5F, -0.25F, 2, 0});
  const Buffer<std::int32_t> offsets = decimation.offsets(grid);
  Buffer<float> degrees = trial.empty(grid.pitch);
  decimation.step({matrix, grid, offsets, steps, kColumns, degrees}, 0, on_device, out, out);
  const std::vector<float> stepped = out.download();
  const std::vector<float> coarse = drawn_in_planes(trial, cells, kColumns);
  Buffer<float> fine = trial.empty(kColumns * grid.pixels());
  decimation.interpolate(split, kColumns, trial.uploaded(coarse),
                         {grid.width, grid.height, grid.width, grid.pixels(), 0}, fine);
  const std::vector<float> interpolated = fine.download();
  // Numbers of at most 1, and of at most 2 after L.
  const std::vector<double> bound(grid.pitch, 6.0);
  for (std::size_t k = 0; k < kColumns; ++k) {
    std::vector<double> sums;
    const std::vector<double> vector =
        reference_step(grid, stencil, values, std::span(x).subspan(k * grid.pitch, grid.pitch),
                       std::span(before).subspan(k * grid.pitch, grid.pitch), factors, sums);
    expect_planes(trial, "step", grid, std::span(stepped).subspan(k * grid.pitch, grid.pitch),
                  vector, bound, 3 * most);
    if (k == 0) expect_planes(trial, "degree", grid, degrees.download(), sums, sums, most);
    std::vector<double> magnitude;
    const std::vector<double> at_pixels = reference_interpolated(
        cells, radius, weights, roots, std::span(coarse).subspan(k * cells.pitch, cells.pitch),
        grid.width, grid.height, &magnitude);
    trial.expect("interpolated vector",
                 std::span(interpolated).subspan(k * grid.pixels(), grid.pixels()), at_pixels,
                 magnitude, most + 2);
  }
}

std::vector<DeviceCheck> decimation_checks() {
  return {{"affinities to every other pixel",
           [](Trial& trial) { check_kept_affinity(trial, AffinityParameters()); }, true},
          {"decimated grids", [](Trial& trial) { check_decimation(trial, 5); }, true}};
}

}  // namespace diacut
