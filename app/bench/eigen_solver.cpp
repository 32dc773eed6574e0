#include "eigen_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <vector>

#include "diacut/errors.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/matvec.hpp"
#include "opencl/copy_elements.hpp"

namespace diacut::bench {

std::string solver_name(const std::string& solver) { return solver.substr(0, solver.find(':')); }

std::optional<MatvecStorage> solver_storage(const std::string& solver) {
  const std::size_t colon = solver.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return matvec_storage(solver.substr(colon + 1));
}

void check_solver(const std::string& solver) {
  const std::string name = solver_name(solver);
  const std::optional<MatvecStorage> storage = solver_storage(solver);
  if (name == "multilevel" && storage && *storage != MatvecStorage::kHalf) {
    throw ConfigError(
        fmt::format("--solvers '{}': expected multilevel or multilevel:half", solver));
  }
  if (name != "multilevel" && name != "lanczos" && name != "plain" && name != "spectra") {
    throw ConfigError(
        fmt::format("--solvers '{}': expected multilevel, lanczos, plain or spectra", name));
  }
}

namespace {

SolverParameters solver_of(const std::string& solver, const EigenParameters& parameters,
                           MatvecKind kind, const DeviceInfo& device, const DiaShape& shape) {
  const std::string name = solver_name(solver);
  SolverParameters result{parameters};
  result.eigen.solver = name == "spectra"      ? SolverKind::kSpectra
                        : name == "multilevel" ? SolverKind::kMultilevel
                                               : SolverKind::kLanczos;
  if (name == "plain") result.eigen.filter_degree = 1;
  const std::optional<MatvecStorage> storage = solver_storage(solver);
  if (name == "multilevel" && storage == MatvecStorage::kHalf) {
    result.form = MatrixForm::kCompressed;
  }
  if (!storage || result.form == MatrixForm::kCompressed) {
    result.matvec = choose_matvec({kind}, device, shape);
  } else if (*storage == MatvecStorage::kAuto) {
    result.matvec =
        choose_matvec({}, device, shape, storages_within_tolerance(result.eigen, *storage));
  } else {
    result.matvec = choose_matvec({MatvecKind::kSymmetric, *storage}, device, shape);
  }
  return result;
}

NormalizedMatrix copy_of(Context& context, const NormalizedMatrix& matrix) {
  const auto copy = [&](const Buffer<float>& from) {
    auto to = context.allocate<float>(from.size(), "a copy");
    copy_elements(from, 0, to, 0, from.size());
    return to;
  };
  return {matrix.batch(), matrix.stencil(), copy(matrix.dia().values), copy(matrix.sqrt_degree())};
}

/// The largest norm of A x - theta x, A the whole matrix and theta = x'Ax, whatever product the
/// solver used.
double residual_of_whole(Context& context, const NormalizedMatrix& matrix,
                         const Eigenvectors& found) {
  DiaOperator op(context, matrix.dia(), choose_matvec({}, context.info(), matrix.shape()).kind);
  Buffer<float> in = context.allocate<float>(op.rows(), "a vector");
  Buffer<float> out = context.allocate<float>(op.rows(), "a product");
  std::vector<float> product(op.rows());
  double worst = 0;
  for (const std::vector<float>& x : found.vectors) {  // The grid here has no padding.
    in.upload(x);
    op.perform_op(in, out);
    out.download(std::span<float>(product));
    double theta = 0;
    for (std::size_t i = 0; i < x.size(); ++i) theta += double{x[i]} * product[i];
    double square = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double rest = product[i] - theta * x[i];
      square += rest * rest;
    }
    worst = std::max(worst, std::sqrt(square));
  }
  return worst;
}

}  // namespace

SolverRun measure_solver(Context& context, NormalizedMatrix& matrix, MatvecKind kind,
                         const std::string& solver, const EigenParameters& parameters,
                         int repeats) {
  using Clock = std::chrono::steady_clock;
  const SolverParameters solving =
      solver_of(solver, parameters, kind, context.info(), matrix.shape());
  const std::uint64_t held = context.memory_in_use();
  context.reset_memory_peak();
  std::vector<double> wall;
  std::vector<double> device;
  SolverRun run;
  // The first of several runs builds kernels and is not counted.
  const int runs = solving.eigen.solver == SolverKind::kSpectra ? 1 : repeats + 1;
  for (int i = 0; i < runs; ++i) {
    std::optional<NormalizedMatrix> copy;  // Compression frees the matrix.
    if (solving.form == MatrixForm::kCompressed) {
      copy.emplace(copy_of(context, matrix));
      context.finish();
    }
    const cl::Event begin = context.mark();
    const Clock::time_point start = Clock::now();
    const std::vector<DeviceEigenvectors> found =
        eigenvectors(context, copy ? *copy : matrix, solving);
    const cl::Event end = context.mark();
    context.finish();
    if (i + 1 < runs && i == 0) continue;
    wall.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    device.push_back(milliseconds_between(begin, end));
    if (i + 1 == runs) run.found = to_host(found.front(), matrix);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(device.begin(), device.end());
  run.wall_ms = wall[wall.size() / 2];
  run.device_ms = device[device.size() / 2];
  run.peak_bytes = context.memory_peak() - held;
  run.residual = residual_of_whole(context, matrix, run.found);
  return run;
}

}  // namespace diacut::bench
