#include "eigen/multilevel/conjugate_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "diacut/errors.hpp"
#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "eigen/multilevel/conjugate_gradient.cl";

Uploaded upload(Workspace& workspace, const std::vector<double>& values) {
  const std::vector<float> floats(values.begin(), values.end());
  return workspace.uploads().put(words_of(floats));
}

/// Quotients for each column; 0 where the divisor is not positive: such a column is solved.
std::vector<double> quotients(const std::vector<double>& dividends,
                              const std::vector<double>& divisors) {
  std::vector<double> result(dividends.size());
  for (std::size_t c = 0; c < dividends.size(); ++c) {
    if (divisors[c] > 0) result[c] = dividends[c] / divisors[c];
  }
  return result;
}

/// The largest share of its first value that a column's squared error still has.
double largest_share(const std::vector<double>& squares, const std::vector<double>& first) {
  const std::vector<double> shares = quotients(squares, first);
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
      sums_(workspace),
      products_(workspace.context().kernel(kFile, "cg_products", workspace.options())),
      step_(workspace.context().kernel(kFile, "cg_step", workspace.options())),
      direction_(workspace.context().kernel(kFile, "cg_direction", workspace.options())) {
  const std::size_t size = rows * static_cast<std::size_t>(workspace.columns());
  Context& context = workspace.context();
  direction_block_ = context.allocate<float>(size, "directions of conjugate gradients");
  product_block_ = context.allocate<float>(size, "products of conjugate gradients");
  correction_block_ = context.allocate<float>(size, "preconditioned residuals");
}

std::size_t ConjugateGradient::memory(int columns, std::size_t rows) {
  return 3 * rows * static_cast<std::size_t>(columns) * sizeof(float);
}

ConjugateGradientResult ConjugateGradient::solve(SystemOperators& system, Buffer<float>& b,
                                                 Buffer<float>& x, double tolerance,
                                                 int max_iterations, const Watch& watch) {
  Buffer<float>& r = b;
  Buffer<float>& z = correction_block_;
  x.fill(0);
  direction_block_.fill(0);
  system.precondition(r, product_block_, z);
  std::vector<double> rz = products(r, z);
  const std::vector<double> first = rz;
  direction(std::vector<double>(rz.size(), 0.0));
  ConjugateGradientResult result;
  const double wanted = tolerance * tolerance;
  double share = largest_share(rz, first);
  double furthest = 0;
  for (; share > wanted && result.iterations < max_iterations; ++result.iterations) {
    system.product(direction_block_, product_block_);
    step(quotients(rz, products(direction_block_, product_block_)), x, r);
    system.precondition(r, product_block_, z);
    const std::vector<double> next = products(r, z);
    direction(quotients(next, rz));
    rz = next;
    share = largest_share(rz, first);
    const double done = share > 0 ? std::log(share) / std::log(wanted) : 1;
    furthest = std::max(furthest, std::clamp(done, 0.0, 1.0));
    watch.report("random walk", furthest);
  }
  result.error = std::sqrt(std::max(share, 0.0));
  result.converged = share <= wanted;
  return result;
}

std::vector<double> ConjugateGradient::products(const Buffer<float>& a, const Buffer<float>& b) {
  const SegmentGroups groups = workspace_->small_groups(segments_);
  set_arguments(products_, a, segments_.rows, segments_.pitch, groups.chunk,
                static_cast<int>(groups.per_segment), workspace_->active().list(), b);
  with_device_errors("setting a kernel's arguments",
                     [&] { products_.set_argument(7, workspace_->partials().cl()); });
  const std::size_t group = workspace_->group();
  workspace_->context().launch(products_, cl::NDRange(groups.all * group), cl::NDRange(group));
  return sums_.totals(groups);
}

void ConjugateGradient::step(const std::vector<double>& alpha, Buffer<float>& x, Buffer<float>& r) {
  const std::size_t size = segments_.rows * workspace_->sets();
  const Uploaded factors = upload(*workspace_, alpha);
  set_arguments(step_, factors.words(), direction_block_, product_block_, size, x, r);
  launch_rows(workspace_->context(), step_, size, 1);
}

void ConjugateGradient::direction(const std::vector<double>& beta) {
  const std::size_t size = segments_.rows * workspace_->sets();
  const Uploaded factors = upload(*workspace_, beta);
  set_arguments(direction_, factors.words(), correction_block_, size, direction_block_);
  launch_rows(workspace_->context(), direction_, size, 1);
}

}  // namespace diacut
