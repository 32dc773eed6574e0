
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "region/device_graph.hpp"
#include "support.hpp"

namespace diacut {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A random matrix on a grid, NaN in the padding between image rows, which nothing may read.
struct Problem {
  Grid grid;
  Stencil stencil;
  HostDiaMatrix matrix;
  std::vector<float> root;
  std::vector<std::int32_t> region;

  Problem(Grid of, int radius, int regions, unsigned seed)
      : grid(of), stencil(disc_stencil(radius)), root(of.rows(), kNan), region(of.pixels()) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> weight(0.001f, 1.0f);
    std::uniform_int_distribution<std::int32_t> label(0, regions);
    matrix.shape = dia_shape(grid, stencil);
    matrix.values.assign(matrix.shape.stored(), kNan);
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) {
        const std::size_t element = static_cast<std::size_t>(y) * grid.stride + x;
        root[element] = 1.0f + 8.0f * weight(random);
        region[static_cast<std::size_t>(y) * grid.width + x] = label(random);
        for (std::size_t d = 0; d < stencil.size(); ++d) {
          const int nx = x + stencil.entries[d].dx;
          const int ny = y + stencil.entries[d].dy;
          const bool inside = nx >= 0 && nx < grid.width && ny >= 0 && ny < grid.height;
          matrix.values[d * matrix.shape.pitch + element] = inside ? weight(random) : 0.0f;
        }
      }
    }
  }

  NormalizedMatrix on_device(Context& context) const {
    Buffer<float> sqrt_degree = context.allocate<float>(grid.rows(), "root");
    sqrt_degree.upload(root);
    return {Batch(grid), stencil, upload(context, matrix).values, std::move(sqrt_degree)};
  }

  std::vector<float> vectors(int columns, unsigned seed) const {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> x(grid.pixels() * static_cast<std::size_t>(columns));
    for (float& value : x) value = normal(random);
    return x;
  }
};

class RegionProductTest : public ::testing::Test {
 protected:
  Context context_{diacut::testing::test_device()};
};

void expect_product(const std::vector<float>& out, const Problem& problem,
                    const std::vector<float>& x, int columns) {
  std::vector<double> magnitude;
  const std::vector<double> expected =
      reference_product_within(problem.grid, problem.stencil, problem.matrix, problem.root,
                               problem.region, x, columns, &magnitude);
  ASSERT_EQ(out.size(), expected.size());
  // Three roundings a term, one more for each addition.
  const double eps =
      std::numeric_limits<float>::epsilon() * (4.0 + static_cast<double>(problem.stencil.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_TRUE(std::abs(out[i] - expected[i]) <= eps * magnitude[i])
        << "value " << i << ": " << out[i] << ", expected " << expected[i];
  }
}

TEST_F(RegionProductTest, AgreesWithPlainLoopsAtAwkwardSizes) {
  const Grid grids[] = {{1, 1, 1},   {1, 7, 1},   {7, 1, 7},   {2, 2, 2},   {3, 5, 8},   {8, 8, 8},
                        {63, 1, 64}, {13, 5, 13}, {64, 2, 72}, {65, 3, 65}, {31, 37, 41}};
  unsigned seed = 1;
  for (const Grid& grid : grids) {
    for (const int radius : {1, 3, 5}) {
      SCOPED_TRACE(::testing::Message()
                   << grid.width << "x" << grid.height << " radius " << radius);
      const Problem problem(grid, radius, 2, ++seed);
      const NormalizedMatrix matrix = problem.on_device(context_);
      DeviceAffinityGraph graph(context_, matrix);
      const std::vector<float> x = problem.vectors(16, ++seed);
      std::vector<float> out;
      graph.product_within(problem.region, x, 16, out);
      expect_product(out, problem, x, 16);
    }
  }
}

TEST_F(RegionProductTest, TakesAnyNumberOfColumns) {
  const Problem problem({11, 6, 12}, 2, 3, 5);
  const NormalizedMatrix matrix = problem.on_device(context_);
  DeviceAffinityGraph graph(context_, matrix);
  for (int columns = 1; columns <= graph.max_columns(); ++columns) {
    SCOPED_TRACE(columns);
    const std::vector<float> x = problem.vectors(columns, 70u + columns);
    std::vector<float> out;
    graph.product_within(problem.region, x, columns, out);
    expect_product(out, problem, x, columns);
  }
}

TEST_F(RegionProductTest, ReadsNoOtherRegionsVectors) {
  Problem problem({17, 9, 17}, 3, 2, 6);
  const NormalizedMatrix matrix = problem.on_device(context_);
  DeviceAffinityGraph graph(context_, matrix);
  std::vector<float> x = problem.vectors(4, 60);
  for (std::size_t i = 0; i < problem.region.size(); ++i) {
    if (problem.region[i] == 1) continue;
    for (std::size_t c = 0; c < 4; ++c) x[i * 4 + c] = kNan;
  }
  std::vector<float> out;
  graph.product_within(problem.region, x, 4, out);
  int checked = 0;
  for (std::size_t i = 0; i < problem.region.size(); ++i) {
    for (std::size_t c = 0; c < 4; ++c) {
      if (problem.region[i] == 1) {
        ASSERT_TRUE(std::isfinite(out[i * 4 + c])) << "pixel " << i;
        ++checked;
      } else if (problem.region[i] == 0) {
        ASSERT_EQ(out[i * 4 + c], 0.0f) << "pixel " << i;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 0);
}

TEST_F(RegionProductTest, WritesNothingBeyondItsPixels) {
  constexpr std::size_t kGuard = 128;
  const Problem problem({13, 7, 13}, 2, 1, 7);
  const std::size_t pixels = problem.grid.pixels();
  const NormalizedMatrix matrix = problem.on_device(context_);
  Buffer<std::int32_t> region = context_.allocate<std::int32_t>(pixels, "region");
  region.upload(problem.region);
  for (const int columns : {1, 2, 4, 8, 16}) {
    SCOPED_TRACE(columns);
    const std::size_t values = pixels * static_cast<std::size_t>(columns);
    std::vector<float> host = problem.vectors(columns, 9);
    host.resize(values + kGuard, kNan);
    Buffer<float> x = context_.allocate<float>(values + kGuard, "x");
    x.upload(host);
    Buffer<float> out = context_.allocate<float>(values + kGuard, "out");
    out.fill(kNan);
    RegionProduct product(context_, problem.stencil);
    product.launch(matrix, region, x, columns, out);
    std::vector<float> result = out.download();
    for (std::size_t i = values; i < result.size(); ++i) ASSERT_TRUE(std::isnan(result[i])) << i;
    host.resize(values);
    result.resize(values);
    expect_product(result, problem, host, columns);
  }

  Buffer<float> right = context_.allocate<float>(pixels + kGuard, "right");
  Buffer<float> down = context_.allocate<float>(pixels + kGuard, "down");
  right.fill(kNan);
  down.fill(kNan);
  launch_region_links(context_, matrix, right, down);
  for (const std::vector<float>& links : {right.download(), down.download()}) {
    for (std::size_t i = 0; i < pixels; ++i) ASSERT_TRUE(std::isfinite(links[i])) << i;
    for (std::size_t i = pixels; i < links.size(); ++i) ASSERT_TRUE(std::isnan(links[i])) << i;
  }
}

TEST_F(RegionProductTest, LinksAgreeWithPlainLoops) {
  const Grid grids[] = {{1, 1, 1}, {1, 9, 1}, {9, 1, 9}, {2, 2, 4}, {67, 5, 72}, {64, 4, 64}};
  unsigned seed = 20;
  for (const Grid& grid : grids) {
    for (const int radius : {1, 5}) {
      SCOPED_TRACE(::testing::Message()
                   << grid.width << "x" << grid.height << " radius " << radius);
      const Problem problem(grid, radius, 1, ++seed);
      const NormalizedMatrix matrix = problem.on_device(context_);
      DeviceAffinityGraph graph(context_, matrix);
      const std::vector<double> right =
          reference_links(grid, problem.stencil, problem.matrix, problem.root, {1, 0});
      const std::vector<double> down =
          reference_links(grid, problem.stencil, problem.matrix, problem.root, {0, 1});
      ASSERT_EQ(graph.right().size(), right.size());
      ASSERT_EQ(graph.down().size(), down.size());
      constexpr double kTwoRoundings = 2.0 * std::numeric_limits<float>::epsilon();
      for (std::size_t i = 0; i < right.size(); ++i) {
        ASSERT_TRUE(std::abs(graph.right()[i] - right[i]) <= kTwoRoundings * right[i]) << i;
        ASSERT_TRUE(std::abs(graph.down()[i] - down[i]) <= kTwoRoundings * down[i]) << i;
      }
    }
  }
}

}  // namespace
}  // namespace diacut
