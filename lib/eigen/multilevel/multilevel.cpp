#include "eigen/multilevel/multilevel.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "core/parallel.hpp"
#include "eigen/lobpcg/ritz.hpp"
#include "eigen/multilevel/coarse_levels.hpp"

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
/// are found there, where it is cheaper; to solve more exactly what is only about right is no use.
constexpr int kCoarseIterations = 8;
constexpr double kCoarselySettled = 20;
/// Grids of fewer elements an image are passed over, unless they are among the last before the
/// finest: what iterations there would find, as many fewer on the next one do, and on a GPU they
/// take hardly longer. Without the last ones, some photographs of few pixels do not converge.
constexpr std::size_t kFirstIterated = 3000;
constexpr int kAlwaysIterated = 2;
/// Eigenvalues of I - A may change by this share in the last iteration: residuals as small as
/// those wanted can hide mixtures of vectors whose eigenvalues are smaller still.
constexpr double kSettled = 1e-3;
/// And by this much, which float vectors may not resolve.
constexpr double kResolved = 1e-7;
/// Last steps of which less than this share of the squared norm is outside of the vectors so far
/// are not used again: the difference of products with A would be rounding errors.
constexpr double kMostlyOld = 1e-4;

int columns_for(const EigenParameters& parameters) {
  return block_columns(parameters.vectors + std::max(kGuards, parameters.vectors / 8));
}

using DenseMap = Eigen::Map<const Eigen::MatrixXd>;

/// What is known of one image's vectors on the grid that is worked on, one value a column.
struct Progress {
  std::vector<double> theta;
  /// The vectors that get corrections: the columns of x that those of w and p are of, in order.
  std::vector<std::int32_t> corrected;
  /// [X P]' (I - A) [X P], as it follows from that before the last step.
  Eigen::MatrixXd energy;
  std::vector<double> norms;  ///< Of the residuals.
  /// How far each vector is from what is asked for: 1 and less is enough.
  std::vector<double> excess;
  std::vector<double> change;  ///< The same of the eigenvalue alone.
  double least = INFINITY;     ///< The worst excess so far, at its least.
  int stalled = 0;
  int iterations = 0;         ///< On all grids.
  std::int64_t passes = 0;    ///< Over its matrix on the finest grid.
  std::int64_t products = 0;  ///< The same with each vector that it had a use for.
};

/// Blocks of the finest grid's size that serve every level in turn. Images of a batch go through
/// the same iterations, each with a small problem of its own, until the last of them is done; one
/// that is done before is left as it is, so that it has the same result as alone.
class Multilevel {
 public:
  Multilevel(Context& context, CoarseLevels levels, const EigenParameters& parameters,
             const Batch& batch, const Watch& watch)
      : context_(context),
        levels_(std::move(levels)),
        parameters_(parameters),
        batch_(batch),
        watch_(watch),
        columns_(columns_for(parameters)),
        corrected_(parameters.vectors + kCorrectedGuards),
        kernels_(levels_.kernels()),
        images_(static_cast<std::size_t>(batch.count)) {
    for (Buffer<float>* block : {&x_, &w_, &p_, &b_, &t_}) {
      *block = context.allocate<float>(batch.grid().rows() * static_cast<std::size_t>(columns_),
                                       "a block of vectors");
      // What is between images is not always written, and has to be a number.
      if (batch.count > 1) block->fill(0);
    }
  }

  /// `sqrt_degree`: of the finest grid.
  std::vector<DeviceEigenvectors> run(const Buffer<float>& sqrt_degree);

 private:
  std::size_t wide() const { return static_cast<std::size_t>(columns_); }
  /// The images that are not done are worked on: the k-th of them, and its place in the batch.
  std::size_t place(std::size_t k) {
    return static_cast<std::size_t>(levels_.active().places()[k]);
  }
  Progress& active(std::size_t k) { return images_[place(k)]; }
  RitzStep step(Progress& image, const BlockRitz::Gram& gram, bool first) const;
  Eigen::MatrixXd own_part(const Progress& image, const std::vector<double>& of_blocks,
                           int side) const;
  Eigen::MatrixXd energy(const Progress& image, Eigen::MatrixXd with_product) const;
  std::vector<RitzStep> small_problems(const std::vector<BlockRitz::Gram>& grams, bool first);
  std::vector<float> eigenvalues() const;
  void upload(const std::vector<RitzStep>& steps, int blocks);
  void laplacian(int level, const Buffer<float>& x, Buffer<float>& out, bool corrections);
  template <class Work>
  void count_passes(const Work& work, bool corrections);
  void choose_corrections(int level, bool first);
  void iterate(int level, bool first);
  void take_residuals();
  double worst(const std::vector<double>& each) const {
    return *std::max_element(each.begin() + 1, each.begin() + parameters_.vectors);
  }
  bool judge(int level);
  void solve_level(int level, int most);
  std::vector<DeviceEigenvectors> results(const Buffer<float>& sqrt_degree);
  void report(double share) {
    share_ = std::max(share_, share);  // It never falls.
    watch_.report("eigenvectors", share_);
  }

  Context& context_;
  CoarseLevels levels_;
  EigenParameters parameters_;
  Batch batch_;
  const Watch& watch_;
  int columns_;
  /// Vectors from this on are not corrected themselves.
  int corrected_;
  BlockRitz& kernels_;
  /// Of blocks w and p: enough for the corrections of the image that has the most.
  int width_ = 0;
  Buffer<float> x_;  ///< The vectors, the trivial one first.
  Buffer<float> w_;  ///< Preconditioned residuals.
  Buffer<float> p_;  ///< What the last iteration added to x.
  Buffer<float> b_;  ///< The product of I - A with x; then residuals, or its product with w.
  Buffer<float> t_;
  const WaitAtEnd uploaded_{context_};
  std::vector<Progress> images_;
  double share_ = 0;
};

/// Of a matrix over S = [x w p] as the blocks hold it, what concerns an image's own columns: blocks
/// may be wider, and how wide must not show in any rounding.
Eigen::MatrixXd Multilevel::own_part(const Progress& image, const std::vector<double>& of_blocks,
                                     int side) const {
  const auto own = static_cast<Eigen::Index>(image.corrected.size());
  const Eigen::Index blocks = side == columns_ ? 0 : (side - columns_) / width_;
  std::vector<Eigen::Index> from(static_cast<std::size_t>(columns_ + blocks * own));
  std::iota(from.begin(), from.begin() + columns_, 0);
  for (Eigen::Index block = 0; block < blocks; ++block) {
    const auto first = from.begin() + columns_ + block * own;
    std::iota(first, first + own, columns_ + block * width_);
  }
  return DenseMap(of_blocks.data(), side, side)(from, from);
}

/// S' (I - A) S, of which the products of w were computed; what is left is known.
Eigen::MatrixXd Multilevel::energy(const Progress& image, Eigen::MatrixXd with_product) const {
  const Eigen::Index own = image.energy.rows() - columns_;
  const Eigen::Index p = columns_ + own;
  with_product.topLeftCorner(columns_, columns_) = image.energy.topLeftCorner(columns_, columns_);
  if (with_product.rows() == p) return with_product;
  with_product.block(0, p, columns_, own) = image.energy.topRightCorner(columns_, own);
  with_product.block(p, 0, own, columns_) = image.energy.bottomLeftCorner(own, columns_);
  with_product.block(p, p, own, own) = image.energy.bottomRightCorner(own, own);
  return with_product;
}

/// Solves an image's small problem. What x holds at first are not Ritz vectors: the first step's
/// change is told from their Rayleigh quotients.
RitzStep Multilevel::step(Progress& image, const BlockRitz::Gram& gram, bool first) const {
  const Eigen::MatrixXd with_self = own_part(image, gram.with_self, gram.side);
  Eigen::MatrixXd with_laplacian = own_part(image, gram.with_product, gram.side);
  if (first) {
    for (Eigen::Index c = 1; c < columns_; ++c) {
      const double square = with_self(c, c);
      image.theta[static_cast<std::size_t>(c)] = square > 0 ? 1 - with_laplacian(c, c) / square : 0;
    }
  } else {
    with_laplacian = energy(image, std::move(with_laplacian));
  }
  const Eigen::Index side = with_self.rows();
  const auto own = static_cast<Eigen::Index>(image.corrected.size());
  std::vector<bool> skipped(static_cast<std::size_t>(side), false);
  for (Eigen::Index i = columns_ + own; i < side; ++i) {
    const double old = with_self.col(i).head(columns_).squaredNorm();
    skipped[static_cast<std::size_t>(i)] = with_self(i, i) - old < kMostlyOld * with_self(i, i);
  }
  RitzStep step = solve_ritz(with_self, with_self - with_laplacian, columns_, skipped);
  // Of what x and p become: x = S Q and p = x without x's own part of it.
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> q(
      step.rotation.data(), side, columns_);
  Eigen::MatrixXd both = Eigen::MatrixXd::Zero(side, columns_ + own);
  both.leftCols(columns_) = q.cast<double>();
  for (Eigen::Index k = 0; k < own; ++k) {
    both.col(columns_ + k).tail(side - columns_) =
        both.col(image.corrected[static_cast<std::size_t>(k)]).tail(side - columns_);
  }
  image.energy = both.transpose() * with_laplacian * both;
  return step;
}

std::vector<RitzStep> Multilevel::small_problems(const std::vector<BlockRitz::Gram>& grams,
                                                 bool first) {
  std::vector<RitzStep> steps(grams.size());
  parallel_for(static_cast<int>(grams.size()), [&](int k) {
    const auto at = static_cast<std::size_t>(k);
    Progress& image = active(at);
    steps[at] = step(image, grams[at], first);
    const std::vector<double> before = std::exchange(image.theta, steps[at].values);
    for (std::size_t c = 1; c < wide(); ++c) {
      const double settled = std::max(kSettled * (1 - image.theta[c]), kResolved);
      image.change[c] = std::abs(image.theta[c] - before[c]) / settled;
    }
    image.excess = image.change;
  });
  return steps;
}

/// levels_.laplacian() of as many columns as x has, or as w has, counted.
void Multilevel::laplacian(int level, const Buffer<float>& x, Buffer<float>& out,
                           bool corrections) {
  count_passes([&] { levels_.laplacian(level, x, out, corrections ? width_ : columns_); },
               corrections);
}

template <class Work>
void Multilevel::count_passes(const Work& work, bool corrections) {
  const std::int64_t before = levels_.passes(0);
  work();
  const std::int64_t passes = levels_.passes(0) - before;
  for (std::size_t k = 0; k < levels_.active().count(); ++k) {
    Progress& image = active(k);
    image.passes += passes;
    image.products +=
        passes * (corrections ? static_cast<std::int64_t>(image.corrected.size()) : columns_);
  }
}

/// Those of I - A of all images.
std::vector<float> Multilevel::eigenvalues() const {
  std::vector<float> values;
  for (const Progress& image : images_) {
    for (const double theta : image.theta) values.push_back(static_cast<float>(1 - theta));
  }
  return values;
}

/// The rotation to the Ritz vectors, and of p to what was added to them.
void Multilevel::upload(const std::vector<RitzStep>& steps, int blocks) {
  std::vector<float> rotation;
  std::vector<std::int32_t> places(steps.size() * (wide() + 1), -1);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const std::vector<std::int32_t>& corrected = active(k).corrected;
    // Each block's rows, and zeros for what is in it beyond the image's own.
    const std::size_t own_rows = corrected.size() * wide();
    auto from = steps[k].rotation.begin();
    const auto add = [&](std::size_t values, std::size_t all) {
      rotation.insert(rotation.end(), from, from + static_cast<std::ptrdiff_t>(values));
      rotation.resize(rotation.size() + all - values, 0.0F);
      from += static_cast<std::ptrdiff_t>(values);
    };
    add(wide() * wide(), wide() * wide());
    for (int block = 1; block < blocks; ++block) {
      add(own_rows, static_cast<std::size_t>(width_) * wide());
    }
    const auto own = std::span(places).subspan(k * (wide() + 1), wide() + 1);
    for (std::size_t i = 0; i < corrected.size(); ++i) {
      own[static_cast<std::size_t>(corrected[i])] = static_cast<std::int32_t>(i);
    }
    own[wide()] = static_cast<std::int32_t>(corrected.size());
  }
  kernels_.step(eigenvalues(), places, rotation);
}

/// How far the vectors are from converged on the finest grid, b_ being their product.
void Multilevel::take_residuals() {
  const std::vector<double> norms = kernels_.residual(x_, levels_.segments(0), b_);
  for (std::size_t i = 0; i < levels_.active().count(); ++i) {
    Progress& image = active(i);
    const auto own = norms.begin() + static_cast<std::ptrdiff_t>(i * wide());
    image.norms.assign(own, own + columns_);
    for (std::size_t k = 1; k < wide(); ++k) {
      image.excess[k] = std::max(image.norms[k] / parameters_.tolerance, image.change[k]);
    }
  }
}

/// Chooses the vectors that have not converged: what would correct the others is rounding errors.
/// Leaves their residuals in p_ at first, and in b_ later, and then in p_ their last steps.
void Multilevel::choose_corrections(int level, bool first) {
  const std::size_t count = levels_.active().count();
  std::vector<std::vector<std::int32_t>> before(count);
  std::size_t most = 1;
  for (std::size_t k = 0; k < count; ++k) {
    Progress& image = active(k);
    before[k] = std::exchange(image.corrected, {});
    for (int column = 1; column < corrected_; ++column) {
      if (image.excess[static_cast<std::size_t>(column)] > 1) image.corrected.push_back(column);
    }
    most = std::max(most, image.corrected.size());
  }
  const int width_before =
      std::exchange(width_, kernels_.correction_columns(static_cast<int>(most)));
  const auto width = static_cast<std::size_t>(width_);
  std::vector<std::int32_t> chosen(count * width, -1);
  std::vector<std::int32_t> kept(count * width, -1);
  for (std::size_t k = 0; k < count; ++k) {
    Progress& image = active(k);
    std::copy(image.corrected.begin(), image.corrected.end(),
              chosen.begin() + static_cast<std::ptrdiff_t>(k * width));
    if (first) continue;
    // Where those of [x p] were whose energies are known; -1 where there were none.
    std::vector<Eigen::Index> from(wide() + image.corrected.size(), -1);
    std::iota(from.begin(), from.begin() + columns_, 0);
    for (std::size_t i = 0; i < image.corrected.size(); ++i) {
      const auto found = std::lower_bound(before[k].begin(), before[k].end(), image.corrected[i]);
      if (found == before[k].end() || *found != image.corrected[i]) continue;
      const auto at = found - before[k].begin();
      kept[k * width + i] = static_cast<std::int32_t>(at);
      from[wide() + i] = columns_ + at;
    }
    const auto side = static_cast<Eigen::Index>(from.size());
    image.energy = Eigen::MatrixXd::NullaryExpr(
        side, side, [&, known = image.energy](Eigen::Index i, Eigen::Index j) {
          const Eigen::Index row = from[static_cast<std::size_t>(i)];
          const Eigen::Index column = from[static_cast<std::size_t>(j)];
          return row < 0 || column < 0 ? 0 : known(row, column);
        });
  }
  const Segments rows = levels_.segments(level);
  kernels_.choose(chosen, kept);
  if (first) {
    kernels_.rest(x_, b_, width_, rows, p_);
    return;
  }
  kernels_.rest(x_, b_, width_, rows, t_);
  std::swap(b_, t_);
  bool same = width_ == width_before;
  for (std::size_t k = 0; k < count; ++k) same = same && before[k] == active(k).corrected;
  if (same) return;
  kernels_.gather(p_, width_before, width_, rows, t_);
  std::swap(p_, t_);
}

/// From x_ and its product in b_ to better vectors.
void Multilevel::iterate(int level, bool first) {
  choose_corrections(level, first);
  const Segments rows = levels_.segments(level);
  Buffer<float>* const none = nullptr;
  Buffer<float>& residuals = first ? p_ : b_;
  count_passes([&] { levels_.precondition(level, residuals, w_, t_, width_); }, true);
  // Most of a correction may lie along x: of the rest, as a difference of what has products, only
  // rounding errors would be left.
  kernels_.project(x_, width_, rows, w_);
  laplacian(level, w_, residuals, true);
  const std::array<Buffer<float>*, 3> s = {&x_, &w_, &p_};
  const int blocks = first ? 2 : 3;
  const std::vector<RitzStep> steps = small_problems(
      kernels_.gram(s, {first ? &b_ : none, &residuals, none}, blocks, width_, rows), first);
  upload(steps, blocks);
  kernels_.combine(s, blocks, width_, rows, t_);
  std::swap(p_, t_);
}

/// Notes which images have what this level can give them; whether all do.
bool Multilevel::judge(int level) {
  double excess = 0;
  std::vector<std::int32_t> left;
  for (const std::int32_t at : levels_.active().places()) {
    Progress& image = images_[static_cast<std::size_t>(at)];
    ++image.iterations;
    const double own = worst(image.excess);
    image.stalled = own < kProgress * image.least ? 0 : image.stalled + 1;
    image.least = std::min(image.least, own);
    const bool enough = level == 0 ? own <= 1 || image.products >= parameters_.max_products
                                   : own <= kCoarselySettled;
    if (!enough && image.stalled <= kPatience) left.push_back(at);
    excess = std::max(excess, own);
  }
  report(level == 0 ? 0.99 / (1 + std::log2(1 + excess)) : 0);
  if (!left.empty()) levels_.active().set(left);
  return left.empty();
}

/// Iterates on x_, which holds a start, at most `most` times.
void Multilevel::solve_level(int level, int most) {
  for (Progress& image : images_) {
    image.excess.assign(wide(), INFINITY);
    image.change = image.excess;
    image.least = INFINITY;
    image.stalled = 0;
  }
  kernels_.step(eigenvalues());
  laplacian(level, x_, b_, false);
  for (int k = 0; k < most; ++k) {
    iterate(level, k == 0);
    // On a coarser grid, eigenvalues alone tell what to go on with.
    if (level > 0 && (judge(level) || k + 1 == most)) return;
    laplacian(level, x_, b_, false);
    if (level > 0) continue;
    take_residuals();
    if (judge(level)) return;
  }
}

/// Of x_ on the finest grid: ordered and signed.
std::vector<DeviceEigenvectors> Multilevel::results(const Buffer<float>& sqrt_degree) {
  levels_.active().set_all();
  const Segments segments = levels_.segments(0);
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
    result.rows = batch_.image.rows();
    result.pitch = dia_pitch(result.rows);
    result.count = count;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t from = first + static_cast<std::size_t>(order[k]);
      columns[first + k] = peaks[from] < 0 ? -order[k] - 1 : order[k] + 1;
      result.values.push_back(k == 0 ? 0 : values[from]);  // The first is known, not computed.
      result.report.residuals.push_back(images_[i].norms[static_cast<std::size_t>(order[k])]);
    }
    result.report.solver = "multilevel";
    result.report.converged = worst(images_[i].excess) <= 1;
    result.report.levels = levels_.count();
    result.report.restarts = images_[i].iterations;
    result.report.passes = images_[i].passes;
    result.report.products = images_[i].products;
    results.push_back(std::move(result));
  }
  kernels_.columns_wanted(std::move(columns));
  for (std::size_t i = 0; i < images_.size(); ++i) {
    DeviceEigenvectors& result = results[i];
    result.basis =
        context_.allocate<float>(result.pitch * static_cast<std::size_t>(count), "eigenvectors");
    kernels_.extract(x_, i * batch_.segment(), result.rows, i * wide(), count, result.pitch,
                     result.basis);
  }
  return results;
}

std::vector<DeviceEigenvectors> Multilevel::run(const Buffer<float>& sqrt_degree) {
  x_.upload_later(levels_.last_vectors());
  for (std::size_t k = 0; k < images_.size(); ++k) {
    const auto first = levels_.last_values().begin() + static_cast<std::ptrdiff_t>(k * wide());
    images_[k].theta.assign(first, first + columns_);
  }
  for (int level = levels_.count() - 2; level >= 0; --level) {
    levels_.active().set_all();
    levels_.prolong(level, x_, t_);
    std::swap(x_, t_);
    for (Progress& image : images_) {
      for (double& theta : image.theta) theta = 1 - (1 - theta) / CoarseLevels::kHops;
    }
    if (level > kAlwaysIterated && levels_.segments(level).rows < kFirstIterated) continue;
    solve_level(level, level > 0 ? kCoarseIterations : parameters_.max_products);
  }
  return results(sqrt_degree);
}

}  // namespace

std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, const DiaMatrix& matrix, const Batch& batch, const Stencil& stencil,
    const Buffer<float>& sqrt_degree, std::size_t least, const EigenParameters& parameters,
    const Watch& watch) {
  std::optional<CoarseLevels> levels = CoarseLevels::build(
      context, matrix, batch, stencil, sqrt_degree, least, columns_for(parameters));
  if (!levels) return std::nullopt;
  return Multilevel(context, std::move(*levels), parameters, batch, watch).run(sqrt_degree);
}

std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, DiaMatrix&& matrix, const SymmetricDia& compressed, const Batch& batch,
    const Stencil& stencil, const Buffer<float>& sqrt_degree, std::size_t least,
    const EigenParameters& parameters, const Watch& watch) {
  std::optional<CoarseLevels> levels =
      CoarseLevels::build(context, std::move(matrix), compressed, batch, stencil, sqrt_degree,
                          least, columns_for(parameters));
  if (!levels) return std::nullopt;
  return Multilevel(context, std::move(*levels), parameters, batch, watch).run(sqrt_degree);
}

void budget_multilevel(MemoryBudget& budget, const Batch& batch, const Stencil& stencil,
                       const EigenParameters& parameters, MatrixForm form) {
  const int columns = columns_for(parameters);
  const std::size_t rows = batch.grid().rows();
  const std::size_t block = rows * static_cast<std::size_t>(columns) * sizeof(float);
  // In the end the eigenvectors take the place of some.
  for (int k = 0; k < 5; ++k) budget.add("a block of vectors of the eigensolver", block);
  budget.add("coarser grids of the eigensolver",
             CoarseLevels::memory(batch, stencil, columns, form).held);
  budget.add("dot products of the eigensolver",
             BlockRitz::memory(columns, batch.segment(), static_cast<std::size_t>(batch.count)));
}

std::size_t multilevel_building_memory(const Grid& grid, const Stencil& stencil,
                                       const EigenParameters& parameters) {
  return CoarseLevels::memory(Batch(grid), stencil, columns_for(parameters),
                              MatrixForm::kCompressed)
      .building;
}

}  // namespace diacut
