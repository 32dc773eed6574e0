// Affinities between all pixels and every other row and column: the known answer of
// lib/judge/doctor at awkward sizes.
#include <gtest/gtest.h>

#include <vector>

#include "affinity/affinity.hpp"
#include "doctor/checks.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

class KeptAffinities : public GuardedTest {
 protected:
  /// With walls and pixels without data where there are to be gaps.
  BoundaryProblem drawn(const Grid& grid, bool gaps) {
    BoundaryProblem problem(grid, trial_.uniform(grid.rows()));
    const std::vector<float> lots = trial_.uniform(grid.rows());
    for (std::size_t i = 0; gaps && i < lots.size(); ++i) {
      if (lots[i] > 0.2F) continue;
      problem.hide(i);
      if (lots[i] < 0.05F) problem.strength[i] = 2.0F;
    }
    return problem;
  }
};

TEST_F(KeptAffinities, MatchTheReferenceAtAwkwardSizes) {
  const int sizes[][2] = {{1, 1},  {1, 2},  {2, 1},   {2, 2},   {1, 17},  {17, 1}, {3, 40},
                          {63, 3}, {65, 5}, {37, 23}, {128, 9}, {10, 10}, {33, 12}};
  for (const auto& [width, height] : sizes) {
    for (const int radius : {2, 3, 5, 10}) {
      AffinityParameters parameters;
      parameters.radius = radius;
      parameters.formula =
          width % 2 == 0 ? AffinityFormula::kLogistic : AffinityFormula::kExponential;
      for (const bool gaps : {false, true}) {
        SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
        const BoundaryProblem problem = drawn({width, height}, gaps);
        expect_right([&](Trial& trial) { check_kept_affinity(trial, problem, parameters); });
      }
    }
  }
}

}  // namespace
}  // namespace diacut::testing
