#include "eigen/multilevel/conjugate_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

constexpr char kConjugateGradient[] = "eigen/multilevel/conjugate_gradient.cl";

/// Quotients for each column; 0 where the divisor is not positive: such a column is solved.
std::vector<double> quotients(const std::vector<double>& dividends,
                              const std::vector<double>& divisors) {
  std::vector<double> result(dividends.size());
  for (std::size_t c = 0; c < dividends.size(); ++c) {
    if (divisors[c] > 0) result[c] = dividends[c] / divisors[c];
  }
  return result;
}

/// `more` may be empty.
std::vector<double> sum_of(std::vector<double> sums, const std::vector<double>& more) {
  for (std::size_t c = 0; c < more.size(); ++c) sums[c] += more[c];
  return sums;
}

/// The largest share of its solution's squared norm that a column's squared error has.
double largest_share(const std::vector<double>& squares, const std::vector<double>& norms) {
  const std::vector<double> shares = quotients(squares, norms);
  for (const double share : shares) {
    if (!std::isfinite(share)) {
      throw NumericalError("the random walker's conjugate gradients met a value that is no number");
    }
  }
  return *std::max_element(shares.begin(), shares.end());
}

}  // namespace

ConjugateGradient::ConjugateGradient(Workspace& workspace, std::size_t rows)
    : workspace_(&workspace),
      segments_{rows, rows},
      rz_(workspace.context(), static_cast<std::size_t>(workspace.columns()),
          "products of residuals with preconditioned ones") {
  workspace.kernels(kConjugateGradient);
  const std::size_t size = rows * static_cast<std::size_t>(workspace.columns());
  Context& context = workspace.context();
  factors_ = context.allocate<float>(static_cast<std::size_t>(workspace.columns()),
                                     "step lengths of conjugate gradients");
  direction_block_ = context.allocate<float>(size, "directions of conjugate gradients");
  product_block_ = context.allocate<float>(size, "products of conjugate gradients");
  correction_block_ = context.allocate<float>(size, "preconditioned residuals");
}

ConjugateGradientResult ConjugateGradient::solve(SystemOperators& system, Buffer<float>& b,
                                                 Buffer<float>& x,
                                                 const ConjugateGradientLimits& limits,
                                                 const Watch& watch) {
  Buffer<float>& r = b;
  Buffer<float>& z = correction_block_;
  std::vector<double> norms;
  if (limits.starts) {
    norms = start_from(system, b, x);
  } else {
    x.fill(0);
  }
  direction_block_.fill(0);
  rz_.set_zero();
  ConjugateGradientResult result;
  const double wanted = limits.tolerance * limits.tolerance;
  double furthest = 0;
  for (;; ++result.iterations) {
    system.precondition(r, product_block_, z);
    products(r, z, "cg_beta");
    DeviceSums::Arrival squares = rz_.download_later();
    direction();
    // The device computes the product while the host learns whether it is needed.
    system.product(direction_block_, product_block_);
    const std::vector<double> now = squares.take();
    if (result.iterations == 0) norms = sum_of(now, norms);
    const double share = largest_share(now, norms);
    result.error = std::sqrt(std::max(share, 0.0));
    result.converged = share <= wanted;
    if (result.iterations > 0) {
      const double done = share > 0 ? std::log(share) / std::log(wanted) : 1;
      furthest = std::max(furthest, std::clamp(done, 0.0, 1.0));
      watch.report("random walk", furthest);
    }
    if (result.converged || result.iterations >= limits.max_iterations) return result;
    products(direction_block_, product_block_, "cg_alpha");
    step(x, r);
  }
}

/// One step from 0 along the x that is given, so that x becomes the multiple of it that is next to
/// the solution: never further away than 0 is, however wrong x was. Makes its residuals in the
/// place of b and returns the squared norms of x. The solutions' own are these and the errors'
/// (they are orthogonal).
std::vector<double> ConjugateGradient::start_from(SystemOperators& system, Buffer<float>& b,
                                                  Buffer<float>& x) {
  copy_elements(x, 0, direction_block_, 0, x.size());
  x.fill(0);
  rz_.set_zero();
  products(b, direction_block_, "cg_beta");
  DeviceSums::Arrival along = rz_.download_later();
  system.product(direction_block_, product_block_);
  products(direction_block_, product_block_, "cg_alpha");
  step(x, b);
  const std::vector<float> lengths = factors_.download();
  std::vector<double> squares = along.take();
  for (std::size_t c = 0; c < squares.size(); ++c) squares[c] *= lengths[c];
  return squares;
}

/// The kernel `quotients` makes factors_ of the dot products of the columns of a and b.
void ConjugateGradient::products(const Buffer<float>& a, const Buffer<float>& b,
                                 const char* quotients) {
  const SegmentGroups groups = workspace_->small_groups(segments_);
  workspace_->launch(kConjugateGradient, "cg_products", groups, a, segments_.rows, segments_.pitch,
                     groups.chunk, static_cast<int>(groups.per_segment),
                     workspace_->active().list(), b, workspace_->partials());
  workspace_->launch_columns(kConjugateGradient, quotients, workspace_->partials(),
                             static_cast<int>(groups.per_segment), rz_, factors_);
}

void ConjugateGradient::step(Buffer<float>& x, Buffer<float>& r) {
  const std::size_t size = segments_.rows * workspace_->sets();
  workspace_->kernels(kConjugateGradient)
      .launch_rows("cg_step", size, 1, factors_, direction_block_, product_block_, size, x, r);
}

void ConjugateGradient::direction() {
  const std::size_t size = segments_.rows * workspace_->sets();
  workspace_->kernels(kConjugateGradient)
      .launch_rows("cg_direction", size, 1, factors_, correction_block_, size, direction_block_);
}

}  // namespace diacut
