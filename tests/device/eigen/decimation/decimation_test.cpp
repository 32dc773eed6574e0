#include "eigen/decimation/decimation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

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
  Decimations() { context_.blank_allocations(); }

  Context context_{testing::test_device()};
};

TEST_F(Decimations, ProductIsTheSumOverAllPixels) {
  unsigned seed = 0;
  for (const auto& [width, height, radius] : kDecimationSizes) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
    DrawnInterpolation drawn(context_, width, height, radius, 2, ++seed);
    const PlaneGrid& cells = drawn.device.cells;
    Decimation decimation(context_, radius, 2);
    const std::vector<float> found = decimation.matrix(drawn.device).download();
    const Stencil& stencil = decimation.stencil();
    std::vector<double> expected(found.size(), 0.0);
    for (std::size_t image = 0; image < 2; ++image) {
      for (std::size_t p = 0; p < 4; ++p) {
        for (int y = 0; y < cells.height; ++y) {
          for (int x = 0; x < cells.width; ++x) {
            for (int j = drawn.neighbours.first[p]; j < drawn.neighbours.first[p + 1]; ++j) {
              const auto& to_j = drawn.neighbours.cells[static_cast<std::size_t>(j)];
              const double first = drawn.weight(image, j, x, y);
              if (first == 0) continue;
              for (int k = drawn.neighbours.first[p]; k < drawn.neighbours.first[p + 1]; ++k) {
                const auto& to_k = drawn.neighbours.cells[static_cast<std::size_t>(k)];
                const std::size_t d = stencil.index({to_k.dx - to_j.dx, to_k.dy - to_j.dy});
                const double both = first * drawn.weight(image, k, x, y);
                if (both == 0) continue;
                ASSERT_LT(d, stencil.size()) << "two neighbours are farther apart than the radius";
                expected[(image * stencil.size() + d) * cells.pitch +
                         cells.element(x + to_j.dx, y + to_j.dy)] += both;
              }
            }
          }
        }
      }
    }
    // Sums of at most 4 (radius + 1)^2 products of positive numbers.
    const double relative = kRoundoff * (4 * (radius + 1) * (radius + 1) + 2);
    for (std::size_t image = 0; image < 2; ++image) {
      for (std::size_t d = 0; d < stencil.size(); ++d) {
        for (int y = 0; y < cells.height; ++y) {
          for (int x = 0; x < cells.width; ++x) {
            const std::size_t at = (image * stencil.size() + d) * cells.pitch + cells.element(x, y);
            ASSERT_LE(std::abs(found[at] - expected[at]), relative * expected[at])
                << "diagonal " << d << " at " << x << "," << y;
          }
        }
      }
    }
  }
}

TEST_F(Decimations, SplitTakesTheColumnsOfKeptPixels) {
  unsigned seed = 100;
  for (const auto& [width, height, radius] : kDecimationSizes) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
    DrawnInterpolation drawn(context_, width, height, radius, 2, ++seed);
    Decimation decimation(context_, radius, 2);
    const PlaneGrid& grid = drawn.device.cells;
    const Buffer<float> matrix = decimation.matrix(drawn.device);
    const std::vector<float> values = matrix.download();
    const Interpolation split = decimation.split(matrix, grid);
    const std::vector<float> weights = split.weights.download();
    const std::vector<float> roots = split.roots.download();
    const PlaneGrid& cells = split.cells;
    const Stencil& stencil = decimation.stencil();
    for (std::size_t image = 0; image < 2; ++image) {
      for (int parity = 0; parity < 4; ++parity) {
        const auto p = static_cast<std::size_t>(parity);
        for (int y = -cells.rows; y < cells.height + cells.rows; ++y) {
          for (int x = -cells.columns; x < cells.stride - cells.columns; ++x) {
            const int column = 2 * x + parity % 2;
            const int row = 2 * y + parity / 2;
            const bool inside = column >= 0 && column < grid.width && row >= 0 && row < grid.height;
            double sum = 0;
            std::vector<double> own;
            for (int k = drawn.neighbours.first[p]; k < drawn.neighbours.first[p + 1]; ++k) {
              const std::size_t d =
                  stencil.index(drawn.neighbours.in_pixels(parity, static_cast<std::size_t>(k)));
              own.push_back(inside ? values[(image * stencil.size() + d) * grid.pitch +
                                            grid.element(column, row)]
                                   : 0);
              sum += own.back();
            }
            const double root = sum > 0 ? 1 / std::sqrt(sum) : 0;
            const double relative = kRoundoff * static_cast<double>(own.size() + 6);
            const std::size_t cell = cells.element(x, y);
            ASSERT_LE(std::abs(roots[(image * 4 + p) * cells.pitch + cell] - root),
                      relative * root);
            for (std::size_t k = 0; k < own.size(); ++k) {
              const std::size_t plane = image * drawn.neighbours.size() + k +
                                        static_cast<std::size_t>(drawn.neighbours.first[p]);
              ASSERT_LE(std::abs(weights[plane * cells.pitch + cell] - own[k] * root),
                        relative * own[k] * root);
            }
          }
        }
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

TEST_F(Decimations, StepMultipliesByTheRandomWalk) {
  unsigned seed = 200;
  constexpr int kColumns = 2 * Decimation::kGroup;
  for (const auto& [width, height, radius] : kDecimationSizes) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
    DrawnInterpolation drawn(context_, width, height, radius, 2, ++seed);
    Decimation decimation(context_, radius, 2);
    const PlaneGrid& grid = drawn.device.cells;
    const Buffer<float> matrix = decimation.matrix(drawn.device);
    const std::vector<float> values = matrix.download();
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
    const std::vector<float> found = out.download();
    const std::vector<float> sums = degrees.download();
    const Stencil& stencil = decimation.stencil();
    for (std::size_t image = 0; image < 2; ++image) {
      const float* factor = factors.data() + 8 + 4 * image;
      for (int py = 0; py < grid.height; ++py) {
        for (int px = 0; px < grid.width; ++px) {
          const std::size_t element = grid.element(px, py);
          double degree = 0;
          for (std::size_t d = 0; d < stencil.size(); ++d) {
            degree += values[(image * stencil.size() + d) * grid.pitch + element];
          }
          const double terms = static_cast<double>(stencil.size());
          ASSERT_LE(std::abs(sums[image * grid.pitch + element] - degree),
                    terms * kRoundoff * degree);
          for (std::size_t v = 0; v < kColumns; ++v) {
            const std::size_t plane = (image * kColumns + v) * grid.pitch;
            double product = 0;
            for (std::size_t d = 0; d < stencil.size(); ++d) {
              const auto& [dx, dy] = stencil.entries[d];
              if (px + dx < 0 || px + dx >= grid.width || py + dy < 0 || py + dy >= grid.height) {
                continue;
              }
              product +=
                  static_cast<double>(values[(image * stencil.size() + d) * grid.pitch + element]) *
                  x[plane + grid.element(px + dx, py + dy)];
            }
            const double own = x[plane + element];
            const double old = before[plane + element];
            const double laplacian = degree > 0 ? own - product / degree : 0;
            const double expected = factor[0] * laplacian + factor[1] * own + factor[2] * old;
            // |x| is at most 1, so |L x| is at most 2 and rounds by the sums' roundings.
            ASSERT_LE(std::abs(found[plane + element] - expected),
                      kRoundoff * (3 * terms * std::abs(factor[0]) + 12));
          }
        }
      }
    }
  }
}

TEST_F(Decimations, InterpolationWeighsTheKeptPixelsAround) {
  unsigned seed = 300;
  constexpr int kColumns = 2 * Decimation::kGroup;
  for (const auto& [width, height, radius] : kDecimationSizes) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
    DrawnInterpolation drawn(context_, width, height, radius, 2, ++seed);
    Decimation decimation(context_, radius, 2);
    const PlaneGrid& cells = drawn.device.cells;
    const std::vector<float> y = drawn_planes(cells, 2 * kColumns, ++seed);
    Buffer<float> coarse = decimation.zeros(cells, kColumns);
    coarse.upload(y);
    const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    auto fine = context_.allocate<float>(2 * kColumns * pixels, "fine vectors");
    decimation.interpolate(drawn.device, kColumns, coarse, {width, height, width, pixels, 0}, fine);
    const std::vector<float> found = fine.download();
    for (std::size_t image = 0; image < 2; ++image) {
      for (std::size_t v = 0; v < kColumns; ++v) {
        for (int row = 0; row < height; ++row) {
          for (int column = 0; column < width; ++column) {
            const auto p = static_cast<std::size_t>(column % 2 + 2 * (row % 2));
            double sum = 0;
            double magnitude = 0;
            for (int k = drawn.neighbours.first[p]; k < drawn.neighbours.first[p + 1]; ++k) {
              const auto& [dx, dy] = drawn.neighbours.cells[static_cast<std::size_t>(k)];
              const int x = column / 2 + dx;
              const int yy = row / 2 + dy;
              if (x < 0 || x >= cells.width || yy < 0 || yy >= cells.height) continue;
              const double term = static_cast<double>(drawn.weight(image, k, column / 2, row / 2)) *
                                  y[(image * kColumns + v) * cells.pitch + cells.element(x, yy)];
              sum += term;
              magnitude += std::abs(term);
            }
            const double root =
                drawn.roots[(image * 4 + p) * cells.pitch + cells.element(column / 2, row / 2)];
            const std::size_t at =
                (image * kColumns + v) * pixels + static_cast<std::size_t>(row * width + column);
            ASSERT_LE(
                std::abs(found[at] - root * sum),
                kRoundoff * static_cast<double>(drawn.neighbours.size() + 2) * root * magnitude);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace diacut
