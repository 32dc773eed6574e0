#include "eigen/multilevel.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "eigen/coarse_levels.hpp"
#include "eigen/ritz.hpp"

namespace diacut {

namespace {

/// Vectors beyond those wanted that are iterated along: the last wanted ones converge by them.
constexpr int kGuards = 6;
/// Of those, as many have corrections of their own; with all of them the small problem is a fifth
/// larger and no fewer iterations are needed.
constexpr int kCorrectedGuards = 2;
/// Iterations on the finest grid within which the worst vector's residual, or change, has to shrink
/// to this share of the least so far. Where the rounding of float32 is all that is left, it does
/// not.
constexpr int kPatience = 30;
constexpr double kProgress = 0.9;
/// The share of the tolerance that is aimed at: A X is carried along with X, not computed anew, and
/// its rounding is not in the norms.
constexpr double kMargin = 0.98;
/// Iterations on each grid but the finest: until eigenvalues change by no more than this many times
/// what the finest grid asks for. Vectors that show only from some grid on, those of small things,
/// are found there, where it is cheap; to solve more exactly what is only about right is no use.
constexpr int kCoarseIterations = 8;
constexpr double kCoarselySettled = 60;
/// Eigenvalues of I - A may change by this share in the last iteration: residuals as small as
/// those wanted can hide mixtures of vectors whose eigenvalues are smaller still.
constexpr double kSettled = 1e-3;
/// And by this much, which float vectors may not resolve.
constexpr double kResolved = 1e-7;
/// Corrections of which less than this share of the squared norm is new are freed from what is old
/// before they are multiplied by A: the difference of their products would be rounding errors.
constexpr double kMostlyOld = 1e-4;

int columns_for(const EigenParameters& parameters) {
  return block_columns(parameters.vectors + std::max(kGuards, parameters.vectors / 8));
}

using DenseMap = Eigen::Map<const Eigen::MatrixXd>;

/// Blocks of the finest grid's size that serve every level in turn.
class Multilevel {
 public:
  Multilevel(Context& context, CoarseLevels levels, const EigenParameters& parameters,
             std::size_t rows, const Watch& watch)
      : context_(context),
        levels_(std::move(levels)),
        parameters_(parameters),
        watch_(watch),
        columns_(columns_for(parameters)),
        corrected_(parameters.vectors + kCorrectedGuards),
        kernels_(context, columns_, rows) {
    for (Buffer<float>* block : {&x_, &w_, &p_, &ax_, &ap_, &b_, &t_}) {
      *block =
          context.allocate<float>(rows * static_cast<std::size_t>(columns_), "a block of vectors");
    }
  }

  KrylovResult run(std::size_t pitch);

 private:
  RitzStep small_problem(const BlockRitz::Gram& gram, double least_new) const;
  void project(int level, int block, const BlockRitz::Gram& gram);
  void ritz(int level, int blocks);
  void iterate(int level, int blocks);
  bool solve_level(int level, int most);
  void report(double share) {
    share_ = std::max(share_, share);  // It never falls.
    watch_.report("eigenvectors", share_);
  }
  std::int64_t products() const { return levels_.passes(0) * columns_; }

  Context& context_;
  CoarseLevels levels_;
  EigenParameters parameters_;
  const Watch& watch_;
  int columns_;
  /// Vectors from this on are not corrected themselves.
  int corrected_;
  BlockRitz kernels_;
  Buffer<float> x_;   ///< The vectors, the trivial one first.
  Buffer<float> w_;   ///< Preconditioned residuals.
  Buffer<float> p_;   ///< What the last iteration added to x.
  Buffer<float> ax_;  ///< Their products with A; that of w is kept in b_.
  Buffer<float> ap_;
  Buffer<float> b_;  ///< Residuals.
  Buffer<float> t_;
  std::vector<double> theta_;
  std::vector<double> norms_;  ///< Of the residuals.
  /// How far each vector is from what is asked for: 1 and less is enough.
  std::vector<double> excess_;
  std::vector<double> change_;  ///< The same of the eigenvalue alone.
  int iterations_ = 0;
  double share_ = 0;
};

RitzStep Multilevel::small_problem(const BlockRitz::Gram& gram, double least_new) const {
  // A vector that has converged needs no correction of its own, which would be rounding errors.
  std::vector<bool> skipped(static_cast<std::size_t>(gram.side), false);
  for (int i = columns_; i < gram.side; ++i) {
    const int column = i % columns_;
    skipped[static_cast<std::size_t>(i)] =
        column >= corrected_ || excess_[static_cast<std::size_t>(column)] <= 1;
  }
  return solve_ritz(DenseMap(gram.with_self.data(), gram.side, gram.side),
                    DenseMap(gram.with_product.data(), gram.side, gram.side), columns_, skipped,
                    least_new);
}

/// Takes out of w (block 1) or p (2) what lies along x, of which t_ gets the negative.
void Multilevel::project(int level, int block, const BlockRitz::Gram& gram) {
  const auto wide = static_cast<std::size_t>(columns_);
  std::vector<float> rotation(2 * wide * wide, 0.0F);
  for (std::size_t i = 0; i < wide; ++i) {
    rotation[i * wide + i] = 1;
    for (std::size_t j = 0; j < wide; ++j) {
      rotation[(wide + i) * wide + j] =
          static_cast<float>(-gram.with_self[i * static_cast<std::size_t>(gram.side) +
                                             static_cast<std::size_t>(block) * wide + j]);
    }
  }
  kernels_.rotation(rotation);
  Buffer<float>& corrections = block == 1 ? w_ : p_;
  kernels_.combine({&corrections, &x_, &t_}, 2, levels_.rows(level));
  levels_.product(level, corrections, block == 1 ? b_ : ap_);
}

/// Rotates x (and p) to the Ritz vectors of the first `blocks` of x, w, p; b_ = their residuals.
void Multilevel::ritz(int level, int blocks) {
  const std::size_t rows = levels_.rows(level);
  const std::array<Buffer<float>*, 3> s = {&x_, &w_, &p_};
  const std::array<Buffer<float>*, 3> as = {&ax_, &b_, &ap_};
  BlockRitz::Gram gram = kernels_.gram(s, as, blocks, rows);
  RitzStep step = small_problem(gram, kMostlyOld);
  if (!step.taken) {
    for (int block = 1; block < blocks; ++block) project(level, block, gram);
    gram = kernels_.gram(s, as, blocks, rows);
    step = small_problem(gram, -INFINITY);
  }
  const std::vector<double> before = std::exchange(theta_, step.values);
  kernels_.rotation(step.rotation);
  kernels_.combine(s, blocks, rows);
  kernels_.combine(as, blocks, rows);
  norms_ = kernels_.residual(x_, ax_, std::vector<float>(theta_.begin(), theta_.end()), rows, b_);
  for (std::size_t k = 1; k < theta_.size(); ++k) {
    const double settled = std::max(kSettled * (1 - theta_[k]), kResolved);
    change_[k] = std::abs(theta_[k] - before[k]) / settled;
    excess_[k] = std::max(norms_[k] / (kMargin * parameters_.tolerance), change_[k]);
  }
}

void Multilevel::iterate(int level, int blocks) {
  levels_.precondition(level, b_, w_, t_);
  levels_.product(level, w_, b_);
  ritz(level, blocks);
  ++iterations_;
}

/// Iterates on x_, which holds a start, at most `most` times; true if it converged.
bool Multilevel::solve_level(int level, int most) {
  theta_.assign(static_cast<std::size_t>(columns_), 0);
  excess_.assign(static_cast<std::size_t>(columns_), INFINITY);
  change_ = excess_;
  levels_.product(level, x_, ax_);
  ritz(level, 1);
  double least = INFINITY;
  int stalled = 0;
  for (int k = 0; k < most; ++k) {
    iterate(level, k == 0 ? 2 : 3);
    const auto worst = [this](const std::vector<double>& each) {
      return *std::max_element(each.begin() + 1, each.begin() + parameters_.vectors);
    };
    const double excess = worst(excess_);
    report(level == 0 ? 0.99 / (1 + std::log2(1 + excess)) : 0);
    if (excess <= 1 || (level > 0 && worst(change_) <= kCoarselySettled)) return true;
    if (level == 0 && products() >= parameters_.max_products) return false;
    stalled = excess < kProgress * least ? 0 : stalled + 1;
    least = std::min(least, excess);
    if (stalled > kPatience) return false;
  }
  return false;
}

KrylovResult Multilevel::run(std::size_t pitch) {
  const int last = levels_.count() - 1;
  x_.upload(levels_.last_vectors());
  KrylovResult result;
  result.solver = "multilevel";
  result.levels = levels_.count();
  for (int level = last - 1; level >= 0; --level) {
    levels_.prolong(level, x_, t_);
    std::swap(x_, t_);
    const bool converged =
        solve_level(level, level > 0 ? kCoarseIterations : parameters_.max_products);
    if (level == 0) result.converged = converged;
  }
  result.count = parameters_.vectors;
  result.restarts = iterations_;
  result.more_passes = levels_.passes(0);
  result.more_products = products();
  const std::size_t rows = levels_.rows(0);
  result.basis =
      context_.allocate<float>(pitch * static_cast<std::size_t>(result.count), "eigenvectors");
  kernels_.extract(x_, rows, result.count, pitch, result.basis);
  return result;
}

}  // namespace

std::optional<KrylovResult> multilevel_eigenvectors(Context& context, const DiaMatrix& matrix,
                                                    const Grid& grid, const Stencil& stencil,
                                                    const Buffer<float>& sqrt_degree,
                                                    const std::vector<float>& degrees,
                                                    const EigenParameters& parameters,
                                                    const Watch& watch) {
  std::optional<CoarseLevels> levels = CoarseLevels::build(
      context, matrix, grid, stencil, sqrt_degree, degrees, columns_for(parameters));
  if (!levels) return std::nullopt;
  return Multilevel(context, std::move(*levels), parameters, grid.rows(), watch)
      .run(matrix.shape.pitch);
}

void plan_multilevel(MemoryPlan& plan, const Grid& grid, const Stencil& stencil,
                     const EigenParameters& parameters) {
  const int columns = columns_for(parameters);
  const std::size_t block = grid.rows() * static_cast<std::size_t>(columns) * sizeof(float);
  for (int k = 0; k < 7; ++k) plan.add("a block of vectors of the eigensolver", block);
  plan.add("coarser grids of the eigensolver", CoarseLevels::memory(grid, stencil, columns));
  plan.add("dot products of the eigensolver", BlockRitz::memory(columns, grid.rows()));
  plan.add("the eigenvectors",
           dia_pitch(grid.rows()) * static_cast<std::size_t>(parameters.vectors) * sizeof(float));
}

}  // namespace diacut
