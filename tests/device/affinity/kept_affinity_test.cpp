#include "affinity/kept_affinity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support.hpp"

namespace diacut {
namespace {

struct DrawnBoundary {
  Grid grid;
  std::vector<float> strength;
  std::vector<std::uint8_t> valid;

  /// Weak strengths, strong lines, a wall and pixels without data.
  DrawnBoundary(int width, int height, unsigned seed, bool gaps)
      : grid{width, height, width}, strength(grid.rows()), valid(grid.rows(), 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
    for (std::size_t i = 0; i < strength.size(); ++i) {
      const float u = uniform(random);
      strength[i] = u > 0.9f ? u : 0.2f * u * u;
      const float lot = uniform(random);
      if (!gaps || lot > 0.2f) continue;
      valid[i] = 0;
      strength[i] = lot < 0.05f ? 2.0f : 0.0f;  // A wall, or nothing.
    }
  }

  BoundaryMap on(Context& context) const {
    BoundaryMap map;
    map.grid = grid;
    map.values = context.allocate<float>(strength.size(), "strength");
    map.valid = context.allocate<std::uint8_t>(valid.size(), "valid");
    map.values.upload(strength);
    map.valid.upload(valid);
    return map;
  }
};

class KeptAffinities : public ::testing::Test {
 protected:
  Context context_{testing::test_device()};
};

/// What an element of the device may be off: the exponent is at most 1 / scale and has a few
/// roundings, exp() is good to 3 units in the last place; sums of at most 81 weights and a square
/// root round further.
void expect_near(const std::vector<float>& found, const std::vector<double>& expected,
                 const AffinityParameters& parameters, std::size_t first) {
  constexpr double kEps = std::numeric_limits<float>::epsilon();
  const double relative = kEps * (100 + 8 / parameters.scale);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_LE(std::abs(found[first + i] - expected[i]), expected[i] * relative)
        << "element " << i << ": " << found[first + i] << ", expected " << expected[i];
  }
}

TEST_F(KeptAffinities, MatchTheReferenceAtAwkwardSizes) {
  const int sizes[][2] = {{1, 1},  {1, 2},  {2, 1},   {2, 2},   {1, 17},  {17, 1}, {3, 40},
                          {63, 3}, {65, 5}, {37, 23}, {128, 9}, {10, 10}, {33, 12}};
  unsigned seed = 0;
  context_.blank_allocations();
  for (const auto& [width, height] : sizes) {
    for (const int radius : {2, 3, 5, 10}) {
      AffinityParameters parameters;
      parameters.radius = radius;
      parameters.formula =
          seed % 2 == 0 ? AffinityFormula::kLogistic : AffinityFormula::kExponential;
      SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
      const DrawnBoundary first(width, height, ++seed, false);
      const DrawnBoundary second(width, height, ++seed, true);
      std::vector<BoundaryMap> maps;
      maps.push_back(first.on(context_));
      maps.push_back(second.on(context_));
      const KeptAffinity found = kept_affinity(context_, maps, parameters);
      const std::vector<float> weights = found.interpolation.weights.download();
      const std::vector<float> roots = found.interpolation.roots.download();
      const std::size_t planes = KeptNeighbours(radius).size();
      const PlaneGrid& cells = found.interpolation.cells;
      for (std::size_t k = 0; k < 2; ++k) {
        const DrawnBoundary& drawn = k == 0 ? first : second;
        ReferenceKeptAffinity expected =
            reference_kept_affinity(drawn.grid, drawn.strength, drawn.valid, parameters);
        for (std::size_t p = 0; p < planes; ++p) {
          const auto from = expected.weights.begin() + static_cast<std::ptrdiff_t>(p * cells.pitch);
          expect_near(weights, {from, from + static_cast<std::ptrdiff_t>(cells.elements())},
                      parameters, (k * planes + p) * cells.pitch);
        }
        for (std::size_t p = 0; p < 4; ++p) {
          const auto from = expected.roots.begin() + static_cast<std::ptrdiff_t>(p * cells.pitch);
          expect_near(roots, {from, from + static_cast<std::ptrdiff_t>(cells.elements())},
                      parameters, (k * 4 + p) * cells.pitch);
        }
        const std::vector<float> mask = found.masks[k].download();
        for (int y = 0; y < height; ++y) {
          for (int x = 0; x < width; ++x) {
            const auto parity = static_cast<std::size_t>(x % 2 + 2 * (y % 2));
            const bool reached =
                expected.roots[parity * cells.pitch + cells.element(x / 2, y / 2)] > 0;
            ASSERT_EQ(mask[static_cast<std::size_t>(y * width + x)], reached ? 1.0f : 0.0f);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace diacut
