#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/solver.hpp"
#include "eigen/eigensolver.hpp"
#include "graph/steps.hpp"
#include "matrix/device_matrix.hpp"
#include "matrix/stencil.hpp"

namespace diacut {

namespace {

Grid grid_of(const GridWeights& weights, const Stencil& stencil) {
  if (weights.width < 1 || weights.height < 1) {
    throw InputError(fmt::format("the grid of weights has {} x {} pixels, expected 1 or more",
                                 weights.width, weights.height));
  }
  const Grid grid{weights.width, weights.height};
  if (weights.values.size() != stencil.size() * grid.rows()) {
    throw InputError(fmt::format(
        "there are {} weights, expected {}: {} neighbours of {} x {} pixels", weights.values.size(),
        stencil.size() * grid.rows(), stencil.size(), weights.width, weights.height));
  }
  return grid;
}

Stencil stencil_of(const GridWeights& weights) {
  if (weights.radius < 0) {
    throw InputError(
        fmt::format("the radius of weights is {}, expected 0 or more", weights.radius));
  }
  return disc_stencil(weights.radius);
}

/// Calls take(element of the matrix, row, column, neighbour k) for the weights within the grid, and
/// refuses those that are not 0 outside of it.
template <class Take>
void each_weight(const GridWeights& weights, const Grid& grid, const Stencil& stencil, Take take) {
  for (std::size_t k = 0; k < stencil.size(); ++k) {
    const StencilOffset to = stencil.entries[k];
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) {
        const std::size_t row = static_cast<std::size_t>(y) * grid.width + x;
        const float weight = weights.values[k * grid.rows() + row];
        const int u = x + to.dx;
        const int v = y + to.dy;
        if (u >= 0 && u < grid.width && v >= 0 && v < grid.height) {
          take(weight, row, static_cast<std::size_t>(v) * grid.width + u, k);
        } else if (weight != 0) {
          throw InputError(fmt::format(
              "pixel ({}, {}) has the weight {} to ({}, {}), which lies outside the grid", x, y,
              weight, u, v));
        }
      }
    }
  }
}

void check_symmetric(const GridWeights& weights, const Grid& grid, const Stencil& stencil) {
  each_weight(weights, grid, stencil,
              [&](float weight, std::size_t row, std::size_t column, std::size_t k) {
                const float back = weights.values[stencil.opposite(k) * grid.rows() + column];
                if (std::isfinite(weight) && weight >= 0 && weight == back) return;
                throw InputError(
                    fmt::format("pixel ({}, {}) has the weight {} to ({}, {}), which has {} to it: "
                                "expected equal finite numbers of at least 0; eigenpairs() of "
                                "diacut/sparse.hpp takes negative ones too",
                                row % grid.width, row / grid.width, weight, column % grid.width,
                                column / grid.width, back));
              });
}

/// A = D^-1/2 W D^-1/2, and D^1/2 in `roots`.
HostDiaMatrix normalized(const GridWeights& weights, const Grid& grid, const Stencil& stencil,
                         std::vector<float>& roots) {
  HostDiaMatrix matrix{dia_shape(grid, stencil), {}};
  matrix.values.resize(matrix.shape.stored());
  std::vector<double> degrees(grid.rows());
  each_weight(weights, grid, stencil, [&](float weight, std::size_t row, std::size_t, std::size_t) {
    degrees[row] += weight;
  });
  each_weight(weights, grid, stencil,
              [&](float weight, std::size_t row, std::size_t column, std::size_t k) {
                if (weight == 0) return;
                matrix.values[k * matrix.shape.pitch + row] =
                    static_cast<float>(weight / std::sqrt(degrees[row] * degrees[column]));
              });
  for (const double degree : degrees) roots.push_back(static_cast<float>(std::sqrt(degree)));
  return matrix;
}

/// The pixels that have weights. Throws ConfigError where they cannot have so many eigenvectors.
void check_vectors(const GridWeights& weights, const Grid& grid, const Stencil& stencil,
                   int vectors) {
  std::vector<bool> tied(grid.rows(), false);
  each_weight(weights, grid, stencil, [&](float weight, std::size_t row, std::size_t, std::size_t) {
    if (weight > 0) tied[row] = true;
  });
  const auto most = static_cast<std::ptrdiff_t>(std::count(tied.begin(), tied.end(), true));
  if (most == 0 || (vectors >= 1 && vectors <= most)) return;
  throw ConfigError(fmt::format(
      "{} eigenvectors are asked for, expected 1 to {}, the number of pixels with weights", vectors,
      most));
}

/// Neighbours within a distance of 1 have none in common, so that no grid of every other pixel
/// stands for the whole: the grid is solved as a graph. Nothing where it falls apart.
std::optional<Eigenvectors> of_graph(Context& context, const GridWeights& weights, const Grid& grid,
                                     const Stencil& stencil, const EigenParameters& parameters,
                                     const Watch& watch) {
  Graph graph;
  for (std::size_t row = 0; row < grid.rows(); ++row) {
    for (std::size_t k = 0; k < stencil.size(); ++k) {
      const float weight = weights.values[k * grid.rows() + row];
      if (weight == 0) continue;
      const StencilOffset to = stencil.entries[k];
      graph.columns.push_back(static_cast<std::uint32_t>(
          static_cast<std::ptrdiff_t>(row) + std::ptrdiff_t{to.dy} * grid.width + to.dx));
      graph.weights.push_back(weight);
    }
    graph.starts.push_back(graph.columns.size());
  }
  const GraphParameters own{.vectors = parameters.vectors,
                            .tolerance = parameters.tolerance,
                            .relative_tolerance = parameters.relative_tolerance};
  const GraphLevels levels = graph_levels_for(graph, own, watch);
  if (levels.component_degrees.size() > 1) return std::nullopt;
  GraphEigenvectors found = graph_eigenvectors(context, levels, graph.nodes(), own, watch);
  return Eigenvectors{grid.width,
                      grid.height,
                      std::move(found.values),
                      std::move(found.vectors),
                      std::move(found.sqrt_degree),
                      std::move(found.report)};
}

}  // namespace

std::vector<Neighbour> disc_neighbours(int radius) {
  std::vector<Neighbour> neighbours;
  for (const StencilOffset& entry : disc_stencil(radius).entries) {
    neighbours.push_back({entry.dx, entry.dy});
  }
  return neighbours;
}

struct GridSolver::State {
  explicit State(const std::string& device) : queue(device) {}

  DeviceQueue queue;
  GridWeights weights;
  std::optional<DiagonalMatrix> matrix;
  std::optional<NormalizedMatrix> normalized;  ///< Once eigenvectors were asked for.
};

GridSolver::GridSolver(const std::string& device) : state_(std::make_unique<State>(device)) {}
GridSolver::~GridSolver() = default;
GridSolver::GridSolver(GridSolver&&) noexcept = default;
GridSolver& GridSolver::operator=(GridSolver&&) noexcept = default;

const DeviceInfo& GridSolver::device() const { return state_->queue.device(); }

const DiagonalMatrix& GridSolver::load(GridWeights weights, MatvecKind kernel) {
  const Stencil stencil = stencil_of(weights);
  const Grid grid = grid_of(weights, stencil);
  each_weight(weights, grid, stencil, [](float, std::size_t, std::size_t, std::size_t) {});
  state_->normalized.reset();
  state_->matrix.reset();
  state_->matrix.emplace(state_->queue, grid.rows(), dia_shape(grid, stencil).offsets,
                         std::span(std::as_const(weights.values)), kernel);
  state_->weights = std::move(weights);
  return *state_->matrix;
}

Eigenvectors GridSolver::eigenvectors(const EigenParameters& parameters, const Watch& watch) {
  if (!state_->matrix) throw ConfigError("no weights were loaded: call GridSolver::load() first");
  const GridWeights& weights = state_->weights;
  const Stencil stencil = stencil_of(weights);
  const Grid grid = grid_of(weights, stencil);
  Context& context = state_->queue.state().context;
  const std::lock_guard turn(state_->queue.state().turn);
  check_vectors(weights, grid, stencil, parameters.vectors);
  if (!state_->normalized) {
    check_symmetric(weights, grid, stencil);
    std::vector<float> roots;
    DiaMatrix matrix = upload(context, normalized(weights, grid, stencil, roots));
    Buffer<float> sqrt_degree = context.allocate<float>(roots.size(), "the degrees");
    sqrt_degree.upload(std::span(std::as_const(roots)));
    state_->normalized.emplace(Batch(grid), stencil, std::move(matrix.values),
                               std::move(sqrt_degree));
  }
  NormalizedMatrix& whole = *state_->normalized;
  if (weights.radius == 1 && solver_wanted(parameters.solver) == SolverKind::kMultilevel &&
      grid.rows() > kMostDenseNodes) {
    if (auto found = of_graph(context, weights, grid, stencil, parameters, watch)) return *found;
  }
  const SolverParameters solver{parameters, choose_matvec({}, context.info(), whole.shape()),
                                MatrixForm::kDia};
  return to_host(diacut::eigenvectors(context, whole, solver, watch).front(), whole);
}

}  // namespace diacut
