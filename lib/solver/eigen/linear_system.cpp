#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"
#include "eigen/lanczos/basis.hpp"
#include "eigen/solvers.hpp"
#include "matrix/device_matrix.hpp"

namespace diacut {

namespace {

void check_system(const DeviceMatrix::State& matrix, std::span<const float> b,
                  std::span<const float> x, double tolerance, int max_iterations) {
  if (matrix.rows != matrix.cols) {
    throw InputError(
        fmt::format("a linear system of {} x {}, expected a square one", matrix.rows, matrix.cols));
  }
  if (b.size() != matrix.rows || x.size() != matrix.rows) {
    throw InputError(fmt::format("b has {} numbers and x {}, expected {} each", b.size(), x.size(),
                                 matrix.rows));
  }
  if (!(tolerance > 0 && tolerance <= 1) || max_iterations < 0) {
    throw ConfigError(fmt::format(
        "a tolerance of {} and {} iterations, expected more than 0 and at most 1, and 0 or more",
        tolerance, max_iterations));
  }
}

std::vector<float> inverse_of(std::vector<float> diagonal) {
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    if (!(diagonal[i] > 0)) {
      throw InputError(
          fmt::format("the main diagonal has {} in row {}, expected a positive number: conjugate "
                      "gradients need "
                      "a positive definite matrix",
                      diagonal[i], i));
    }
    diagonal[i] = 1 / diagonal[i];
  }
  return diagonal;
}

}  // namespace

SystemReport solve_system(Context& context, DeviceOperator& matrix, std::vector<float> diagonal,
                          std::span<const float> b, std::span<float> x, double tolerance,
                          int max_iterations, const Watch& watch) {
  SystemReport report;
  const Watched watched(context, watch);
  const std::vector<float> inverses = inverse_of(std::move(diagonal));
  const std::size_t rows = matrix.rows();
  const std::size_t pitch = dia_pitch(rows);
  const KernelFile kernels(context, "eigen/linear_system.cl", "");
  BasisKernels basis(context, pitch, 2);
  DeviceSums sums(context, 2, "dot products");
  const auto vector = [&](const char* what) {
    auto made = context.allocate<float>(pitch, what);
    made.fill(0);
    return made;
  };
  Buffer<float> solution = vector("a solution");
  Buffer<float> inverse = vector("a preconditioner");
  Buffer<float> p = vector("a direction");
  Buffer<float> q = vector("a product");
  Buffer<float> r = vector("residuals");
  Buffer<float> z = vector("preconditioned residuals");
  solution.upload(x);
  inverse.upload(inverses);
  r.upload(b);
  // The dot products of `with` and some vectors.
  const auto products = [&](const Buffer<float>& with, const auto&... vectors) {
    int at = 0;
    (basis.dots(vectors, 1, with, sums, at++), ...);
    std::vector<double> found = sums.download(sizeof...(vectors));
    for (const double each : found) {
      if (!std::isfinite(each)) {
        throw NumericalError("conjugate gradients met a value that is no number");
      }
    }
    return found;
  };
  const double norm = std::sqrt(products(r, r)[0]);
  matrix.perform_recurrence(solution, r, {-1, 0, 1});
  const auto step = [&](double alpha) {
    kernels.launch_rows("system_step", rows, 1, static_cast<float>(alpha), p, q, inverse, rows,
                        solution, r, z);
  };
  step(0);
  double before = 0;
  for (;; ++report.iterations) {
    const std::vector<double> found = products(r, r, z);
    report.residual = norm > 0 ? std::sqrt(found[0]) / norm : std::sqrt(found[0]);
    report.converged = report.residual <= tolerance;
    if (report.converged || report.iterations >= max_iterations) break;
    watch.report("linear system",
                 std::clamp(std::log(report.residual) / std::log(tolerance), 0.0, 0.99));
    kernels.launch_rows("system_direction", rows, 1,
                        static_cast<float>(before > 0 ? found[1] / before : 0), z, rows, p);
    before = found[1];
    matrix.perform_op(p, q);
    const double curvature = products(p, q)[0];
    if (!(curvature > 0)) {
      throw NumericalError(fmt::format(
          "conjugate gradients met a direction p with p'Ap = {:.3g} in iteration {}: the matrix is "
          "not positive definite",
          curvature, report.iterations + 1));
    }
    step(before / curvature);
  }
  solution.download(x);
  return report;
}

SystemReport conjugate_gradients(const DeviceMatrix& matrix, std::span<const float> b,
                                 std::span<float> x, double tolerance, int max_iterations,
                                 const Watch& watch) {
  DeviceMatrix::State& state = matrix.state();
  check_system(state, b, x, tolerance, max_iterations);
  const auto turn = state.turn();
  if (b.empty()) return {.converged = true};
  MatrixOperator op(state);
  return solve_system(state.context(), op, state.diagonal(), b, x, tolerance, max_iterations,
                      watch);
}

}  // namespace diacut
