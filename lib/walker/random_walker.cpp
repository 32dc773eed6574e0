#include "walker/random_walker.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "eigen/multilevel/coarse_levels.hpp"
#include "eigen/multilevel/coarsen.hpp"
#include "eigen/multilevel/conjugate_gradient.hpp"
#include "opencl/arguments.hpp"

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
        dense(context, columns) {}

  BlockProduct product;
  BlockTransfer transfer;
  Coarsen coarsen;
  DenseProduct dense;
};

/// The matrix without the rows and columns of seeded pixels, which count as pixels without data. It
/// takes the weights of `matrix` over.
NormalizedMatrix without_seeds(Context& context, SeedKernels& kernels, NormalizedMatrix& matrix,
                               const Buffer<std::int32_t>& seeds) {
  auto degree = context.allocate<float>(matrix.rows(), "square roots of the degrees without seeds");
  kernels.unseeded_degree(matrix.sqrt_degree(), seeds, degree);
  const DiaShape shape = matrix.shape();
  auto offsets = context.allocate<std::int64_t>(shape.offsets.size(), "offsets of the diagonals");
  offsets.upload(shape.offsets);
  const WaitAtEnd offsets_are_read(context);
  Buffer<float> values = matrix.take_values();
  kernels.eliminate(values, shape.pitch, offsets, seeds);
  return {matrix.batch(), matrix.stencil(), std::move(values), std::move(degree)};
}

}  // namespace

// With compressed levels, which CPUs have, two blocks of four columns take less time than one of
// eight (kernels/matrix/block_planes.clh).
int walker_columns(int labels, MatrixForm form) {
  const int most = form == MatrixForm::kCompressed ? kWalkerColumns / 2 : kWalkerColumns;
  return std::min(narrow_block_columns(labels), most);
}

RandomWalk random_walk(Context& context, NormalizedMatrix matrix,
                       const std::vector<std::int32_t>& seeds, int labels,
                       const WalkerParameters& parameters, bool keep, const Watch& watch,
                       const std::vector<std::vector<float>>& start, MatrixForm form) {
  const std::size_t rows = matrix.rows();
  const int columns = walker_columns(labels, form);
  const std::size_t size = rows * static_cast<std::size_t>(columns);
  const WaitAtEnd all_read(context);
  // All kernels are asked for before the first one is launched: they are built together.
  SeedKernels kernels(context, rows, columns);
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
    kernels.seed_block(seed, matrix.sqrt_degree(), first, x);
    product.launch(matrix, x, right_hand_sides.back());
    kernels.clear_seeds(seed, right_hand_sides.back());
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
      kernels.start_column(one, unseeded.sqrt_degree(), c, x);
    }
    const ConjugateGradientResult solved = solver.solve(
        system, b, x, {parameters.tolerance, parameters.max_iterations, starts}, watch);
    b = {};
    walk.iterations = std::max(walk.iterations, solved.iterations);
    walk.error = std::max(walk.error, solved.error);
    walk.converged = walk.converged && solved.converged;
    kernels.best_columns(x, first, count, best, label);
    for (int c = 0; keep && c < count; ++c) {
      kernels.probability(x, unseeded.sqrt_degree(), seed, c, first + c, one);
      walk.probabilities.push_back(one.download());
    }
  }
  walk.labels = label.download();
  return walk;
}

SeedKernels::SeedKernels(Context& context, std::size_t rows, int columns)
    : context_(&context), rows_(rows) {
  const std::string options = block_options(context.info(), columns);
  constexpr char kFile[] = "walker/seeds.cl";
  eliminate_ = context.kernel(kFile, "eliminate_seeds", options);
  degree_ = context.kernel(kFile, "unseeded_degree", options);
  block_ = context.kernel(kFile, "seed_block", options);
  start_ = context.kernel(kFile, "start_column", options);
  clear_ = context.kernel(kFile, "clear_seeds", options);
  best_ = context.kernel(kFile, "best_columns", options);
  probability_ = context.kernel(kFile, "probability", options);
}

/// Launches a work-item for each element and line.
template <class... Arguments>
void SeedKernels::run(Kernel& kernel, std::size_t lines, const Arguments&... arguments) {
  set_arguments(kernel, arguments...);
  launch_rows(*context_, kernel, rows_, lines);
}

void SeedKernels::eliminate(Buffer<float>& values, std::size_t pitch,
                            const Buffer<std::int64_t>& offsets,
                            const Buffer<std::int32_t>& seeds) {
  run(eliminate_, 1, values, pitch, rows_, offsets, offsets.size(), seeds);
}

void SeedKernels::unseeded_degree(const Buffer<float>& sqrt_degree,
                                  const Buffer<std::int32_t>& seeds, Buffer<float>& out) {
  run(degree_, 1, sqrt_degree, seeds, rows_, out);
}

void SeedKernels::seed_block(const Buffer<std::int32_t>& seeds, const Buffer<float>& sqrt_degree,
                             int first, Buffer<float>& block) {
  run(block_, 1, seeds, sqrt_degree, rows_, first, block);
}

void SeedKernels::start_column(const Buffer<float>& probabilities, const Buffer<float>& sqrt_degree,
                               int column, Buffer<float>& block) {
  run(start_, 1, probabilities, sqrt_degree, rows_, column, block);
}

void SeedKernels::clear_seeds(const Buffer<std::int32_t>& seeds, Buffer<float>& block) {
  run(clear_, 1, seeds, rows_, block);
}

void SeedKernels::best_columns(const Buffer<float>& block, int first, int count,
                               Buffer<float>& best, Buffer<std::int32_t>& labels) {
  run(best_, 1, block, rows_, first, count, best, labels);
}

void SeedKernels::probability(const Buffer<float>& block, const Buffer<float>& sqrt_degree,
                              const Buffer<std::int32_t>& seeds, int column, int label,
                              Buffer<float>& out) {
  run(probability_, 1, block, sqrt_degree, seeds, rows_, column, label, out);
}

}  // namespace diacut
