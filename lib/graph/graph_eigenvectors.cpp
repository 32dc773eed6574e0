#include "graph/graph_eigenvectors.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/parallel.hpp"
#include "core/split_mix.hpp"
#include "diacut/errors.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/lobpcg.hpp"
#include "eigen/resolution.hpp"
#include "graph/graph_cycle.hpp"
#include "opencl/device_memory.hpp"

namespace diacut {

namespace {

/// Iterations from random vectors, on the last level that has enough nodes for all vectors.
constexpr int kRandomIterations = 60;
/// The eigenvalues of L are about so many times as large on the next level.
constexpr double kGrowth = 2;

/// I - A, the eigenvectors to the eigenvalue 0 moved to -1.
Eigen::MatrixXd shifted_laplacian(const GraphLevel& level, const Eigen::MatrixXd& null_space) {
  const auto n = static_cast<Eigen::Index>(level.nodes());
  Eigen::MatrixXd result = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::uint32_t at = level.weights.starts[row]; at < level.weights.starts[row + 1]; ++at) {
      const std::uint32_t column = level.weights.columns[at];
      result(i, column) -= static_cast<double>(level.weights.values[at]) /
                           std::sqrt(level.degrees[row] * level.degrees[column]);
    }
  }
  result -= null_space * null_space.transpose();
  return (result + result.transpose()) / 2;
}

/// The normalized Laplacian I - A of a small level, solved densely in double.
struct DenseGraph {
  Eigen::VectorXd values;   ///< Ascending; as many are exactly 0 as there are components.
  Eigen::MatrixXd vectors;  ///< Orthonormal; the first one is D^1/2 of all components together.

  /// The inverse on what is orthogonal to the eigenvectors to the eigenvalue 0, row by row.
  std::vector<float> inverse(std::size_t components) const {
    Eigen::VectorXd factors = values.cwiseInverse();
    factors.head(static_cast<Eigen::Index>(components)).setZero();
    const Eigen::MatrixXf inverse =
        (vectors * factors.asDiagonal() * vectors.transpose()).cast<float>();
    return {inverse.data(), inverse.data() + inverse.size()};
  }
};

/// `component`: of each node, below `components`.
DenseGraph solve_dense(const GraphLevel& level, const std::vector<std::uint32_t>& component,
                       std::size_t components) {
  const auto n = static_cast<Eigen::Index>(level.nodes());
  const auto zeros = static_cast<Eigen::Index>(components);
  Eigen::MatrixXd roots = Eigen::MatrixXd::Zero(n, zeros);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double root = std::sqrt(level.degrees[row]);
    roots(i, 0) = root;
    if (component[row] > 0) roots(i, component[row]) = root;
  }
  Eigen::MatrixXd null_space = Eigen::HouseholderQR<Eigen::MatrixXd>(roots).householderQ() *
                               Eigen::MatrixXd::Identity(n, zeros);
  null_space.col(0) = roots.col(0).normalized();  // With its sign.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(shifted_laplacian(level, null_space));
  if (solver.info() != Eigen::Success) {
    throw NumericalError("the dense eigensolver did not converge for a graph");
  }
  DenseGraph result{solver.eigenvalues(), solver.eigenvectors()};
  result.values.head(zeros).setZero();
  result.vectors.leftCols(zeros) = null_space;
  return result;
}

/// The component of each node of levels[k].
std::vector<std::uint32_t> components_on(const GraphLevels& graph, std::size_t k) {
  std::vector<std::uint32_t> result = graph.component;
  for (std::size_t level = 0; level < k; ++level) {
    std::vector<std::uint32_t> coarser(graph.levels[level + 1].nodes());
    for (std::size_t i = 0; i < result.size(); ++i) {
      coarser[graph.levels[level].coarse[i]] = result[i];
    }
    result = std::move(coarser);
  }
  return result;
}

EigenParameters eigen_parameters(const GraphParameters& parameters) {
  EigenParameters result;
  result.vectors = parameters.vectors;
  result.tolerance = parameters.tolerance;
  result.relative_tolerance = parameters.relative_tolerance;
  result.max_products = std::numeric_limits<int>::max();
  return result;
}

Batch one_row(std::size_t nodes) {
  const auto width = static_cast<int>(nodes);
  return Batch(Grid{width, 1, width});
}

/// Numbers in [-1, 1), the same everywhere.
std::vector<float> random_numbers(std::size_t count) {
  std::vector<float> numbers(count);
  SplitMix random(1);
  for (float& number : numbers) number = static_cast<float>(2 * random.unit() - 1);
  return numbers;
}

/// The eigenvectors to the eigenvalue 0, exactly.
void set_components(const GraphLevels& graph, GraphEigenvectors& result) {
  const std::size_t count = std::min(graph.component_degrees.size(), result.vectors.size());
  for (std::size_t k = 0; k < count; ++k) {
    result.values[k] = 0;
    std::fill(result.vectors[k].begin(), result.vectors[k].end(), 0.0F);
  }
  for (std::size_t i = 0; i < graph.nodes(); ++i) {
    const std::size_t k = graph.component[i];
    if (k >= count) continue;
    result.vectors[k][graph.origin[i]] =
        static_cast<float>(std::sqrt(graph.levels[0].degrees[i] / graph.component_degrees[k]));
  }
}

GraphEigenvectors without_vectors(const GraphLevels& graph, std::size_t nodes, int vectors) {
  GraphEigenvectors result;
  result.components = graph.component_degrees.size();
  result.isolated = nodes - graph.nodes();
  result.sqrt_degree.assign(nodes, 0);
  for (std::size_t i = 0; i < graph.nodes(); ++i) {
    result.sqrt_degree[graph.origin[i]] = static_cast<float>(std::sqrt(graph.levels[0].degrees[i]));
  }
  const auto count = static_cast<std::size_t>(vectors);
  result.values.assign(count, 0);
  result.vectors.assign(count, std::vector<float>(nodes, 0));
  result.report.residuals.assign(count, 0);
  result.report.matvec = "graph";
  return result;
}

/// Makes each vector's entry of largest magnitude, the first of equals, positive.
void set_signs(GraphEigenvectors& result) {
  parallel_for(static_cast<int>(result.vectors.size()), [&](int k) {
    std::vector<float>& vector = result.vectors[static_cast<std::size_t>(k)];
    float largest = 0;
    for (const float value : vector) {
      if (std::abs(value) > std::abs(largest)) largest = value;
    }
    if (largest < 0) {
      for (float& value : vector) value = -value;
    }
  });
}

GraphEigenvectors dense_result(const GraphLevels& graph, std::size_t nodes, int vectors) {
  const DenseGraph dense =
      solve_dense(graph.levels[0], graph.component, graph.component_degrees.size());
  GraphEigenvectors result = without_vectors(graph, nodes, vectors);
  for (Eigen::Index k = 0; k < vectors; ++k) {
    const auto at = static_cast<std::size_t>(k);
    result.values[at] = dense.values(k);
    for (std::size_t i = 0; i < graph.nodes(); ++i) {
      result.vectors[at][graph.origin[i]] =
          static_cast<float>(dense.vectors(static_cast<Eigen::Index>(i), k));
    }
  }
  set_components(graph, result);
  result.report.solver = "dense";
  result.report.converged = true;
  return result;
}

std::optional<DenseGraph> solve_last(const GraphLevels& graph) {
  if (graph.levels.back().nodes() > kMostDenseNodes) return std::nullopt;
  return solve_dense(graph.levels.back(), components_on(graph, graph.levels.size() - 1),
                     graph.component_degrees.size());
}

/// The way from the last level to the graph itself.
class Descent {
 public:
  Descent(Context& context, const GraphLevels& graph, const GraphParameters& parameters,
          const Watch& watch)
      : context_(context),
        graph_(graph),
        parameters_(parameters),
        watch_(watch),
        columns_(graph_columns(parameters.vectors)),
        last_(solve_last(graph)),
        cycle_(context, graph,
               last_ ? last_->inverse(graph.component_degrees.size()) : std::vector<float>(),
               columns_),
        solver_(context, eigen_parameters(parameters), one_row(graph.nodes()),
                std::make_shared<ActiveSegments>(context, 1)),
        block_columns_(context, columns_) {}

  GraphEigenvectors run(std::size_t nodes) {
    int level = first_level();
    const bool random = !last_ || level + 1 < cycle_.count();
    Block x = start(level);
    if (random || level == 0) iterate(level, x, kRandomIterations);
    while (level-- > 0) {
      Block fine = solver_.blocks().take(columns_);
      {
        Block scratch = solver_.blocks().take(columns_);
        cycle_.prolong(level, *x, *fine, *scratch, columns_);
      }
      x = std::move(fine);
      set_trivial(level, x);
      for (double& theta : images_[0].theta) theta = 1 - (1 - theta) / kGrowth;
      iterate(level, x, Lobpcg::kCoarseIterations);
    }
    return results(std::move(x), nodes);
  }

 private:
  /// The last level that has enough nodes for all vectors.
  int first_level() const {
    int level = cycle_.count() - 1;
    while (level > 0 && cycle_.rows(level) < 3 * wide()) --level;
    return level;
  }

  /// Dense eigenvectors of the last level, or random vectors.
  Block start(int level) {
    const std::size_t rows = cycle_.rows(level);
    Block x = solver_.blocks().take(columns_);
    std::vector<float> values;
    images_[0].theta.assign(wide(), 0);
    images_[0].theta[0] = 1;
    if (last_ && level + 1 == cycle_.count()) {
      values.resize(rows * wide());
      for (std::size_t k = 0; k < wide(); ++k) {
        images_[0].theta[k] = 1 - last_->values(static_cast<Eigen::Index>(k));
        for (std::size_t i = 0; i < rows; ++i) {
          values[i * wide() + k] = static_cast<float>(
              last_->vectors(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)));
        }
      }
    } else {
      values = random_numbers(rows * wide());
    }
    (*x).upload(std::span<const float>(values));
    set_trivial(level, x);
    return x;
  }

  void set_trivial(int level, Block& x) {
    auto one = context_.allocate<float>(1, "a factor");
    one.fill(1);
    block_columns_.insert(cycle_.trivial(level), one, 0, 1, cycle_.rows(level), 0, *x);
  }

  void iterate(int level, Block& x, int coarse_iterations) {
    const int iterations = level > 0 ? coarse_iterations : parameters_.max_iterations;
    solver_.solve(cycle_, level, x, images_, iterations, watch_);
  }

  GraphEigenvectors results(Block x, std::size_t nodes) {
    Block y = solver_.blocks().take(columns_);
    Block energies = solver_.blocks().take(columns_);
    cycle_.energies(*x, *y, *energies, columns_);
    const std::vector<double> values =
        ColumnSums(solver_.workspace()).compute(*energies, {graph_.nodes(), graph_.nodes()});
    std::vector<std::size_t> order(static_cast<std::size_t>(parameters_.vectors));
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin() + 1, order.end(),
                     [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    GraphEigenvectors result = without_vectors(graph_, nodes, parameters_.vectors);
    std::vector<float> block(graph_.nodes() * wide());
    (*x).download(std::span(block));
    parallel_ranges(graph_.nodes(), 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t k = 0; k < order.size(); ++k) {
          result.vectors[k][graph_.origin[i]] = block[i * wide() + order[k]];
        }
      }
    });
    const LobpcgImage& found = images_[0];
    for (std::size_t k = 0; k < order.size(); ++k) {
      result.values[k] = values[order[k]];
      result.report.residuals[k] = found.residual_norms[order[k]];
    }
    set_components(graph_, result);
    found.describe(cycle_, result.report);
    return result;
  }

  std::size_t wide() const { return static_cast<std::size_t>(columns_); }

  Context& context_;
  const GraphLevels& graph_;
  GraphParameters parameters_;
  const Watch& watch_;
  int columns_;
  std::optional<DenseGraph> last_;  ///< The last level, where it is small.
  GraphCycle cycle_;
  std::vector<LobpcgImage> images_{1};
  Lobpcg solver_;
  BlockColumns block_columns_;
};

void check_memory(Context& context, const GraphLevels& graph, const GraphParameters& parameters) {
  const int columns = graph_columns(parameters.vectors);
  const std::uint64_t block = graph.nodes() * static_cast<std::uint64_t>(columns) * sizeof(float);
  const std::uint64_t entries = graph.levels[0].weights.columns.size() * sizeof(std::uint32_t);
  const DeviceMemory memory{Lobpcg::memory(one_row(graph.nodes()), columns) +
                                GraphCycle::matrix_memory(graph) +
                                GraphCycle::block_memory(graph, columns),
                            std::max(block, entries)};
  memory.check(context.info(), context.memory_limit(),
               "ask for fewer eigenvectors, or use a device with more memory");
}

}  // namespace

int graph_columns(int vectors) {
  EigenParameters parameters;
  parameters.vectors = vectors;
  return Lobpcg::columns(parameters);
}

GraphEigenvectors graph_eigenvectors(Context& context, const GraphLevels& graph, std::size_t nodes,
                                     const GraphParameters& parameters, const Watch& watch) {
  GraphEigenvectors result;
  if (graph.component_degrees.size() >= static_cast<std::size_t>(parameters.vectors)) {
    result = without_vectors(graph, nodes, parameters.vectors);
    set_components(graph, result);
    result.report.solver = "components";
    result.report.converged = true;
  } else if (graph.levels.size() == 1 && graph.nodes() <= kMostDenseNodes) {
    result = dense_result(graph, nodes, parameters.vectors);
  } else {
    check_memory(context, graph, parameters);
    result = Descent(context, graph, parameters, watch).run(nodes);
  }
  set_signs(result);
  result.report.resolution =
      resolution_of(result.values, result.report.residuals, result.components);
  watch.report("eigenvectors", 1);
  return result;
}

}  // namespace diacut
