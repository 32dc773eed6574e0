#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "boundary/gradient/image_gradient.hpp"
#include "guarded.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut::testing {

/// Grids of awkward sizes, with and without padding.
inline constexpr Grid kGradientGrids[] = {{1, 1, 1}, {1, 9, 3},   {9, 1, 9},
                                          {2, 2, 3}, {64, 5, 64}, {65, 23, 72}};

/// Uniform values in [least, most], one for each pixel of a grid.
inline std::vector<float> random_plane(const Grid& grid, float least, float most, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(least, most);
  std::vector<float> values(grid.pixels());
  for (float& value : values) value = uniform(random);
  return values;
}

/// For each element of a grid, 1 where it is a pixel with data: four of five pixels.
inline std::vector<std::uint8_t> mask_with_holes(const Grid& grid) {
  std::vector<std::uint8_t> valid(grid.rows(), 0);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      valid[static_cast<std::size_t>(y) * grid.stride + x] = (x + 3 * y) % 5 == 4 ? 0 : 1;
    }
  }
  return valid;
}

/// The planes of a structure tensor between guard bands.
class GuardedTensor {
 public:
  GuardedTensor(Context& context, const std::vector<float>& xx, const std::vector<float>& xy,
                const std::vector<float>& yy)
      : xx_(context, xx),
        xy_(context, xy),
        yy_(context, yy),
        tensor_{std::move(*xx_), std::move(*xy_), std::move(*yy_)} {}

  StructureTensor& operator*() { return tensor_; }

  /// Expects numbers in all planes and untouched guard bands around them.
  void expect_numbers() {
    *xx_ = std::move(tensor_.xx);
    *xy_ = std::move(tensor_.xy);
    *yy_ = std::move(tensor_.yy);
    for (Guarded<float>* plane : {&xx_, &xy_, &yy_}) testing::expect_numbers(plane->values());
  }

 private:
  Guarded<float> xx_;
  Guarded<float> xy_;
  Guarded<float> yy_;
  StructureTensor tensor_;
};

}  // namespace diacut::testing
