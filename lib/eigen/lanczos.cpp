#include "eigen/lanczos.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "diacut/errors.hpp"
#include "eigen/chebyshev.hpp"

namespace diacut {

namespace {

/// What is left of a vector after orthogonalisation, relative to the operator, below which the
/// basis spans an invariant subspace and only rounding errors point elsewhere.
constexpr double kBreakdown = 1e-5;
/// Steps of plain Lanczos that bound the spectrum from below.
constexpr int kProbeSteps = 12;
/// Steps from a fresh direction that look for what the Krylov space of the first could not hold:
/// other eigenvectors of an eigenvalue that it has found (a flat image, unconnected pieces).
constexpr int kVerifySteps = 6;
/// Steps between two looks at the projected matrix.
constexpr int kCheckEvery = 2;
/// log of how far the filter lifts the largest eigenvalue (its degree follows): measured on
/// photographs, 1 to 1.5 takes the fewest products; larger saves steps of Lanczos but begins to
/// cost products.
constexpr double kFilterLift = 1.25;

class Lanczos {
 public:
  Lanczos(Context& context, DeviceOperator& op, const Buffer<float>& sqrt_degree,
          std::size_t support, std::size_t pitch, double density, const EigenParameters& parameters,
          const Watch& watch)
      : context_(context),
        op_(op),
        sqrt_degree_(sqrt_degree),
        support_(support),
        pitch_(pitch),
        density_(density),
        parameters_(parameters),
        watch_(watch),
        wanted_(parameters.vectors - 1),
        size_(lanczos_basis_size(parameters)),
        kernels_(context, pitch, size_ + 2),
        basis_(context.allocate<float>(pitch * static_cast<std::size_t>(size_ + 2),
                                       "the basis of the eigensolver")),
        a_(context.allocate<float>(pitch, "a vector")),
        b_(context.allocate<float>(pitch, "a vector")),
        first_pass_(context, static_cast<std::size_t>(size_ + 2), "dot products"),
        second_pass_(context, static_cast<std::size_t>(size_ + 2), "dot products"),
        norm2_(context, 1, "a squared norm"),
        projected_(Eigen::MatrixXd::Zero(size_ + 1, size_ + 1)),
        first_product_(op.products()) {
    basis_.fill(0);
    a_.fill(0);
    b_.fill(0);
  }

  KrylovResult run();

 private:
  std::int64_t products() const { return op_.products() - first_product_; }
  bool out_of_products() const { return products() >= parameters_.max_products; }

  void set_trivial();
  void start();
  void step(int j);
  void orthogonalise(int columns);
  void fresh_direction(int columns);
  double probe_lower_bound();
  ChebyshevFilter choose_filter(double lower, double span) const;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solve_projected(int steps) const;
  int converged_pairs(int steps, double safety) const;
  Eigen::Index ritz_values_above(int steps, double theta) const {
    return (solve_projected(steps).eigenvalues().array() > theta).count();
  }
  int restart(int steps);
  double worst_residual(int count);
  void report(double share) {
    share_ = std::max(share_, share);
    watch_.report("eigenvectors", share_);
  }

  Context& context_;
  DeviceOperator& op_;
  const Buffer<float>& sqrt_degree_;
  std::size_t support_;
  std::size_t pitch_;
  double density_;
  const EigenParameters& parameters_;
  const Watch& watch_;
  int wanted_;
  int size_;
  BasisKernels kernels_;
  Buffer<float> basis_;  ///< Vector 0: trivial. Vector 1 + j: step j.
  Buffer<float> a_;
  Buffer<float> b_;
  Buffer<float>* input_ = nullptr;  ///< Holds a copy of the newest basis vector.
  Buffer<float>* other_ = nullptr;
  DeviceSums first_pass_;
  DeviceSums second_pass_;
  DeviceSums norm2_;
  ChebyshevFilter filter_;
  Eigen::MatrixXd projected_;  ///< V' p(A) V, upper triangle.
  double beta_ = 0;            ///< What couples the last step to the next.
  std::uint32_t seed_ = 1;
  std::int64_t first_product_;
  double share_ = 0;
};

void Lanczos::set_trivial() {
  with_device_errors("copying the trivial eigenvector", [&] {
    context_.queue().enqueueCopyBuffer(sqrt_degree_.cl(), a_.cl(), 0, 0,
                                       op_.rows() * sizeof(float));
  });
  kernels_.dots(a_, 1, a_, norm2_);
  kernels_.append(basis_, 0, a_, b_, norm2_);
}

/// Takes the components of *other_ along the first `columns` basis vectors out, twice, and leaves
/// them in first_pass_ and second_pass_, and the squared norm of the rest in norm2_.
void Lanczos::orthogonalise(int columns) {
  kernels_.dots(basis_, columns, *other_, first_pass_);
  kernels_.update(basis_, columns, first_pass_, *other_, norm2_);
  kernels_.dots(basis_, columns, *other_, second_pass_);
  kernels_.update(basis_, columns, second_pass_, *other_, norm2_);
}

/// Basis vector `columns` becomes a pseudo-random direction orthogonal to those before it.
void Lanczos::fresh_direction(int columns) {
  kernels_.random(*other_, sqrt_degree_, op_.rows(), seed_++);
  orthogonalise(columns);
  kernels_.append(basis_, columns, *other_, *input_, norm2_);
  beta_ = 0;
}

void Lanczos::start() {
  input_ = &a_;
  other_ = &b_;
  projected_.setZero();
  fresh_direction(1);
}

/// One step of Lanczos from basis vector 1 + j: column j of the projected matrix, and basis vector
/// 2 + j.
void Lanczos::step(int j) {
  if (filter_.apply(op_, *input_, *other_) == false) std::swap(input_, other_);
  const int columns = j + 2;
  orthogonalise(columns);
  kernels_.append(basis_, columns, *other_, *input_, norm2_);
  const std::vector<double> first = first_pass_.download(static_cast<std::size_t>(columns));
  const std::vector<double> second = second_pass_.download(static_cast<std::size_t>(columns));
  const double squared = norm2_.download(1)[0];
  if (!std::isfinite(squared)) {
    throw NumericalError(
        "the affinity matrix is not finite: a product with it gave NaN or infinity");
  }
  double scale = std::sqrt(std::max(squared, 0.0));
  for (int i = 0; i <= j; ++i) {
    projected_(i, j) =
        first[static_cast<std::size_t>(i) + 1] + second[static_cast<std::size_t>(i) + 1];
    scale = std::max(scale, std::abs(projected_(i, j)));
  }
  beta_ = std::sqrt(std::max(squared, 0.0));
  if (beta_ <= kBreakdown * std::max(scale, 1.0)) fresh_direction(columns);
}

/// A lower bound of the spectrum: the least Ritz value of a few steps less its residual (Zhou et
/// al. 2006 bound the other end so). Whatever lies below would be lifted by the filter too.
double Lanczos::probe_lower_bound() {
  filter_ = ChebyshevFilter();
  start();
  const int steps = std::min(kProbeSteps, size_);
  for (int j = 0; j < steps; ++j) step(j);
  const auto solved = solve_projected(steps);
  const double residual = std::abs(beta_ * solved.eigenvectors()(steps - 1, 0));
  return std::max(-1.0, solved.eigenvalues()(0) - residual) - 1e-3;
}

/// The filter that damps [lower, 1 - span].
ChebyshevFilter Lanczos::choose_filter(double lower, double span) const {
  const double upper = 1 - span;
  if (parameters_.filter_degree == 1 || upper < lower + 0.2) return {};
  const double growth = std::acosh((1 - (lower + upper) / 2) / ((upper - lower) / 2));
  int degree = parameters_.filter_degree;
  if (degree == 0) degree = std::clamp(static_cast<int>(std::lround(kFilterLift / growth)), 1, 200);
  if (degree == 1) return {};
  return {degree, lower, upper};
}

Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> Lanczos::solve_projected(int steps) const {
  const Eigen::MatrixXd symmetric =
      projected_.topLeftCorner(steps, steps).selfadjointView<Eigen::Upper>();
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric);
}

/// Of the wanted pairs, how many of the largest have an estimated residual (with A) within
/// safety * tolerance.
int Lanczos::converged_pairs(int steps, double safety) const {
  const auto solved = solve_projected(steps);
  for (int i = 0; i < wanted_; ++i) {
    const int k = steps - 1 - i;
    if (k < 0) return i;
    const double residual = std::abs(beta_ * solved.eigenvectors()(steps - 1, k));
    if (!(residual <=
          safety * parameters_.tolerance * filter_.least_slope(solved.eigenvalues()(k)))) {
      return i;
    }
  }
  return wanted_;
}

/// Keeps the best Ritz vectors of `steps` steps and the direction that couples them; returns how
/// many were kept, which is the next step.
int Lanczos::restart(int steps) {
  const auto solved = solve_projected(steps);
  const int kept = std::min(steps, wanted_ + std::max(2, (size_ - wanted_) / 3));
  std::vector<float> rotation(static_cast<std::size_t>(kept) * static_cast<std::size_t>(steps));
  for (int k = 0; k < kept; ++k) {
    for (int c = 0; c < steps; ++c) {
      rotation[static_cast<std::size_t>(k) * static_cast<std::size_t>(steps) +
               static_cast<std::size_t>(c)] =
          static_cast<float>(solved.eigenvectors()(c, steps - 1 - k));
    }
  }
  kernels_.rotate(basis_, 1, steps, kept, rotation);
  if (kept < steps) {
    kernels_.copy(basis_, 1 + steps, 1, basis_, static_cast<std::size_t>(1 + kept) * pitch_);
  }
  projected_.setZero();
  for (int k = 0; k < kept; ++k) projected_(k, k) = solved.eigenvalues()(steps - 1 - k);
  return kept;
}

/// The largest |A z - rho z| of the first `count` Ritz vectors; restart() puts the best first.
double Lanczos::worst_residual(int count) {
  double worst = 0;
  for (int k = 0; k < count; ++k) {
    kernels_.copy(basis_, 1 + k, 1, *input_);
    op_.perform_op(*input_, *other_);
    kernels_.dots(*input_, 1, *other_, first_pass_);
    kernels_.update(*input_, 1, first_pass_, *other_, norm2_);
    worst = std::max(worst, std::sqrt(std::max(norm2_.download(1)[0], 0.0)));
  }
  return worst;
}

KrylovResult Lanczos::run() {
  KrylovResult result;
  set_trivial();
  const double lower = probe_lower_bound();
  // In a flat image the N-th eigenvalue of I - A is about N density / (2 n): Weyl's law for the
  // second moment of a disc that holds `density` pixels. Boundaries only bring them closer to 0.
  double span = 1.5 * (wanted_ + 1) * density_ / (2.0 * static_cast<double>(support_));
  filter_ = choose_filter(lower, span);
  start();

  double safety = 1.2;
  int verify_until = 0;  // 0: not verifying
  double verify_above = 0;
  Eigen::Index verify_count = 0;
  int j = 0;
  for (;;) {
    step(j++);
    if (verify_until != 0) {
      if (j < verify_until && !out_of_products()) continue;
      verify_until = 0;
      if (ritz_values_above(j, verify_above) == verify_count) {
        result.converged = true;
        break;
      }
    }
    const bool full = j == size_;
    const bool check = full || (j > wanted_ && j % kCheckEvery == 0);
    if (!check && !out_of_products()) continue;
    const int converged = j >= wanted_ ? converged_pairs(j, safety) : 0;
    report(std::min(0.99, static_cast<double>(converged) / (wanted_ + 1) +
                              static_cast<double>(products()) / parameters_.max_products));
    if (converged < wanted_ && !full && !out_of_products()) continue;

    if (full && filter_.degree() > 1) {
      // A wanted pair inside the damped interval cannot be told from unwanted ones: damp less.
      const double last = solve_projected(j).eigenvalues()(j - wanted_);
      if (last < 1.05) {
        span *= 4;
        filter_ = choose_filter(lower, span);
        start();
        j = 0;
        continue;
      }
    }
    j = restart(j);
    ++result.restarts;
    result.count = 1 + std::min(wanted_, j);
    if (out_of_products()) break;
    if (converged == wanted_) {
      if (worst_residual(wanted_) <= parameters_.tolerance) {
        const double last = filter_.inverse(projected_(wanted_ - 1, wanted_ - 1));
        verify_above =
            filter_.value(last + 0.1 * std::min(parameters_.tolerance, std::max(1 - last, 1e-7)));
        verify_count = ritz_values_above(j, verify_above);
        verify_until = filter_.degree() > 1 ? std::min(j + kVerifySteps, size_) : size_;
        fresh_direction(1 + j);
        continue;
      }
      safety *= 0.5;
    }
    kernels_.copy(basis_, 1 + j, 1, *input_);
  }
  result.filter_degree = filter_.degree();
  result.basis = std::move(basis_);
  return result;
}

}  // namespace

int lanczos_basis_size(const EigenParameters& parameters) {
  const int wanted = parameters.vectors - 1;
  if (parameters.basis != 0) return std::max(parameters.basis, wanted + 4);
  return std::max(4 * wanted, wanted + 16);
}

KrylovResult thick_restart_lanczos(Context& context, DeviceOperator& op,
                                   const Buffer<float>& sqrt_degree, std::size_t support,
                                   std::size_t pitch, double density,
                                   const EigenParameters& parameters, const Watch& watch) {
  return Lanczos(context, op, sqrt_degree, support, pitch, density, parameters, watch).run();
}

}  // namespace diacut
