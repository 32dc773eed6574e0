// Affinities to the kept pixels: the known answer of lib/judge/doctor at awkward sizes.
#include "affinity/kept_affinity.hpp"

#include <gtest/gtest.h>

#include <random>

#include "doctor/checks.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

/// With a wall and pixels without data where there are to be gaps.
BoundaryProblem drawn_kept_boundary(int width, int height, unsigned seed, bool gaps) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  const Grid grid{width, height};
  std::vector<float> drawn(grid.rows());
  for (float& each : drawn) each = uniform(random);
  BoundaryProblem problem(grid, drawn);
  for (std::size_t i = 0; gaps && i < drawn.size(); ++i) {
    const float lot = uniform(random);
    if (lot > 0.2f) continue;
    problem.hide(i);
    if (lot < 0.05f) problem.strength[i] = 2.0f;
  }
  return problem;
}

class KeptAffinities : public GuardedTest {};

TEST_F(KeptAffinities, MatchTheReferenceAtAwkwardSizes) {
  const int sizes[][2] = {{1, 1},  {1, 2},  {2, 1},   {2, 2},   {1, 17},  {17, 1}, {3, 40},
                          {63, 3}, {65, 5}, {37, 23}, {128, 9}, {10, 10}, {33, 12}};
  unsigned seed = 0;
  for (const auto& [width, height] : sizes) {
    for (const int radius : {2, 3, 5, 10}) {
      AffinityParameters parameters;
      parameters.radius = radius;
      parameters.formula =
          seed % 4 == 0 ? AffinityFormula::kLogistic : AffinityFormula::kExponential;
      SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
      const BoundaryProblem both[] = {drawn_kept_boundary(width, height, ++seed, false),
                                      drawn_kept_boundary(width, height, ++seed, true)};
      expect_right([&](Trial& trial) { check_kept_affinity(trial, both, parameters); });
    }
  }
}

}  // namespace
}  // namespace diacut::testing
