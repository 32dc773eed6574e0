// What cuts by eigenvectors take from the affinities.
#include <initializer_list>

#include "doctor/checks.hpp"
#include "region/device_graph.hpp"

namespace diacut {

void check_products_within(Trial& trial, const BlockProblem& problem,
                           std::initializer_list<int> all_columns) {
  std::vector<std::int32_t> region;
  for (const float drawn : trial.uniform(problem.grid.rows())) {
    region.push_back(static_cast<std::int32_t>(3 * drawn));
  }
  const NormalizedMatrix matrix = matrix_of(trial.context(), problem);
  DeviceAffinityGraph graph(trial.context(), matrix);
  for (const int columns : all_columns) {
    const std::vector<float> x = trial.normal(problem.grid.rows() * at_size(columns));
    std::vector<float> out;
    graph.product_within(region, x, columns, out);
    std::vector<double> magnitude;
    const std::vector<double> expected =
        reference_product_within(problem.grid, problem.stencil, problem.matrix, problem.sqrt_degree,
                                 region, x, columns, magnitude);
    // Three roundings a term, one more for each addition.
    trial.expect("product within regions", out, expected, magnitude,
                 4.0 + static_cast<double>(problem.stencil.size()));
  }
}

/// Weights far from 0, as divisions by roots in [1, 4] leave them.
void check_direct_cuts(Trial& trial, int radius) {
  const BlockProblem problem(2 * radius + 3, 2 * radius + 2, radius, 61);
  check_products_within(trial, problem, {1, 2, 4, 8, 16});
}

std::vector<DeviceCheck> region_checks() {
  return {{"what direct cuts take", [](Trial& trial) { check_direct_cuts(trial, 5); }}};
}

}  // namespace diacut
