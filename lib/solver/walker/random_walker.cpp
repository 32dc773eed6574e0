#include "walker/random_walker.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "eigen/multilevel/coarse_levels.hpp"
#include "eigen/multilevel/coarsen.hpp"
#include "eigen/multilevel/conjugate_gradient.hpp"
#include "matrix/block.hpp"
#include "opencl/kernel_file.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

/// (I - A)_UU, with rows and columns of the identity where there is a seed, under the V-cycle, or
/// without a preconditioner where the image cannot be made coarser.
class UnseededSystem : public SystemOperators {
 public:
  /// `product`: of such matrices with blocks of `columns` columns.
  UnseededSystem(Context& context, NormalizedMatrix& matrix, BlockProduct& product, int columns,
                 MatrixForm form)
      : matrix_(matrix),
        columns_(columns),
        product_(product),
        levels_(CoarseLevels::build(context, matrix, form, 0, columns, NullSpace::kNone)) {}

  void product(const Buffer<float>& v, Buffer<float>& out) override {
    product_.launch(matrix_, v, v, out, -1, 1, 0, columns_);
  }
  void precondition(const Buffer<float>& r, Buffer<float>& spare, Buffer<float>& out) override {
    if (levels_) {
      levels_->precondition(0, r, out, spare, columns_);
    } else {
      copy_elements(r, 0, out, 0, r.size());
    }
  }

 private:
  NormalizedMatrix& matrix_;
  int columns_;
  BlockProduct& product_;
  std::optional<CoarseLevels> levels_;
};

/// Launchers of the coarse levels, which are made again when these are there: what they ask for is
/// built together with the kernels of the walk.
struct LevelKernels {
  LevelKernels(Context& context, const Stencil& stencil, int columns, MatrixForm form)
      : product(context, stencil, columns, form),
        transfer(context, stencil, columns, form),
        coarsen(context, stencil, 1, NullSpace::kNone),
        dense(context, columns) {
    product.prepare(columns);
    transfer.prepare(columns);
  }

  BlockProduct product;
  BlockTransfer transfer;
  Coarsen coarsen;
  DenseProduct dense;
};

/// The matrix without the rows and columns of seeded pixels, which count as pixels without data. It
/// takes the weights of `matrix` over.
NormalizedMatrix without_seeds(Context& context, const KernelFile& kernels,
                               NormalizedMatrix& matrix, const Buffer<std::int32_t>& seeds) {
  const std::size_t rows = matrix.rows();
  auto degree = context.allocate<float>(rows, "square roots of the degrees without seeds");
  kernels.launch_rows("unseeded_degree", rows, 1, matrix.sqrt_degree(), seeds, rows, degree);
  const DiaShape shape = matrix.shape();
  const auto offsets = device_table(context, shape.offsets, "offsets of the diagonals");
  const WaitAtEnd offsets_are_read(context);
  Buffer<float> values = matrix.take_values();
  kernels.launch_rows("eliminate_seeds", rows, 1, values, shape.pitch, rows, offsets,
                      offsets.size(), seeds);
  return {matrix.batch(), matrix.stencil(), std::move(values), std::move(degree)};
}

/// The columns of a block for so many labels, the V-cycle's matrices being in that form. With
/// compressed levels, which CPUs have, two blocks of four columns take less time than one of eight
/// (kernels/matrix/block_planes.clh).
int walker_columns(int labels, MatrixForm form) {
  const int most = form == MatrixForm::kCompressed ? kWalkerColumns / 2 : kWalkerColumns;
  return std::min(narrow_block_columns(labels), most);
}

}  // namespace

RandomWalk random_walk(Context& context, NormalizedMatrix matrix,
                       const std::vector<std::int32_t>& seeds, int labels,
                       const WalkerParameters& parameters, bool keep, const Watch& watch,
                       const std::vector<std::vector<float>>& start, MatrixForm form) {
  const std::size_t rows = matrix.rows();
  const int columns = walker_columns(labels, form);
  const std::size_t size = rows * static_cast<std::size_t>(columns);
  const WaitAtEnd all_read(context);
  // All kernels are asked for before the first one is launched: they are built together.
  const KernelFile kernels(context, "walker/seeds.cl", block_options(context.info(), columns));
  Workspace workspace(context, columns, rows);
  ConjugateGradient solver(workspace, rows);
  BlockProduct product(context, matrix.stencil(), columns);
  const LevelKernels levels(context, matrix.stencil(), columns, form);
  const WaitAtEnd computed(context);  // The kernel reads memory of the product's.
  auto seed = context.allocate<std::int32_t>(rows, "seeds");
  seed.upload(seeds);
  auto label = context.allocate<std::int32_t>(rows, "labels");
  auto best = context.allocate<float>(rows, "largest probabilities");
  auto x = context.allocate<float>(size, "probabilities");
  copy_elements(seed, 0, label, 0, rows);
  best.fill(0);

  // Right-hand sides need the whole matrix, the systems need what is left of it.
  std::vector<Buffer<float>> right_hand_sides;
  for (int first = 1; first <= labels; first += columns) {
    right_hand_sides.push_back(context.allocate<float>(size, "right-hand sides"));
    kernels.launch_rows("seed_block", rows, 1, seed, matrix.sqrt_degree(), rows, first, x);
    product.launch(matrix, x, right_hand_sides.back());
    kernels.launch_rows("clear_seeds", rows, 1, seed, rows, right_hand_sides.back());
  }
  NormalizedMatrix unseeded = without_seeds(context, kernels, matrix, seed);
  UnseededSystem system(context, unseeded, product, columns, form);
  RandomWalk walk;
  const bool starts = !start.empty();
  auto one = context.allocate<float>(keep || starts ? rows : 1, "probabilities of one label");
  for (int first = 1; first <= labels; first += columns) {
    Buffer<float>& b = right_hand_sides[static_cast<std::size_t>((first - 1) / columns)];
    x.fill(0);
    const int count = std::min(columns, labels - first + 1);
    for (int c = 0; c < count && first + c <= static_cast<int>(start.size()); ++c) {
      one.upload(start[static_cast<std::size_t>(first + c - 1)]);
      kernels.launch_rows("start_column", rows, 1, one, unseeded.sqrt_degree(), rows, c, x);
    }
    const ConjugateGradientResult solved = solver.solve(
        system, b, x, {parameters.tolerance, parameters.max_iterations, starts}, watch);
    b = {};
    walk.iterations = std::max(walk.iterations, solved.iterations);
    walk.error = std::max(walk.error, solved.error);
    walk.converged = walk.converged && solved.converged;
    kernels.launch_rows("best_columns", rows, 1, x, rows, first, count, best, label);
    for (int c = 0; keep && c < count; ++c) {
      kernels.launch_rows("probability", rows, 1, x, unseeded.sqrt_degree(), seed, rows, c,
                          first + c, one);
      walk.probabilities.push_back(one.download());
    }
  }
  walk.labels = label.download();
  return walk;
}

}  // namespace diacut
