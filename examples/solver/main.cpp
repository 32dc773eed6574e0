// The solver alone: a grid whose left and right half are tied weakly. Ends with 0 where the product
// of each row is its degree and the second eigenvector tells the halves apart.
#include <cmath>
#include <cstdio>
#include <diacut/solver.hpp>

int main() {
  diacut::GridWeights weights{.width = 64, .height = 48, .radius = 5, .values = {}};
  for (const auto [dx, dy] : diacut::disc_neighbours(weights.radius)) {
    for (int y = 0; y < weights.height; ++y) {
      for (int x = 0; x < weights.width; ++x) {
        const bool inside =
            x + dx >= 0 && x + dx < weights.width && y + dy >= 0 && y + dy < weights.height;
        const bool across = (x < 32) != (x + dx < 32);
        weights.values.push_back(!inside ? 0.0F : across ? 0.01F : 1.0F);
      }
    }
  }
  diacut::GridSolver solver;
  const auto degrees = solver.load(weights).multiply(std::vector<float>(64 * 48, 1.0F));
  const auto found = solver.eigenvectors({.vectors = 4});
  std::printf("%s: eigenvalues %.5f %.5f %.5f\n", found.report.solver.c_str(), found.values[1],
              found.values[2], found.values[3]);
  bool good = found.report.converged && found.vectors.size() == 4;
  for (std::size_t i = 0; i < degrees.size() && good; ++i) {
    good = std::abs(std::sqrt(degrees[i]) - found.sqrt_degree[i]) < 1e-4F &&
           (found.vectors[1][i] > 0) == ((i % 64 < 32) == (found.vectors[1][0] > 0));
  }
  return good ? 0 : 1;
}
