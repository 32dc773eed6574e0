#include "contour/suppression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "contour/boundary_orientation.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

constexpr int kTriangleRadius = 4;
constexpr int kReach = kTriangleRadius + 2;  ///< A triangle filter and two central differences.
constexpr int kTaps = 2 * kReach + 1;
constexpr float kTolerance = 1.01F;
constexpr int kFade = 5;

using Filter = std::array<float, kTaps>;

/// The triangle filter, differentiated `order` times by (f(x + 1) - f(x - 1)) / 2. Differences in x
/// and in y have the same width, so that the Hessian of a straight ridge has rank one.
Filter triangle(int order) {
  Filter filter{};
  const float mass = (kTriangleRadius + 1) * (kTriangleRadius + 1);
  for (int d = -kTriangleRadius; d <= kTriangleRadius; ++d) {
    filter[static_cast<std::size_t>(d + kReach)] =
        static_cast<float>(kTriangleRadius + 1 - std::abs(d)) / mass;
  }
  for (int pass = 0; pass < order; ++pass) {
    const Filter before = filter;
    for (std::size_t i = 0; i < kTaps; ++i) {
      const float right = i + 1 < kTaps ? before[i + 1] : 0.0F;
      const float left = i > 0 ? before[i - 1] : 0.0F;
      filter[i] = (right - left) / 2;
    }
  }
  return filter;
}

/// The position in [0, size) that appears at position `at` when the range is mirrored at its ends,
/// where the edge position appears twice.
int mirrored(int at, int size) {
  const int period = 2 * size;
  at = ((at % period) + period) % period;
  return at < size ? at : period - 1 - at;
}

/// The correlation of the rows with a filter: the sum over d of filter[d] * map[x + d].
std::vector<float> along_x(std::span<const float> map, int width, int height,
                           const Filter& filter) {
  const auto w = static_cast<std::size_t>(width);
  std::vector<float> result(map.size());
  std::vector<float> row(w + kTaps - 1);
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
    const float* from = map.data() + y * w;
    std::copy(from, from + w, row.begin() + kReach);
    for (int d = 1; d <= kReach; ++d) {
      row[static_cast<std::size_t>(kReach - d)] = from[mirrored(-d, width)];
      row[w + static_cast<std::size_t>(kReach + d - 1)] = from[mirrored(width - 1 + d, width)];
    }
    float* to = result.data() + y * w;
    for (std::size_t tap = 0; tap < kTaps; ++tap) {
      const float weight = filter[tap];
      const float* shifted = row.data() + tap;
      for (std::size_t x = 0; x < w; ++x) to[x] += weight * shifted[x];
    }
  }
  return result;
}

/// The correlation of the columns with a filter.
std::vector<float> along_y(std::span<const float> map, int width, int height,
                           const Filter& filter) {
  const auto w = static_cast<std::size_t>(width);
  std::vector<float> result(map.size());
  for (int y = 0; y < height; ++y) {
    float* to = result.data() + static_cast<std::size_t>(y) * w;
    for (int d = -kReach; d <= kReach; ++d) {
      const float weight = filter[static_cast<std::size_t>(d + kReach)];
      const float* from = map.data() + static_cast<std::size_t>(mirrored(y + d, height)) * w;
      for (std::size_t x = 0; x < w; ++x) to[x] += weight * from[x];
    }
  }
  return result;
}

void check_size(std::size_t found, int width, int height, const char* what) {
  if (width < 1 || height < 1 ||
      found != static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {
    throw InputError(fmt::format("the {} has {} values; {} x {} pixels were expected", what, found,
                                 width, height));
  }
}

float bilinear(std::span<const float> map, int width, int height, float x, float y) {
  x = std::clamp(x, 0.0F, static_cast<float>(width - 1));
  y = std::clamp(y, 0.0F, static_cast<float>(height - 1));
  const int x0 = static_cast<int>(x);
  const int y0 = static_cast<int>(y);
  const float right = x - static_cast<float>(x0);
  const float below = y - static_cast<float>(y0);
  const int x1 = std::min(x0 + 1, width - 1);
  const int y1 = std::min(y0 + 1, height - 1);
  const float* upper = map.data() + static_cast<std::size_t>(y0) * static_cast<std::size_t>(width);
  const float* lower = map.data() + static_cast<std::size_t>(y1) * static_cast<std::size_t>(width);
  return (1 - below) * ((1 - right) * upper[x0] + right * upper[x1]) +
         below * ((1 - right) * lower[x0] + right * lower[x1]);
}

/// The factor of a pixel at position `at` in a row or column of `size` pixels: less than 1 near its
/// ends.
float fade(int at, int size) {
  const int width = std::min(kFade, size / 2);
  const int from_border = std::min(at, size - 1 - at);
  return from_border >= width ? 1.0F : static_cast<float>(from_border) / static_cast<float>(width);
}

}  // namespace

std::vector<float> boundary_orientation(std::span<const float> boundary, int width, int height) {
  check_size(boundary.size(), width, height, "boundary map");
  const std::array<Filter, 3> filters = {triangle(0), triangle(1), triangle(2)};
  const std::vector<float> xx =
      along_y(along_x(boundary, width, height, filters[2]), width, height, filters[0]);
  const std::vector<float> xy =
      along_y(along_x(boundary, width, height, filters[1]), width, height, filters[1]);
  const std::vector<float> yy =
      along_y(along_x(boundary, width, height, filters[0]), width, height, filters[2]);
  constexpr float kPi = std::numbers::pi_v<float>;
  std::vector<float> orientation(boundary.size());
  for (std::size_t i = 0; i < boundary.size(); ++i) {
    // The eigenvector of the larger eigenvalue, or, where the sum of the eigenvalues is negative,
    // of the smaller one: in both cases of the eigenvalue of larger magnitude.
    const float sign = xx[i] + yy[i] < 0 ? -1.0F : 1.0F;
    float angle = std::atan2(sign * 2 * xy[i], sign * (xx[i] - yy[i])) / 2;
    if (angle < 0) angle += kPi;
    orientation[i] = angle < kPi ? angle : 0.0F;
  }
  return orientation;
}

Buffer<float> boundary_orientation(Context& context, const Grid& grid,
                                   const Buffer<float>& boundary) {
  std::vector<float> taps;
  for (int order = 0; order < 3; ++order) {
    const Filter filter = triangle(order);
    taps.insert(taps.end(), filter.begin(), filter.end());
  }
  BoundaryOrientation kernels(context, grid, taps);
  auto orientation = context.allocate<float>(grid.rows(), "directions of boundaries");
  kernels.launch(boundary, orientation);
  return orientation;
}

void request_orientation_kernels(Context& context) {
  BoundaryOrientation::request(context, 3 * kTaps);
}

void budget_orientation(MemoryBudget& budget, const Grid& grid) {
  budget.add("boundaries filtered along x", BoundaryOrientation::memory(grid, 3 * kTaps));
  budget.add("directions of boundaries", grid.rows() * sizeof(float));
}

Curvature reference_curvature(std::span<const float> boundary, int width, int height) {
  check_size(boundary.size(), width, height, "boundary map");
  const auto filtered = [&](int x_order, int y_order) {
    const Filter fx = triangle(x_order);
    const Filter fy = triangle(y_order);
    std::vector<double> result;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        double sum = 0;
        for (int dy = -kReach; dy <= kReach; ++dy) {
          for (int dx = -kReach; dx <= kReach; ++dx) {
            const auto row = static_cast<std::size_t>(mirrored(y + dy, height));
            const auto column = static_cast<std::size_t>(mirrored(x + dx, width));
            sum += static_cast<double>(fx[static_cast<std::size_t>(dx + kReach)]) *
                   fy[static_cast<std::size_t>(dy + kReach)] *
                   boundary[row * static_cast<std::size_t>(width) + column];
          }
        }
        result.push_back(sum);
      }
    }
    return result;
  };
  return {filtered(2, 0), filtered(1, 1), filtered(0, 2)};
}

std::vector<float> suppress_non_maxima(std::span<const float> boundary,
                                       std::span<const float> orientation, int width, int height) {
  check_size(boundary.size(), width, height, "boundary map");
  check_size(orientation.size(), width, height, "map of orientations");
  std::vector<float> thin(boundary.size());
  for (int y = 0; y < height; ++y) {
    const float row_share = fade(y, height);
    for (int x = 0; x < width; ++x) {
      const std::size_t i = static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                            static_cast<std::size_t>(x);
      if (!(boundary[i] > 0)) continue;
      const float dx = std::cos(orientation[i]);
      const float dy = std::sin(orientation[i]);
      const auto fx = static_cast<float>(x);
      const auto fy = static_cast<float>(y);
      const float least = kTolerance * boundary[i];
      if (least < bilinear(boundary, width, height, fx + dx, fy + dy)) continue;
      if (least < bilinear(boundary, width, height, fx - dx, fy - dy)) continue;
      thin[i] = boundary[i] * row_share * fade(x, width);
    }
  }
  return thin;
}

}  // namespace diacut
