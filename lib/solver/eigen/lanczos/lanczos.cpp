#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "diacut/errors.hpp"
#include "eigen/dense/symmetric_eigenpairs.hpp"
#include "eigen/resolution.hpp"
#include "eigen/solvers.hpp"
#include "opencl/context.hpp"

namespace diacut {

namespace {

/// What is left of a vector after orthogonalisation, relative to the operator, below which the
/// basis spans an invariant subspace and only rounding errors point elsewhere.
constexpr double kBreakdown = 1e-5;
/// Steps of plain Lanczos that bound the spectrum.
constexpr int kProbeSteps = 12;
/// Filters that are tried to find out how far the wanted eigenvalues reach; each has to be of this
/// times the degree of the one before.
constexpr int kSpanRounds = 8;
constexpr double kSpanGrowth = 1.5;
/// Where sums_ holds the squared norm.
constexpr int kNorm = 0;
/// Steps from a fresh direction that look for what the Krylov space of the first could not hold:
/// other eigenvectors of an eigenvalue that it has found (a flat image, unconnected pieces).
constexpr int kVerifySteps = 6;
/// Residuals are taken to fall by no more than this in a step: the projected matrix is looked at
/// again when they may have reached the tolerance.
constexpr double kFall = 1.5;
/// log of how far the filter lifts the largest eigenvalue (its degree follows): measured on
/// photographs, 1 to 1.5 takes the fewest products; larger saves steps of Lanczos but begins to
/// cost products.
constexpr double kFilterLift = 2.0;

/// Ritz values of the filtered operator, descending, and the projected eigenvectors in the same
/// order.
struct Ritz {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;

  int steps() const { return static_cast<int>(values.size()); }
  int above(double theta) const { return static_cast<int>((values.array() > theta).count()); }
};

/// p(A) = T_degree((A - centre) / half_width): a Chebyshev polynomial that stays within [-1, 1] on
/// [lower, upper] and grows steeply, and ever more so, above it. Lanczos on p(A) finds the
/// eigenvectors of A above `upper` in a `degree`th of the steps: T_m(T_d(x)) = T_md(x), so hardly a
/// product is lost, and the work of a step beside the product is done once in `degree` products.
/// (Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations using
/// Chebyshev-filtered subspace iteration", 2006; H. Fang, Y. Saad, "A filtered Lanczos procedure
/// for extreme and interior eigenvalue problems", 2012.)
class ChebyshevFilter {
 public:
  /// p(A) = A.
  ChebyshevFilter() = default;
  /// Preconditions: degree >= 1, lower < upper.
  ChebyshevFilter(int degree, double lower, double upper)
      : degree_(degree), centre_((lower + upper) / 2), half_width_((upper - lower) / 2) {}

  int degree() const { return degree_; }
  double upper() const { return centre_ + half_width_; }

  double value(double lambda) const {
    if (half_width_ == 0) return lambda;
    const double x = (lambda - centre_) / half_width_;
    if (std::abs(x) <= 1) return std::cos(degree_ * std::acos(x));
    const double magnitude = std::cosh(degree_ * std::acosh(std::abs(x)));
    return x < 0 && degree_ % 2 == 1 ? -magnitude : magnitude;
  }

  /// The lambda >= upper with value(lambda) = theta; `upper` for theta <= 1. (Any theta for p(A) =
  /// A.)
  double inverse(double theta) const {
    if (half_width_ == 0) return theta;
    return centre_ + half_width_ * std::cosh(std::acosh(std::max(theta, 1.0)) / degree_);
  }

  /// The least of (theta - p(x)) / (lambda - x) over x in [lower, upper], p(lambda) = theta: a
  /// residual r of p(A) is one of at most about r / least_slope(theta) of A, because what is wrong
  /// in a Ritz vector lies in the damped interval. (1 for p(A) = A.)
  double least_slope(double theta) const {
    if (half_width_ == 0) return 1;
    // p grows ever faster above `upper`, so the chord to the far end is the flattest.
    return (theta + 1) / (inverse(theta) - (centre_ - half_width_));
  }

  /// p(A) in, by `degree` products. `in` and `other` are both overwritten; true if the result is in
  /// `other`, false if it is in `in`.
  bool apply(DeviceOperator& op, Buffer<float>& in, Buffer<float>& other) const {
    if (half_width_ == 0) {
      op.perform_op(in, other);
      return true;
    }
    const auto scale = static_cast<float>(1 / half_width_);
    const auto shift = static_cast<float>(-centre_ / half_width_);
    op.perform_recurrence(in, other, {scale, shift, 0});
    Buffer<float>* previous = &in;
    Buffer<float>* current = &other;
    for (int k = 2; k <= degree_; ++k) {
      op.perform_recurrence(*current, *previous, {2 * scale, 2 * shift, -1});
      std::swap(previous, current);
    }
    return current == &other;
  }

 private:
  int degree_ = 1;
  double centre_ = 0;
  double half_width_ = 0;  ///< 0: p(A) = A.
};

class Lanczos {
 public:
  Lanczos(Context& context, const LanczosProblem& problem, const EigenParameters& parameters,
          const Watch& watch)
      : context_(context),
        op_(*problem.op),
        mask_(*problem.mask),
        trivial_(problem.trivial),
        pitch_(problem.pitch),
        parameters_(parameters),
        goal_{parameters.tolerance, parameters.relative_tolerance},
        watch_(watch),
        wanted_(parameters.vectors - 1),
        size_(lanczos_basis_size(parameters)),
        kernels_(context, pitch_, size_ + 2),
        basis_(context.allocate<float>(pitch_ * static_cast<std::size_t>(size_ + 2),
                                       "the basis of the eigensolver")),
        a_(context.allocate<float>(pitch_, "a vector")),
        b_(context.allocate<float>(pitch_, "a vector")),
        sums_(context, static_cast<std::size_t>(2 * (size_ + 2) + 1), "dot products"),
        projected_(Eigen::MatrixXd::Zero(size_ + 1, size_ + 1)),
        first_product_(op_.products()),
        span_(problem.span) {
    basis_.fill(0);
    a_.fill(0);
    b_.fill(0);
  }

  DeviceEigenvectors run() {
    if (trivial_ != nullptr) set_trivial();
    lower_ = std::max(-1.0, probe().first) - 1e-3;
    if (span_ > 0) {
      filter_ = choose_filter();
    } else {
      find_span();
    }

    DeviceEigenvectors result;
    result.report.solver = "lanczos";
    merge_found(find(wanted_, 0));
    while (!out_of_products()) {
      // A copy of a found eigenvalue, or an eigenvalue that the start vector missed, lies above
      // this.
      const double last = filter_.inverse(locked_values_.back());
      const double above =
          filter_.value(last + 0.1 * std::min(parameters_.tolerance, std::max(top_ - last, 1e-7)));
      const int found = find(0, above);
      if (found == 0) {
        result.report.converged = true;
        break;
      }
      merge_found(found);
    }
    result.count = 1 + locked_;
    result.report.restarts = restarts_;
    result.report.filter_degree = filter_.degree();
    result.basis = std::move(basis_);
    return result;
  }

  /// Bounds of the spectrum: the least and the largest Ritz value of a few steps with their
  /// residuals (Zhou et al. 2006 bound the upper end so). What lies below the lower one would be
  /// lifted by the filter too.
  std::pair<double, double> probe() {
    filter_ = ChebyshevFilter();
    start();
    const int steps = std::min(kProbeSteps, size_);
    for (int j = 0; j < steps; ++j) step(j);
    const Ritz ritz = solve_projected(steps);
    const auto residual = [&](int k) { return std::abs(beta_ * ritz.vectors(steps - 1, k)); };
    return {ritz.values(steps - 1) - residual(steps - 1), ritz.values(0) + residual(0)};
  }

 private:
  std::int64_t products() const { return op_.products() - first_product_; }
  bool out_of_products() const { return products() >= parameters_.max_products; }

  void set_trivial() {
    copy_elements(*trivial_, 0, a_, 0, op_.rows());
    kernels_.dots(a_, 1, a_, sums_, kNorm);
    kernels_.append(basis_, 0, a_, b_, sums_, kNorm);
  }

  void start() {
    input_ = &a_;
    other_ = &b_;
    projected_.setZero();
    fresh_direction(1 + locked_);
  }

  /// Step j of Lanczos: column j of the projected matrix, and the basis vector of step j + 1.
  void step(int j) {
    report(share_);  // A step is up to 200 products, so the work can be stopped before each.
    if (filter_.apply(op_, *input_, *other_) == false) std::swap(input_, other_);
    const int columns = 1 + locked_ + j + 1;
    orthogonalise(columns);
    kernels_.append(basis_, columns, *other_, *input_, sums_, kNorm);
    const std::vector<double> sums = sums_.download(static_cast<std::size_t>(1 + 2 * columns));
    const double squared = sums[kNorm];
    if (!std::isfinite(squared)) {
      throw NumericalError("the matrix is not finite: a product with it gave NaN or infinity");
    }
    double scale = std::sqrt(std::max(squared, 0.0));
    for (int i = 0; i <= j; ++i) {
      const auto at = static_cast<std::size_t>(kNorm + 1 + 1 + locked_ + i);
      projected_(i, j) = sums[at] + sums[at + static_cast<std::size_t>(columns)];
      scale = std::max(scale, std::abs(projected_(i, j)));
    }
    beta_ = std::sqrt(std::max(squared, 0.0));
    if (beta_ <= kBreakdown * std::max(scale, 1.0)) fresh_direction(columns);
  }

  /// Takes the components of *other_ along the first `columns` basis vectors out, twice. Leaves the
  /// squared norm of the rest in sums_[kNorm], then the components that each pass took out.
  void orthogonalise(int columns) {
    for (int pass = 0; pass < 2; ++pass) {
      const int at = kNorm + 1 + pass * columns;
      kernels_.dots(basis_, columns, *other_, sums_, at);
      kernels_.update(basis_, columns, *other_, sums_, at, kNorm);
    }
  }

  /// Basis vector `columns` becomes a pseudo-random direction orthogonal to those before it.
  void fresh_direction(int columns) {
    kernels_.random(*other_, mask_, op_.rows(), seed_++);
    orthogonalise(columns);
    kernels_.append(basis_, columns, *other_, *input_, sums_, kNorm);
    beta_ = 0;
  }

  /// Finds a filter and the span that it is for. The k-th Ritz value is at most the k-th eigenvalue
  /// (Cauchy's interlacing), so a filter that damps below it damps nothing that is wanted. With
  /// each better filter the Ritz values come closer.
  void find_span() {
    int degree = 1;
    for (int round = 0; round < kSpanRounds && !out_of_products(); ++round) {
      start();
      for (int j = 0; j < size_; ++j) step(j);
      const Ritz ritz = solve_projected(size_);
      top_ = filter_.inverse(ritz.values(0));
      span_ = top_ - filter_.inverse(ritz.values(std::min(wanted_, size_ - 1)));
      const ChebyshevFilter next = choose_filter();
      const bool better = next.degree() > kSpanGrowth * degree;
      degree = next.degree();
      if (better || round == 0) filter_ = next;
      if (!better) return;
    }
  }

  ChebyshevFilter choose_filter() const {
    const double lower = lower_;
    const double upper = top_ - span_;
    if (parameters_.filter_degree == 1 || upper < lower + 0.2) return {};
    const double growth = std::acosh((top_ - (lower + upper) / 2) / ((upper - lower) / 2));
    int degree = parameters_.filter_degree;
    if (degree == 0)
      degree = std::clamp(static_cast<int>(std::lround(kFilterLift / growth)), 1, 200);
    if (degree == 1) return {};
    return {degree, lower, upper};
  }

  Ritz solve_projected(int steps) const {
    const Eigen::MatrixXd symmetric =
        projected_.topLeftCorner(steps, steps).selfadjointView<Eigen::Upper>();
    const SymmetricEigenpairs pairs = symmetric_eigenpairs(symmetric);
    return {pairs.values.reverse(), pairs.vectors.rowwise().reverse()};
  }

  /// The largest estimated residual (with A) of the first `count` pairs, in units of safety times
  /// what is allowed.
  double largest_excess(const Ritz& ritz, int count, double safety) const {
    double largest = 0;
    for (int k = 0; k < count; ++k) {
      const double residual = std::abs(beta_ * ritz.vectors(ritz.steps() - 1, k));
      const double allowed = goal_.allowed(1 - filter_.inverse(ritz.values(k)));
      largest = std::max(largest, residual / filter_.least_slope(ritz.values(k)) / allowed);
    }
    return largest / safety;
  }

  /// Keeps the Ritz vectors of the `count` largest values, some more, and the direction that
  /// couples them; returns how many were kept, which is the next step.
  int restart(const Ritz& ritz, int count) {
    const int steps = ritz.steps();
    const int kept = std::min(steps, count + std::max(2, (capacity() - count) / 3));
    const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rotation =
        ritz.vectors.leftCols(kept).transpose().cast<float>();
    kernels_.rotate(basis_, 1 + locked_, steps, kept,
                    std::vector<float>(rotation.data(), rotation.data() + rotation.size()));
    if (kept < steps) {
      kernels_.copy(basis_, 1 + locked_ + steps, 1, basis_,
                    static_cast<std::size_t>(1 + locked_ + kept) * pitch_);
    }
    projected_.setZero();
    projected_.diagonal().head(kept) = ritz.values.head(kept);
    ++restarts_;
    return kept;
  }

  /// Runs Lanczos orthogonally to the locked vectors until the `fixed_count` largest pairs have
  /// converged or, with fixed_count 0, all whose value is above `above` (none, if no such value
  /// shows within a few steps). Leaves them as the first unlocked vectors, their values on the
  /// diagonal of projected_, and returns their number; also when the products run out, which is for
  /// the caller to see.
  int find(int fixed_count, double above) {
    start();
    // Without a filter a step is one product, and looks no further than that.
    const int verify_steps = filter_.degree() > 1 ? std::min(kVerifySteps, capacity()) : capacity();
    double safety = 1.2;
    int next_look = fixed_count != 0 ? fixed_count + 1 : verify_steps;
    int j = 0;
    for (;;) {
      step(j++);
      const bool full = j == capacity();
      if (j < next_look && !full && !out_of_products()) continue;
      const Ritz ritz = solve_projected(j);
      if (fixed_count == 0 && ritz.above(above) == 0) return 0;
      // Many at once leave no room to iterate in: some now, others after these are locked.
      const int count =
          std::min(fixed_count != 0 ? fixed_count : ritz.above(above), capacity() / 2);
      const double excess = j >= count ? largest_excess(ritz, count, safety) : INFINITY;
      report(std::min(
          0.99, std::max(locked_ > 0 ? 0.9 : 0.0, 0.9 / (1 + std::log10(std::max(1.0, excess))))));
      if (excess > 1 && !full && !out_of_products()) {
        next_look = j + std::max(1, static_cast<int>(std::log(excess) / std::log(kFall)));
        continue;
      }
      if (full && fixed_count != 0 && filter_.degree() > 1 && ritz.values(count - 1) < 1.05) {
        // A wanted pair inside the damped interval cannot be told from unwanted ones: damp less.
        span_ *= 4;
        filter_ = choose_filter();
        start();
        j = 0;
        next_look = fixed_count + 1;
        continue;
      }
      j = restart(ritz, count);
      if (out_of_products()) return std::min(count, j);
      if (excess <= 1) {
        if (worst_excess(count) <= 1) return count;
        safety *= 0.5;
      }
      next_look = j + 1;
      kernels_.copy(basis_, 1 + locked_ + j, 1, *input_);
    }
  }

  /// Locks the best `wanted_` of the locked vectors and the `found` that find() has left behind
  /// them.
  void merge_found(int found) {
    for (int k = 0; k < found; ++k) locked_values_.push_back(projected_(k, k));
    const std::size_t total = locked_values_.size();
    std::vector<std::size_t> order(total);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return locked_values_[a] > locked_values_[b];
    });
    order.resize(std::min(total, static_cast<std::size_t>(wanted_)));
    std::vector<float> permutation(order.size() * total, 0.0F);
    std::vector<double> values;
    for (std::size_t k = 0; k < order.size(); ++k) {
      permutation[k * total + order[k]] = 1.0F;
      values.push_back(locked_values_[order[k]]);
    }
    kernels_.rotate(basis_, 1, static_cast<int>(total), static_cast<int>(order.size()),
                    permutation);
    locked_values_ = values;
    locked_ = static_cast<int>(order.size());
  }

  /// The largest |A z - rho z| of the first `count` unlocked vectors, in units of what is allowed;
  /// restart() puts the best there.
  double worst_excess(int count) {
    double worst = 0;
    for (int k = 0; k < count; ++k) {
      kernels_.copy(basis_, 1 + locked_ + k, 1, *input_);
      op_.perform_op(*input_, *other_);
      kernels_.dots(*input_, 1, *other_, sums_, kNorm + 1);
      kernels_.update(*input_, 1, *other_, sums_, kNorm + 1, kNorm);
      const std::vector<double> sums = sums_.download(kNorm + 2);
      const double norm = std::sqrt(std::max(sums[kNorm], 0.0));
      worst = std::max(worst, norm / goal_.allowed(1 - sums[kNorm + 1]));
    }
    return worst;
  }

  int capacity() const { return size_ - locked_; }
  void report(double share) {
    share_ = std::max(share_, share);
    watch_.report("eigenvectors", share_);
  }

  Context& context_;
  DeviceOperator& op_;
  const Buffer<float>& mask_;
  const Buffer<float>* trivial_;
  std::size_t pitch_;
  const EigenParameters& parameters_;
  ResidualGoal goal_;
  const Watch& watch_;
  int wanted_;
  int size_;
  BasisKernels kernels_;
  /// Vector 0: the trivial one. Then the locked ones. Then vector 1 + locked_ + j of step j.
  Buffer<float> basis_;
  int locked_ = 0;
  std::vector<double> locked_values_;  ///< Of the filtered operator.
  Buffer<float> a_;
  Buffer<float> b_;
  Buffer<float>* input_ = nullptr;  ///< Holds a copy of the newest basis vector.
  Buffer<float>* other_ = nullptr;
  DeviceSums sums_;  ///< The squared norm of the rest, then two passes of dot products.
  ChebyshevFilter filter_;
  Eigen::MatrixXd projected_;  ///< V' p(A) V, upper triangle.
  double beta_ = 0;            ///< What couples the last step to the next.
  std::uint32_t seed_ = 1;
  std::int64_t first_product_;
  double lower_ = -1;  ///< Of the spectrum.
  double top_ = 1;     ///< The largest eigenvalue, about.
  double span_;        ///< The filter damps up to top_ - span_.
  int restarts_ = 0;
  double share_ = 0;
};

}  // namespace

int lanczos_basis_size(const EigenParameters& parameters) {
  const int wanted = parameters.vectors - 1;
  if (parameters.basis != 0) return std::max(parameters.basis, wanted + 4);
  return std::max(4 * wanted, wanted + 16);
}

DeviceEigenvectors thick_restart_lanczos(Context& context, DeviceOperator& op,
                                         const NormalizedMatrix& matrix, std::size_t elements,
                                         const EigenParameters& parameters, const Watch& watch) {
  LanczosProblem problem{&op, matrix.shape().pitch, &matrix.sqrt_degree(), &matrix.sqrt_degree()};
  // In a flat image of n pixels the k-th eigenvalue of I - A is about k m / (2 n), m being the
  // entries of a row: Weyl's law for the second moment of a disc of m pixels. Weak weights only
  // bring eigenvalues closer to 0.
  problem.span = 1.5 * parameters.vectors * static_cast<double>(matrix.stencil().size()) /
                 (2.0 * static_cast<double>(elements));
  return lanczos(context, problem, parameters, watch);
}

DeviceEigenvectors lanczos(Context& context, const LanczosProblem& problem,
                           const EigenParameters& parameters, const Watch& watch) {
  return Lanczos(context, problem, parameters, watch).run();
}

std::pair<double, double> spectrum_of(Context& context, const LanczosProblem& problem,
                                      const Watch& watch) {
  EigenParameters parameters;
  parameters.vectors = 2;
  return Lanczos(context, problem, parameters, watch).probe();
}

}  // namespace diacut
