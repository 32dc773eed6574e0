#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>

#include "core/parallel.hpp"
#include "core/split_mix.hpp"
#include "diacut/errors.hpp"
#include "eigen/dense/symmetric_eigenpairs.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/lobpcg.hpp"
#include "eigen/multilevel/transfer.hpp"
#include "eigen/resolution.hpp"
#include "graph/graph_levels.hpp"
#include "graph/graph_product.hpp"
#include "graph/steps.hpp"
#include "opencl/devices.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

/// Iterations from random vectors, on the last level that has enough nodes for all vectors.
constexpr int kRandomIterations = 60;
/// The eigenvalues of L are about so many times as large on the next level.
constexpr double kGrowth = 2;

/// Steps of the smoother, an even number.
constexpr int kSmoothing = 2;
/// The smoother damps the eigenvalues of diag(L)^-1 L from here to the largest possible one: 2,
/// whatever the weights are.
constexpr double kGraphSmoothFrom = 0.3;
constexpr double kGraphSmoothTo = 2;
/// On a last level that is not solved densely the smoother takes more steps, for eigenvalues from
/// here.
constexpr int kLastSmoothing = 8;
constexpr double kLastSmoothFrom = 0.075;
static_assert(kSmoothing % 2 == 0 && kLastSmoothing % 2 == 0);
/// The eigenvalues of one cycle times L that two cycles together damp. Contractions without
/// smoothed interpolation lose energy, so that one cycle corrects slow errors too little; they are
/// never corrected too much.
constexpr double kCycleFrom = 0.25;
constexpr double kCycleTo = 1;

/// The inverse root number k of the Chebyshev polynomial of degree `degree` on [from, to]: the
/// steps x += w (b - L x) damp the error there the most.
float chebyshev_step(int k, int degree, double from, double to) {
  const double root = std::cos(std::numbers::pi * (2 * k + 1) / (2 * degree));
  return static_cast<float>(1 / ((to + from) / 2 - (to - from) / 2 * root));
}

std::vector<float> inverse_diagonal(const HostCsr& a) {
  std::vector<float> result(a.rows());
  for (std::size_t row = 0; row < result.size(); ++row) {
    double diagonal = 1;
    std::size_t others = 0;
    for (std::uint32_t at = a.starts[row]; at < a.starts[row + 1]; ++at) {
      if (a.columns[at] == row) {
        diagonal -= static_cast<double>(a.values[at]);
      } else {
        ++others;
      }
    }
    // A node without neighbours is a component: its row of L is 0.
    result[row] = others == 0 ? 0 : static_cast<float>(1 / std::max(diagonal, 1e-7));
  }
  return result;
}

/// (d_i / sum)^exponent of each node.
std::vector<float> powers(const std::vector<double>& degrees, double exponent, double sum) {
  std::vector<float> result(degrees.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<float>(std::pow(degrees[i] / sum, exponent));
  }
  return result;
}

/// The levels of a graph on a device, with A = D^-1/2 W D^-1/2 and L = I - A of each, and a
/// multilevel cycle that is about the inverse of L.
class GraphCycle : public LobpcgLevels {
 public:
  /// For blocks of at most `columns` columns. `inverse`: that of L on the last level
  /// (DenseGraph::inverse()); where it is empty, the smoother alone works there.
  GraphCycle(Context& context, const GraphLevels& graph, const std::vector<float>& inverse,
             int columns)
      : product_(context, columns), dense_(context, columns) {
    double sum = 0;
    for (const double degrees : graph.component_degrees) sum += degrees;
    for (std::size_t k = 0; k < graph.levels.size(); ++k) {
      const GraphLevel& host = graph.levels[k];
      Level level;
      const HostCsr a = normalized(host);
      level.a = DeviceCsr(context, a);
      level.inverse_diagonal = device_table(context, inverse_diagonal(a), "a diagonal");
      level.trivial =
          device_table(context, powers(host.degrees, 0.5, sum), "a trivial eigenvector");
      if (k + 1 < graph.levels.size()) {
        const GraphLevel& coarse = graph.levels[k + 1];
        level.interpolation = DeviceCsr(context, interpolation(host, coarse));
        level.restriction = DeviceCsr(context, restriction(host, coarse));
      }
      if (k > 0) {
        for (Buffer<float>* block :
             {&level.b, &level.x, &level.second_b, &level.second_x, &level.t}) {
          *block = context.allocate<float>(host.nodes() * static_cast<std::size_t>(columns),
                                           "a coarse block of vectors");
        }
      }
      levels_.push_back(std::move(level));
    }
    sqrt_degree_ = device_table(context, powers(graph.levels[0].degrees, 0.5, 1), "degrees");
    inverse_sqrt_degree_ =
        device_table(context, powers(graph.levels[0].degrees, -0.5, 1), "degrees");
    if (!inverse.empty())
      inverse_ = device_table(context, inverse, "the inverse on the last level");
  }

  int count() const override { return static_cast<int>(levels_.size()); }
  Segments segments(int level) const override { return {rows(level), rows(level)}; }
  std::size_t rows(int level) const { return at(level).a.rows(); }
  /// D^1/2 of all nodes, to norm 1.
  const Buffer<float>& trivial(int level) const { return at(level).trivial; }
  /// Products with the matrix of the graph itself so far.
  std::int64_t passes() const override { return passes_; }

  /// out = L x. Enqueues, as all functions below do.
  void laplacian(int level, const Buffer<float>& x, Buffer<float>& out, int columns) override {
    product_.launch(at(level).a, {.x = &x, .own = &x, .p = -1, .q = 1}, out, columns);
    count_pass(level);
  }

  /// x = about the inverse of L times b, on what is orthogonal to the eigenvectors to the
  /// eigenvalue 0. `t` is overwritten.
  void precondition(int level, const Buffer<float>& b, Buffer<float>& x, Buffer<float>& t,
                    int columns) override {
    if (level + 1 == count()) {
      if (inverse_) {
        dense_.launch(inverse_, rows(level), b, x, columns);
      } else {
        smooth(level, &b, x, t, true, columns);
      }
      return;
    }
    Level& own = at(level);
    Level& next = at(level + 1);
    smooth(level, &b, x, t, true, columns);
    residual(level, x, b, t, columns);
    product_.launch(own.restriction, {.x = &t}, next.b, columns);
    solve(level + 1, columns);
    product_.launch(own.interpolation, {.x = &next.x, .own = &x, .keep = 1}, x, columns);
    smooth(level, &b, x, t, false, columns);
  }

  /// fine = smoothed P coarse, from the level after `level`; `t` is overwritten.
  void prolong(int level, const Buffer<float>& coarse, Buffer<float>& fine, Buffer<float>& t,
               int columns) {
    product_.launch(at(level).interpolation, {.x = &coarse}, fine, columns);
    smooth(level, nullptr, fine, t, false, columns);
  }

  /// out = the energies of which the sums over the columns are x'L x, x of the graph itself. `y` is
  /// overwritten.
  void energies(const Buffer<float>& x, Buffer<float>& y, Buffer<float>& out, int columns) {
    product_.scale(&inverse_sqrt_degree_, 1, x, 0, y, rows(0), columns);
    product_.energy(at(0).a, sqrt_degree_, y, out, columns);
  }

 private:
  struct Level {
    DeviceCsr a;
    DeviceCsr interpolation;         ///< From the next level.
    DeviceCsr restriction;           ///< To the next level.
    Buffer<float> inverse_diagonal;  ///< 1 / L_ii.
    Buffer<float> trivial;
    /// Blocks of levels below the first one: right-hand side and solution of the level's system,
    /// those of the second cycle, and memory for the smoother.
    Buffer<float> b, x, second_b, second_x, t;
  };
  Level& at(int level) { return levels_[static_cast<std::size_t>(level)]; }
  const Level& at(int level) const { return levels_[static_cast<std::size_t>(level)]; }
  void count_pass(int level) { passes_ += level == 0 ? 1 : 0; }

  void residual(int level, const Buffer<float>& x, const Buffer<float>& b, Buffer<float>& out,
                int columns) {
    product_.launch(at(level).a, {.x = &x, .own = &x, .other = &b, .p = 1, .q = -1, .r = 1}, out,
                    columns);
    count_pass(level);
  }

  /// Smooths x for L x = b, or L x = 0 where b is null, by an even number of steps. `t` is
  /// overwritten.
  void smooth(int level, const Buffer<float>* b, Buffer<float>& x, Buffer<float>& t, bool from_zero,
              int columns) {
    Level& own = at(level);
    const bool last = level + 1 == count();
    const int steps = last ? kLastSmoothing : kSmoothing;
    const double least = last ? kLastSmoothFrom : kGraphSmoothFrom;
    Buffer<float>* from = &x;
    Buffer<float>* to = &t;
    for (int k = 0; k < steps; ++k) {
      const float w = chebyshev_step(k, steps, least, kGraphSmoothTo);
      if (k == 0 && from_zero) {
        // Every other step is out of place, so that the result is in x.
        product_.scale(&own.inverse_diagonal, w, *b, 0, *to, rows(level), columns);
      } else {
        product_.launch(own.a,
                        {.x = from,
                         .own = from,
                         .other = b,
                         .factors = &own.inverse_diagonal,
                         .keep = 1,
                         .p = w,
                         .q = -w,
                         .r = b != nullptr ? w : 0},
                        *to, columns);
        count_pass(level);
      }
      std::swap(from, to);
    }
  }

  /// x = about the inverse of L times b on a coarse level, by two cycles.
  void solve(int level, int columns) {
    Level& own = at(level);
    precondition(level, own.b, own.x, own.t, columns);
    if (level + 1 == count()) return;
    const float first = chebyshev_step(0, 2, kCycleFrom, kCycleTo);
    const float second = chebyshev_step(1, 2, kCycleFrom, kCycleTo);
    product_.scale(nullptr, first, own.x, 0, own.second_x, rows(level), columns);
    residual(level, own.second_x, own.b, own.second_b, columns);
    // The coarser levels' blocks are free again; own.x becomes the second cycle's correction.
    precondition(level, own.second_b, own.x, own.t, columns);
    product_.scale(nullptr, 1, own.second_x, second, own.x, rows(level), columns);
  }

  GraphProduct product_;
  DenseProduct dense_;
  Buffer<float> inverse_;
  Buffer<float> sqrt_degree_;          ///< Of the graph itself.
  Buffer<float> inverse_sqrt_degree_;  ///< Of the graph itself.
  std::vector<Level> levels_;
  std::int64_t passes_ = 0;
};

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
  SymmetricEigenpairs pairs = symmetric_eigenpairs(shifted_laplacian(level, null_space));
  if (!pairs.converged) {
    throw NumericalError("the dense eigensolver did not converge for a graph");
  }
  DenseGraph result{std::move(pairs.values), std::move(pairs.vectors)};
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
  return Batch(Grid{width, 1});
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
class GraphDescent {
 public:
  GraphDescent(Context& context, const GraphLevels& graph, const GraphParameters& parameters,
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
        column_sums(solver_.workspace(), *energies, {graph_.nodes(), graph_.nodes()});
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
    result = GraphDescent(context, graph, parameters, watch).run(nodes);
  }
  set_signs(result);
  result.report.resolution =
      resolution_of(result.values, result.report.residuals, result.components);
  watch.report("eigenvectors", 1);
  return result;
}

}  // namespace diacut
