#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/solver.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/matvec.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"

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
                                "expected equal finite "
                                "numbers of at least 0",
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

}  // namespace

std::vector<Neighbour> disc_neighbours(int radius) {
  std::vector<Neighbour> neighbours;
  for (const StencilOffset& entry : disc_stencil(radius).entries) {
    neighbours.push_back({entry.dx, entry.dy});
  }
  return neighbours;
}

struct GridSolver::State {
  explicit State(const std::string& device) : context(device) {}
  Context context;
};

GridSolver::GridSolver(const std::string& device) : state_(std::make_unique<State>(device)) {}
GridSolver::~GridSolver() = default;
GridSolver::GridSolver(GridSolver&&) noexcept = default;
GridSolver& GridSolver::operator=(GridSolver&&) noexcept = default;

const DeviceInfo& GridSolver::device() const { return state_->context.info(); }

std::vector<float> GridSolver::multiply(const GridWeights& weights, const std::vector<float>& x,
                                        MatvecKind kernel) {
  const Stencil stencil = stencil_of(weights);
  const Grid grid = grid_of(weights, stencil);
  if (x.size() != grid.rows()) {
    throw InputError(fmt::format("the vector has {} numbers, expected one for each of {} pixels",
                                 x.size(), grid.rows()));
  }
  HostDiaMatrix host{dia_shape(grid, stencil), {}};
  host.values.resize(host.shape.stored());
  each_weight(weights, grid, stencil,
              [&](float weight, std::size_t row, std::size_t, std::size_t k) {
                host.values[k * host.shape.pitch + row] = weight;
              });
  Context& context = state_->context;
  const MatvecChoice choice =
      choose_matvec({kernel, MatvecStorage::kAuto}, context.info(), host.shape);
  if (choice.kind == MatvecKind::kSymmetric) {
    throw ConfigError(
        "the kernel symmetric multiplies by normalized matrices alone: choose another");
  }
  const DiaMatrix matrix = upload(context, host);
  DiaOperator product(context, matrix, choice.kind);
  Buffer<float> in = context.allocate<float>(x.size(), "a vector");
  Buffer<float> out = context.allocate<float>(x.size(), "a product");
  in.upload(std::span(x));
  product.perform_op(in, out);
  std::vector<float> result(x.size());
  out.download(std::span(result));
  return result;
}

Eigenvectors GridSolver::eigenvectors(const GridWeights& weights, const EigenParameters& parameters,
                                      const Watch& watch) {
  const Stencil stencil = stencil_of(weights);
  const Grid grid = grid_of(weights, stencil);
  check_symmetric(weights, grid, stencil);
  Context& context = state_->context;
  std::vector<float> roots;
  DiaMatrix matrix = upload(context, normalized(weights, grid, stencil, roots));
  Buffer<float> sqrt_degree = context.allocate<float>(roots.size(), "the degrees");
  sqrt_degree.upload(std::span(std::as_const(roots)));
  NormalizedMatrix whole(Batch(grid), stencil, std::move(matrix.values), std::move(sqrt_degree));
  SolverParameters solver{parameters, choose_matvec({}, context.info(), whole.shape()),
                          MatrixForm::kDia};
  return to_host(diacut::eigenvectors(context, whole, solver, watch).front(), whole);
}

}  // namespace diacut
