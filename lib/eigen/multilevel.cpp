#include "eigen/multilevel.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "core/parallel.hpp"
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

constexpr auto all_active = [](std::size_t) { return true; };

using DenseMap = Eigen::Map<const Eigen::MatrixXd>;

/// What is known of one image's vectors on the grid that is worked on, one value a column.
struct Progress {
  std::vector<double> theta;
  /// [X P]' (I - A) [X P], as it follows from that before the last step.
  Eigen::MatrixXd energy;
  /// How far each vector is from what is asked for: 1 and less is enough.
  std::vector<double> excess;
  std::vector<double> change;  ///< The same of the eigenvalue alone.
  double least = INFINITY;     ///< The worst excess so far, at its least.
  int stalled = 0;
  int iterations = 0;       ///< On all grids.
  std::int64_t passes = 0;  ///< Over its matrix on the finest grid that it had a use for.
  bool done = false;
};

/// Blocks of the finest grid's size that serve every level in turn. Images of a stack go through
/// the same iterations, each with a small problem of its own, until the last of them is done; one
/// that is done before is left as it is, so that it has the same result as alone.
class Multilevel {
 public:
  Multilevel(Context& context, CoarseLevels levels, const EigenParameters& parameters,
             const Stack& stack, const Watch& watch)
      : context_(context),
        levels_(std::move(levels)),
        parameters_(parameters),
        stack_(stack),
        watch_(watch),
        columns_(columns_for(parameters)),
        corrected_(parameters.vectors + kCorrectedGuards),
        kernels_(context, columns_, stack.segment(), levels_.shared_active()),
        images_(static_cast<std::size_t>(stack.count)) {
    for (Buffer<float>* block : {&x_, &w_, &p_, &b_, &t_}) {
      *block = context.allocate<float>(stack.grid().rows() * static_cast<std::size_t>(columns_),
                                       "a block of vectors");
      // What is between images is not always written, and has to be a number.
      if (stack.count > 1) block->fill(0);
    }
  }

  /// `sqrt_degree`: of the finest grid.
  std::vector<DeviceEigenvectors> run(const Buffer<float>& sqrt_degree);

 private:
  using Grams = std::vector<BlockRitz::Gram>;

  std::size_t wide() const { return static_cast<std::size_t>(columns_); }
  /// The images that are not done are worked on: the k-th of them, and its place in the stack.
  std::size_t place(std::size_t k) {
    return static_cast<std::size_t>(levels_.active().places()[k]);
  }
  Progress& active(std::size_t k) { return images_[place(k)]; }
  void small_problems(const Grams& grams, bool all, double least_new, std::vector<RitzStep>& steps);
  Eigen::MatrixXd energy(const Progress& image, const BlockRitz::Gram& gram, bool all) const;
  void step(Progress& image, const BlockRitz::Gram& gram, bool all, double least_new,
            RitzStep& step) const;
  void project(int level, int block, const Grams& grams, const std::vector<RitzStep>& steps);
  void ritz(int level, int blocks);
  template <class HasUse>
  void laplacian(int level, const Buffer<float>& x, Buffer<float>& out, const HasUse& has_use);
  template <class Work, class HasUse>
  void count_passes(const Work& work, const HasUse& has_use);
  void iterate(int level, int blocks);
  double worst(const std::vector<double>& each) const {
    return *std::max_element(each.begin() + 1, each.begin() + parameters_.vectors);
  }
  void judge(int level, Progress& image) const;
  void solve_level(int level, int most);
  std::vector<DeviceEigenvectors> results(const Buffer<float>& sqrt_degree);
  void report(double share) {
    share_ = std::max(share_, share);  // It never falls.
    watch_.report("eigenvectors", share_);
  }

  Context& context_;
  CoarseLevels levels_;
  EigenParameters parameters_;
  Stack stack_;
  const Watch& watch_;
  int columns_;
  /// Vectors from this on are not corrected themselves.
  int corrected_;
  BlockRitz kernels_;
  Buffer<float> x_;  ///< The vectors, the trivial one first.
  Buffer<float> w_;  ///< Preconditioned residuals.
  Buffer<float> p_;  ///< What the last iteration added to x.
  Buffer<float> b_;  ///< Residuals; or the product of I - A with x, to make them of, or with w.
  Buffer<float> t_;
  std::vector<Progress> images_;
  double share_ = 0;
};

/// S' (I - A) S. `all`: of all blocks of S but x, if there are others, products were computed, and
/// else of w alone; what is left is known.
Eigen::MatrixXd Multilevel::energy(const Progress& image, const BlockRitz::Gram& gram,
                                   bool all) const {
  Eigen::MatrixXd result = DenseMap(gram.with_product.data(), gram.side, gram.side);
  if (gram.side == columns_) return result;
  result.topLeftCorner(columns_, columns_) = image.energy.topLeftCorner(columns_, columns_);
  if (gram.side == 2 * columns_ || all) return result;
  const Eigen::Index p = 2 * columns_;
  result.block(0, p, columns_, columns_) = image.energy.topRightCorner(columns_, columns_);
  result.block(p, 0, columns_, columns_) = image.energy.bottomLeftCorner(columns_, columns_);
  result.block(p, p, columns_, columns_) = image.energy.bottomRightCorner(columns_, columns_);
  return result;
}

/// Solves an image's small problem, of which `all` is as in energy().
void Multilevel::step(Progress& image, const BlockRitz::Gram& gram, bool all, double least_new,
                      RitzStep& step) const {
  // A vector that has converged needs no correction of its own, which would be rounding errors.
  std::vector<bool> skipped(static_cast<std::size_t>(gram.side), false);
  for (int i = columns_; i < gram.side; ++i) {
    const int column = i % columns_;
    skipped[static_cast<std::size_t>(i)] =
        column >= corrected_ || image.excess[static_cast<std::size_t>(column)] <= 1;
  }
  const DenseMap with_self(gram.with_self.data(), gram.side, gram.side);
  const Eigen::MatrixXd with_laplacian = energy(image, gram, all);
  step = solve_ritz(with_self, with_self - with_laplacian, columns_, skipped, least_new);
  if (!step.taken) return;
  // Of what x and p become, x = S Q and p = x without x's own part of it.
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> q(
      step.rotation.data(), gram.side, columns_);
  Eigen::MatrixXd both(gram.side, 2 * columns_);
  both.leftCols(columns_) = q.cast<double>();
  both.rightCols(columns_) = both.leftCols(columns_);
  both.topRightCorner(columns_, columns_).setZero();
  image.energy = both.transpose() * with_laplacian * both;
}

/// Solves those of the small problems that have no step yet.
void Multilevel::small_problems(const Grams& grams, bool all, double least_new,
                                std::vector<RitzStep>& steps) {
  parallel_for(static_cast<int>(grams.size()), [&](int k) {
    const auto at = static_cast<std::size_t>(k);
    if (!steps[at].taken) step(active(at), grams[at], all, least_new, steps[at]);
  });
}

/// levels_.laplacian(), counted for those of the active images that `has_use` names.
template <class HasUse>
void Multilevel::laplacian(int level, const Buffer<float>& x, Buffer<float>& out,
                           const HasUse& has_use) {
  count_passes([&] { levels_.laplacian(level, x, out); }, has_use);
}

template <class Work, class HasUse>
void Multilevel::count_passes(const Work& work, const HasUse& has_use) {
  const std::int64_t before = levels_.passes(0);
  work();
  for (std::size_t k = 0; k < levels_.active().count(); ++k) {
    if (has_use(k)) active(k).passes += levels_.passes(0) - before;
  }
}

/// Takes out of w (block 1) or p (2) what lies along x, for images without a step. t_ is
/// overwritten.
void Multilevel::project(int level, int block, const Grams& grams,
                         const std::vector<RitzStep>& steps) {
  const std::size_t size = 2 * wide() * wide();
  std::vector<float> rotation(grams.size() * size, 0.0F);
  for (std::size_t image = 0; image < grams.size(); ++image) {
    const auto own = std::span(rotation).subspan(image * size, size);
    const auto side = static_cast<std::size_t>(grams[image].side);
    for (std::size_t i = 0; i < wide(); ++i) {
      own[i * wide() + i] = 1;
      if (steps[image].taken) continue;
      for (std::size_t j = 0; j < wide(); ++j) {
        own[(wide() + i) * wide() + j] = static_cast<float>(
            -grams[image].with_self[i * side + static_cast<std::size_t>(block) * wide() + j]);
      }
    }
  }
  kernels_.rotation(rotation);
  kernels_.combine({block == 1 ? &w_ : &p_, &x_, &t_}, 2, levels_.segments(level));
}

/// Rotates x (and p) to the Ritz vectors of the first `blocks` of x, w, p; b_ = their residuals.
/// Before, b_ is the product of I - A with w or, where that is all, with x. That with x after it is
/// computed anew; what is known of those with x and p suffices for the small problems.
void Multilevel::ritz(int level, int blocks) {
  const Segments rows = levels_.segments(level);
  const std::array<Buffer<float>*, 3> s = {&x_, &w_, &p_};
  Buffer<float>* const none = nullptr;
  Grams grams = blocks == 1 ? kernels_.gram(s, {&b_, none, none}, blocks, rows)
                            : kernels_.gram(s, {none, &b_, none}, blocks, rows);
  std::vector<RitzStep> steps(grams.size());
  for (RitzStep& step : steps) step.taken = false;
  small_problems(grams, false, kMostlyOld, steps);
  if (std::any_of(steps.begin(), steps.end(), [](const RitzStep& step) { return !step.taken; })) {
    for (int block = 1; block < blocks; ++block) project(level, block, grams, steps);
    const auto stepless = [&](std::size_t k) { return !steps[k].taken; };
    laplacian(level, w_, b_, stepless);
    if (blocks > 2) laplacian(level, p_, t_, stepless);
    grams = kernels_.gram(s, {none, &b_, &t_}, blocks, rows);
    small_problems(grams, true, -INFINITY, steps);
  }
  std::vector<float> rotations;
  std::vector<float> eigenvalues;  // Of I - A.
  for (const RitzStep& step : steps) {
    rotations.insert(rotations.end(), step.rotation.begin(), step.rotation.end());
    for (const double value : step.values) eigenvalues.push_back(static_cast<float>(1 - value));
  }
  kernels_.rotation(rotations);
  kernels_.theta(eigenvalues);
  kernels_.combine(s, blocks, rows);
  laplacian(level, x_, b_, all_active);
  const std::vector<double> norms = kernels_.residual(x_, rows, b_);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Progress& image = active(i);
    const std::vector<double> before = std::exchange(image.theta, steps[i].values);
    for (std::size_t k = 1; k < wide(); ++k) {
      const double settled = std::max(kSettled * (1 - image.theta[k]), kResolved);
      image.change[k] = std::abs(image.theta[k] - before[k]) / settled;
      image.excess[k] = std::max(norms[i * wide() + k] / parameters_.tolerance, image.change[k]);
    }
  }
}

void Multilevel::iterate(int level, int blocks) {
  count_passes([&] { levels_.precondition(level, b_, w_, t_); }, all_active);
  laplacian(level, w_, b_, all_active);
  ritz(level, blocks);
}

/// Whether the image has what this level can give it.
void Multilevel::judge(int level, Progress& image) const {
  ++image.iterations;
  const double excess = worst(image.excess);
  image.stalled = excess < kProgress * image.least ? 0 : image.stalled + 1;
  image.least = std::min(image.least, excess);
  image.done = excess <= 1 || (level > 0 && worst(image.change) <= kCoarselySettled) ||
               (level == 0 && image.passes * columns_ >= parameters_.max_products) ||
               image.stalled > kPatience;
}

/// Iterates on x_, which holds a start, at most `most` times.
void Multilevel::solve_level(int level, int most) {
  levels_.active().set_all();
  for (Progress& image : images_) {
    image.theta.assign(wide(), 0);
    image.excess.assign(wide(), INFINITY);
    image.change = image.excess;
    image.least = INFINITY;
    image.stalled = 0;
    image.done = false;
  }
  laplacian(level, x_, b_, all_active);
  ritz(level, 1);
  for (int k = 0; k < most; ++k) {
    iterate(level, k == 0 ? 2 : 3);
    double excess = 0;
    std::vector<std::int32_t> left;
    for (const std::int32_t at : levels_.active().places()) {
      Progress& image = images_[static_cast<std::size_t>(at)];
      judge(level, image);
      excess = std::max(excess, worst(image.excess));
      if (!image.done) left.push_back(at);
    }
    report(level == 0 ? 0.99 / (1 + std::log2(1 + excess)) : 0);
    if (left.empty()) return;
    levels_.active().set(left);
  }
}

/// Of x_ on the finest grid: measured anew, ordered and signed.
std::vector<DeviceEigenvectors> Multilevel::results(const Buffer<float>& sqrt_degree) {
  levels_.active().set_all();
  const Segments segments = levels_.segments(0);
  std::vector<float> eigenvalues;
  for (const Progress& image : images_) {
    for (const double theta : image.theta) eigenvalues.push_back(static_cast<float>(1 - theta));
  }
  laplacian(0, x_, b_, all_active);
  kernels_.theta(eigenvalues);
  const std::vector<double> norms = kernels_.residual(x_, segments, b_);
  kernels_.divide(x_, sqrt_degree, levels_.rows(0), w_);
  const std::vector<double> values =
      kernels_.quadratic_form(levels_.matrix(), levels_.diagonals(), sqrt_degree, w_, segments, t_);
  const std::vector<float> peaks = kernels_.peaks(x_, segments, t_);
  // What is left takes less than these.
  w_ = {};
  p_ = {};
  b_ = {};

  const int count = parameters_.vectors;
  std::vector<DeviceEigenvectors> results;
  std::vector<std::int32_t> columns(images_.size() * wide(), 0);
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const std::size_t first = i * wide();
    std::vector<int> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin() + 1, order.end(), [&](int a, int b) {
      return values[first + static_cast<std::size_t>(a)] <
             values[first + static_cast<std::size_t>(b)];
    });
    DeviceEigenvectors result;
    result.rows = stack_.image.rows();
    result.pitch = dia_pitch(result.rows);
    result.count = count;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t from = first + static_cast<std::size_t>(order[k]);
      columns[first + k] = peaks[from] < 0 ? -order[k] - 1 : order[k] + 1;
      result.values.push_back(k == 0 ? 0 : values[from]);  // The first is known, not computed.
      result.report.residuals.push_back(norms[from]);
    }
    result.report.solver = "multilevel";
    result.report.converged = worst(images_[i].excess) <= 1;
    result.report.levels = levels_.count();
    result.report.restarts = images_[i].iterations;
    result.report.passes = images_[i].passes;
    result.report.products = images_[i].passes * columns_;
    results.push_back(std::move(result));
  }
  kernels_.columns_wanted(columns);
  for (std::size_t i = 0; i < images_.size(); ++i) {
    DeviceEigenvectors& result = results[i];
    result.basis =
        context_.allocate<float>(result.pitch * static_cast<std::size_t>(count), "eigenvectors");
    kernels_.extract(x_, i * stack_.segment(), result.rows, i * wide(), count, result.pitch,
                     result.basis);
  }
  return results;
}

std::vector<DeviceEigenvectors> Multilevel::run(const Buffer<float>& sqrt_degree) {
  x_.upload(levels_.last_vectors());
  for (int level = levels_.count() - 2; level >= 0; --level) {
    levels_.active().set_all();
    levels_.prolong(level, x_, t_);
    std::swap(x_, t_);
    solve_level(level, level > 0 ? kCoarseIterations : parameters_.max_products);
  }
  return results(sqrt_degree);
}

}  // namespace

std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, const DiaMatrix& matrix, const Stack& stack, const Stencil& stencil,
    const Buffer<float>& sqrt_degree, const std::vector<float>& degrees,
    const EigenParameters& parameters, const Watch& watch) {
  std::optional<CoarseLevels> levels = CoarseLevels::build(
      context, matrix, stack, stencil, sqrt_degree, degrees, columns_for(parameters));
  if (!levels) return std::nullopt;
  return Multilevel(context, std::move(*levels), parameters, stack, watch).run(sqrt_degree);
}

std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, DiaMatrix&& matrix, const SymmetricDia& compressed, const Stack& stack,
    const Stencil& stencil, const Buffer<float>& sqrt_degree, const std::vector<float>& degrees,
    const EigenParameters& parameters, const Watch& watch) {
  std::optional<CoarseLevels> levels =
      CoarseLevels::build(context, std::move(matrix), compressed, stack, stencil, sqrt_degree,
                          degrees, columns_for(parameters));
  if (!levels) return std::nullopt;
  return Multilevel(context, std::move(*levels), parameters, stack, watch).run(sqrt_degree);
}

void plan_multilevel(MemoryPlan& plan, const Stack& stack, const Stencil& stencil,
                     const EigenParameters& parameters, MatrixForm form) {
  const int columns = columns_for(parameters);
  const auto images = static_cast<std::size_t>(stack.count);
  const std::size_t rows = stack.grid().rows();
  const std::size_t block = rows * static_cast<std::size_t>(columns) * sizeof(float);
  // In the end the eigenvectors take the place of some.
  for (int k = 0; k < 5; ++k) plan.add("a block of vectors of the eigensolver", block);
  plan.add("coarser grids of the eigensolver",
           CoarseLevels::memory(stack, stencil, columns, form).held);
  plan.add("dot products of the eigensolver", BlockRitz::memory(columns, stack.segment(), images));
}

std::size_t multilevel_building_memory(const Grid& grid, const Stencil& stencil,
                                       const EigenParameters& parameters) {
  return CoarseLevels::memory(Stack(grid), stencil, columns_for(parameters),
                              MatrixForm::kCompressed)
      .building;
}

}  // namespace diacut
