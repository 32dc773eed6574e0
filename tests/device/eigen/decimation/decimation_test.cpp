#include "eigen/decimation/decimation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "reference_decimation.hpp"
#include "support.hpp"

namespace diacut {
namespace {

constexpr double kRoundoff = std::numeric_limits<float>::epsilon();

/// An interpolation of random weights, of several images, on the host and on the device.
struct DrawnInterpolation {
  KeptNeighbours neighbours;
  Interpolation device;
  std::vector<float> weights;
  std::vector<float> roots;

  DrawnInterpolation(Context& context, int width, int height, int radius, int images, unsigned seed)
      : neighbours(radius),
        device{PlaneGrid(width, height, radius).decimated(), radius, images, {}, {}} {
    const PlaneGrid& cells = device.cells;
    const auto count = static_cast<std::size_t>(images);
    weights.assign(count * neighbours.size() * cells.pitch + kBehindPlanes, 0.0f);
    roots.assign(count * 4 * cells.pitch + kBehindPlanes, 0.0f);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(0.01f, 1.0f);
    for (std::size_t image = 0; image < count; ++image) {
      for (int parity = 0; parity < 4; ++parity) {
        const auto p = static_cast<std::size_t>(parity);
        for (int y = 0; y < cells.height; ++y) {
          for (int x = 0; x < cells.width; ++x) {
            if (2 * x + parity % 2 >= width || 2 * y + parity / 2 >= height) continue;
            roots[(image * 4 + p) * cells.pitch + cells.element(x, y)] = uniform(random);
            for (int k = neighbours.first[p]; k < neighbours.first[p + 1]; ++k) {
              const auto& [dx, dy] = neighbours.cells[static_cast<std::size_t>(k)];
              const bool inside =
                  x + dx >= 0 && x + dx < cells.width && y + dy >= 0 && y + dy < cells.height;
              if (inside) weight(image, k, x, y) = uniform(random);
            }
          }
        }
      }
    }
    device.weights = context.allocate<float>(weights.size(), "weights");
    device.weights.upload(weights);
    device.roots = context.allocate<float>(roots.size(), "roots");
    device.roots.upload(roots);
  }

  float& weight(std::size_t image, int k, int x, int y) {
    return weights[(image * neighbours.size() + static_cast<std::size_t>(k)) * device.cells.pitch +
                   device.cells.element(x, y)];
  }
};

struct DecimationSize {
  int width;
  int height;
  int radius;
};
constexpr DecimationSize kDecimationSizes[] = {{1, 1, 5},   {2, 1, 5},   {1, 9, 2},   {17, 3, 5},
                                               {31, 22, 5}, {40, 33, 3}, {64, 21, 5}, {23, 50, 10}};

class Decimations : public ::testing::Test {
 protected:
  Decimations() { context_.guard_allocations(); }

  Context context_{testing::test_device()};
};

/// Expects the pixels of planes to be within a share of a magnitude of those of the reference.
void expect_pixels(const PlaneGrid& grid, std::span<const float> found,
                   std::span<const double> expected, std::span<const double> magnitude,
                   double roundings) {
  for (std::size_t plane = 0; plane < expected.size(); plane += grid.pitch) {
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) {
        const std::size_t at = plane + grid.element(x, y);
        ASSERT_LE(std::abs(found[at] - expected[at]), roundings * kRoundoff * magnitude[at])
            << "plane " << plane / grid.pitch << " at " << x << "," << y << ": " << found[at]
            << ", expected " << expected[at];
      }
    }
  }
}

/// Random vectors in planes, 0 in the margin.
std::vector<float> drawn_planes(const PlaneGrid& grid, int vectors, unsigned seed) {
  std::vector<float> planes(static_cast<std::size_t>(vectors) * grid.pitch + kBehindPlanes, 0.0f);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); ++v) {
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) {
        planes[v * grid.pitch + grid.element(x, y)] = uniform(random);
      }
    }
  }
  return planes;
}

/// The part of a buffer of two images that belongs to one of them.
template <class T>
std::span<const T> part(const std::vector<T>& values, std::size_t image, std::size_t planes,
                        std::size_t pitch) {
  return std::span(values).subspan(image * planes * pitch, planes * pitch);
}

TEST_F(Decimations, AreThoseOfTheReferenceAtAwkwardSizes) {
  constexpr int kColumns = 2 * Decimation::kGroup;
  unsigned seed = 0;
  for (const auto& [width, height, radius] : kDecimationSizes) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
    DrawnInterpolation drawn(context_, width, height, radius, 2, ++seed);
    Decimation decimation(context_, radius, 2);
    const PlaneGrid& grid = drawn.device.cells;
    const std::size_t diagonals = decimation.stencil().size();
    const std::size_t planes = drawn.neighbours.size();
    const auto most = static_cast<double>(4 * (radius + 1) * (radius + 1));

    const Buffer<float> matrix = decimation.matrix(drawn.device);
    const std::vector<float> values = matrix.download();
    const Interpolation split = decimation.split(matrix, grid);
    const PlaneGrid& cells = split.cells;
    const std::vector<float> weights = split.weights.download();
    const std::vector<float> roots = split.roots.download();

    const std::vector<float> x = drawn_planes(grid, 2 * kColumns, ++seed);
    const std::vector<float> before = drawn_planes(grid, 2 * kColumns, ++seed);
    Buffer<float> on_device = decimation.zeros(grid, kColumns);
    on_device.upload(x);
    Buffer<float> out = decimation.zeros(grid, kColumns);
    out.upload(before);
    // Two steps; the second one, with factors of each image's own, is taken.
    const std::vector<float> factors = {9, 9, 9, 0, 9, 9, 9, 0, 1.5f, -0.5f, 2, 0, 1, 0.25f, -1, 0};
    auto steps = context_.allocate<float>(factors.size(), "steps");
    steps.upload(factors);
    const Buffer<std::int32_t> offsets = decimation.offsets(grid);
    auto degrees = context_.allocate<float>(2 * grid.pitch, "degrees");
    decimation.step({matrix, grid, offsets, steps, kColumns, degrees}, 1, on_device, out, out);
    const std::vector<float> stepped = out.download();
    const std::vector<float> sums = degrees.download();

    const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    auto fine = context_.allocate<float>(2 * kColumns * pixels, "fine vectors");
    decimation.interpolate(drawn.device, kColumns, on_device, {width, height, width, pixels, 0},
                           fine);
    const std::vector<float> interpolated = fine.download();

    for (std::size_t image = 0; image < 2; ++image) {
      const auto own = part(drawn.weights, image, planes, grid.pitch);
      const std::vector<double> product = reference_decimated_matrix(grid, radius, own);
      const auto own_values = part(values, image, diagonals, grid.pitch);
      expect_pixels(grid, own_values, product, product, most + 2);
      const ReferenceInterpolation expected = reference_split(grid, radius, own_values);
      expect_pixels(cells, part(weights, image, planes, cells.pitch), expected.weights,
                    expected.weights, most);
      expect_pixels(cells, part(roots, image, 4, cells.pitch), expected.roots, expected.roots,
                    most);
      const float* factor = factors.data() + 8 + 4 * image;
      // |x| is at most 1, so |L x| is at most 2 and rounds by the sums' roundings.
      const std::vector<double> bound(grid.pitch, 6.0);
      for (std::size_t v = 0; v < kColumns; ++v) {
        const std::size_t plane = image * kColumns + v;
        std::vector<double> degree;
        const std::vector<double> step = reference_step(
            grid, decimation.stencil(), own_values, part(x, plane, 1, grid.pitch),
            part(before, plane, 1, grid.pitch), {factor[0], factor[1], factor[2]}, degree);
        expect_pixels(grid, part(stepped, plane, 1, grid.pitch), step, bound,
                      static_cast<double>(3 * diagonals));
        expect_pixels(grid, part(sums, image, 1, grid.pitch), degree, degree, most);
        std::vector<double> magnitude;
        const std::vector<double> at_pixels =
            reference_interpolated(grid, radius, own, part(drawn.roots, image, 4, grid.pitch),
                                   part(x, plane, 1, grid.pitch), width, height, &magnitude);
        for (std::size_t i = 0; i < pixels; ++i) {
          ASSERT_LE(std::abs(interpolated[plane * pixels + i] - at_pixels[i]),
                    (most + 2) * kRoundoff * magnitude[i]);
        }
      }
    }
  }
}

TEST_F(Decimations, ReachNoFartherThanTheRadius) {
  for (const int radius : {2, 3, 5, 10}) {
    const KeptNeighbours neighbours(radius);
    const Stencil stencil = disc_stencil(radius);
    EXPECT_EQ(neighbours.size(), stencil.size());
    for (std::size_t p = 0; p < 4; ++p) {
      for (int j = neighbours.first[p]; j < neighbours.first[p + 1]; ++j) {
        for (int k = neighbours.first[p]; k < neighbours.first[p + 1]; ++k) {
          const auto& first = neighbours.cells[static_cast<std::size_t>(j)];
          const auto& second = neighbours.cells[static_cast<std::size_t>(k)];
          EXPECT_LT(stencil.index({second.dx - first.dx, second.dy - first.dy}), stencil.size());
        }
      }
    }
  }
}

}  // namespace
}  // namespace diacut
