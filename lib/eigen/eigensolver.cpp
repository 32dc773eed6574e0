#include "eigen/eigensolver.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "diacut/errors.hpp"
#include "eigen/dense/dense.hpp"
#include "eigen/lanczos/basis.hpp"
#include "eigen/lanczos/lanczos.hpp"
#include "eigen/lanczos/spectra_solver.hpp"
#include "eigen/lobpcg/columns.hpp"
#include "eigen/lobpcg/rayleigh_quotients.hpp"
#include "eigen/lobpcg/workspace.hpp"
#include "eigen/multilevel/coarse_levels.hpp"
#include "eigen/multilevel/level_degrees.hpp"
#include "eigen/multilevel/multilevel.hpp"
#include "matrix/dia_operator.hpp"
#include "matrix/quadratic_form.hpp"
#include "matrix/symmetric_dia.hpp"

namespace diacut {

namespace {

/// Vectors whose quadratic forms are computed at once.
constexpr int kFormColumns = 8;

std::size_t support_of(const std::vector<float>& degrees) {
  return static_cast<std::size_t>(
      std::count_if(degrees.begin(), degrees.end(), [](float s) { return s > 0; }));
}

std::vector<float> download_degrees(const Buffer<float>& sqrt_degree, std::size_t rows) {
  std::vector<float> degrees(rows);
  sqrt_degree.download(std::span<float>(degrees));
  return degrees;
}

/// The elements with data that there have to be for another solver than the dense one.
std::size_t least_support(const EigenParameters& parameters) {
  const auto steps = static_cast<std::size_t>(lanczos_basis_size(parameters));
  return std::max(kDenseLimit, 2 * steps) + 1;
}

bool few(std::size_t support, const EigenParameters& parameters) {
  return support < least_support(parameters);
}

/// By a solver that takes one image at a time.
KrylovResult solve(Context& context, DeviceOperator& op, const DiaMatrix& matrix,
                   const Buffer<float>& sqrt_degree, const std::vector<float>& degrees,
                   const EigenParameters& parameters, const Watch& watch) {
  const std::size_t support = support_of(degrees);
  if (few(support, parameters)) return dense_eigenvectors(context, matrix, degrees, parameters);
  if (solver_wanted(parameters.solver) == SolverKind::kSpectra) {
    return spectra_lanczos(context, op, degrees, support, matrix.shape.pitch, parameters, watch);
  }
  return thick_restart_lanczos(context, op, sqrt_degree, support, matrix.shape.pitch,
                               static_cast<double>(matrix.shape.diagonals()), parameters, watch);
}

/// Whether what the multilevel solver found is the result: what float32 blocks do not settle,
/// Lanczos does, whose basis is orthogonal to rounding.
bool settled(const std::optional<std::vector<DeviceEigenvectors>>& found,
             const EigenParameters& parameters) {
  return found && (found->front().report.converged ||
                   found->front().report.products >= parameters.max_products);
}

/// Norms of A z - (z'Az) z. Waits for the device once.
std::vector<double> residual_norms(Context& context, DeviceOperator& op, std::size_t pitch,
                                   const Buffer<float>& basis, int count, BasisKernels& kernels) {
  auto z = context.allocate<float>(pitch, "a vector");
  auto az = context.allocate<float>(pitch, "a vector");
  az.fill(0);
  // Squared norms from 0 on, then dot products.
  const auto vectors = static_cast<std::size_t>(count);
  DeviceSums sums(context, 2 * vectors, "dot products and norms");
  for (int k = 0; k < count; ++k) {
    kernels.copy(basis, k, 1, z);
    op.perform_op(z, az);
    kernels.dots(z, 1, az, sums, count + k);
    kernels.update(z, 1, az, sums, count + k, k);
  }
  std::vector<double> result = sums.download(vectors);
  for (double& norm : result) norm = std::sqrt(std::max(norm, 0.0));
  return result;
}

/// What a solver found, measured, ordered and signed. `values`: the quadratic forms of its vectors.
DeviceEigenvectors measured(Context& context, DeviceOperator& op, std::size_t rows,
                            std::size_t pitch, std::int64_t solved_products, KrylovResult solved,
                            std::vector<double> values) {
  DeviceEigenvectors result;
  result.rows = rows;
  result.pitch = pitch;
  result.count = solved.count;

  BasisKernels kernels(context, pitch, solved.count);
  values[0] = 0;  // known, not computed
  const std::vector<double> residuals =
      residual_norms(context, op, pitch, solved.basis, solved.count, kernels);
  const std::vector<float> peaks = kernels.peaks(solved.basis, solved.count);

  std::vector<int> order(static_cast<std::size_t>(solved.count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](int a, int b) { return values[a] < values[b]; });
  std::vector<float> signed_permutation(order.size() * order.size(), 0.0F);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto from = static_cast<std::size_t>(order[k]);
    signed_permutation[k * order.size() + from] = peaks[from] < 0 ? -1.0F : 1.0F;
    result.values.push_back(values[from]);
    result.report.residuals.push_back(residuals[from]);
  }
  kernels.rotate(solved.basis, 0, solved.count, solved.count, signed_permutation);

  result.basis = std::move(solved.basis);
  result.report.converged = solved.converged;
  result.report.restarts = solved.restarts;
  result.report.filter_degree = solved.filter_degree;
  result.report.products = solved_products;
  result.report.passes = result.report.products;
  result.report.solver = solved.solver;
  return result;
}

/// The quadratic forms of the vectors that Lanczos found, a block of them at a time.
std::vector<double> compressed_forms(Context& context, const SymmetricDia& matrix,
                                     std::size_t pitch, const Stencil& stencil,
                                     const Buffer<float>& sqrt_degree, const KrylovResult& found) {
  const std::size_t rows = matrix.grid.rows();
  const GridMatrix on_grid(matrix.upper, matrix.diagonal, matrix.layout.stride,
                           {matrix.grid.width, matrix.grid.height, matrix.grid.stride, pitch});
  const std::vector<GridDiagonal> diagonals = diagonals_of(stencil);
  BasisKernels vectors(context, pitch, found.count);
  BlockColumns columns(context, kFormColumns);
  Workspace workspace(context, kFormColumns, rows);
  RayleighQuotients quotients(workspace);
  auto z = context.allocate<float>(pitch, "a vector");
  auto x = context.allocate<float>(rows * kFormColumns, "a block of vectors");
  auto y = context.allocate<float>(rows * kFormColumns, "a block of vectors");
  auto one = context.allocate<float>(1, "a factor");
  one.fill(1);
  x.fill(0);
  std::vector<double> result;
  for (int first = 0; first < found.count; first += kFormColumns) {
    const int count = std::min(kFormColumns, found.count - first);
    for (int k = 0; k < count; ++k) {
      vectors.copy(found.basis, first + k, 1, z);
      columns.insert(z, one, 0, 1, rows, k, x);
    }
    const std::vector<double> values =
        quotients.compute(on_grid, diagonals, sqrt_degree, x, {rows, rows}, y, x);
    result.insert(result.end(), values.begin(), values.begin() + count);
  }
  return result;
}

}  // namespace

SolverKind solver_wanted(SolverKind asked) {
  return asked == SolverKind::kAuto ? SolverKind::kMultilevel : asked;
}

std::vector<MatvecStorage> storages_within_tolerance(const EigenParameters& parameters,
                                                     MatvecStorage asked) {
  if (parameters.solver != SolverKind::kLanczos) return {};
  if (asked != MatvecStorage::kAuto) return {asked};
  constexpr double kLargestEigenvalue = 0.01;
  std::vector<MatvecStorage> result;
  for (const MatvecStorage storage :
       {MatvecStorage::kMinifloat, MatvecStorage::kHalf, MatvecStorage::kFloat32}) {
    if (rounding(storage) * std::sqrt(2 * kLargestEigenvalue) <= parameters.tolerance) {
      result.push_back(storage);
    }
  }
  return result;
}

namespace {

/// `form`: of the matrix.
void budget_solver(MemoryBudget& budget, const Batch& batch, const Stencil& stencil,
                   const EigenParameters& parameters, MatrixForm form) {
  const std::size_t rows = batch.grid().rows();
  const std::size_t pitch = dia_pitch(rows);
  const auto columns = static_cast<std::size_t>(lanczos_basis_size(parameters)) + 2;
  MemoryBudget lanczos;
  lanczos.add("the basis of the eigensolver", pitch * columns * sizeof(float));
  lanczos.add("vectors of the eigensolver", 8 * pitch * sizeof(float));
  if (form == MatrixForm::kCompressed) {
    lanczos.add("blocks of vectors of the eigensolver",
                2 * rows * kFormColumns * sizeof(float) + Workspace::memory(kFormColumns, rows));
  }
  MemoryBudget multilevel;
  budget_multilevel(multilevel, batch, stencil, parameters, form);
  // What cannot be coarsened goes from one to the other.
  const bool may =
      parameters.solver == SolverKind::kMultilevel || parameters.solver == SolverKind::kAuto;
  const bool more = may && multilevel.total() > lanczos.total();
  for (const MemoryBudget::Item& item : (more ? multilevel : lanczos).items()) {
    budget.add(item.what, item.bytes);
  }
}

}  // namespace

void budget_eigen(MemoryBudget& budget, const Batch& batch, const Stencil& stencil,
                  const EigenParameters& parameters) {
  budget_solver(budget, batch, stencil, parameters, MatrixForm::kDia);
}

void budget_eigenvectors(MemoryBudget& budget, const Batch& batch,
                         const EigenParameters& parameters) {
  // Lanczos, which may have taken over, leaves its basis.
  budget.add("the eigenvectors", dia_pitch(batch.grid().rows()) * sizeof(float) *
                                     static_cast<std::size_t>(lanczos_basis_size(parameters) + 2));
}

void budget_eigen_compressed(MemoryBudget& before, MemoryBudget& after, const Grid& grid,
                             const Stencil& stencil, const EigenParameters& parameters) {
  for (MemoryBudget* budget : {&before, &after}) {
    budget_symmetric(*budget, grid, stencil, MatvecStorage::kHalf, false);
  }
  if (solver_wanted(parameters.solver) == SolverKind::kMultilevel) {
    before.add("coarser grids of the eigensolver, while they are made",
               multilevel_building_memory(grid, stencil, parameters));
  }
  budget_solver(after, Batch(grid), stencil, parameters, MatrixForm::kCompressed);
}

DeviceEigenvectors eigenvectors(Context& context, DeviceOperator& op, const DiaMatrix& matrix,
                                const Grid& grid, const Stencil& stencil,
                                const Buffer<float>& sqrt_degree, const EigenParameters& parameters,
                                const Watch& watch) {
  const std::size_t pitch = matrix.shape.pitch;
  const std::int64_t products_before = op.products();
  watch.report("eigenvectors", 0);
  if (solver_wanted(parameters.solver) == SolverKind::kMultilevel &&
      !few(grid.pixels(), parameters)) {
    auto found = multilevel_eigenvectors(context, matrix, Batch(grid), stencil, sqrt_degree,
                                         least_support(parameters), parameters, watch);
    if (settled(found, parameters)) {
      watch.report("eigenvectors", 1);
      return std::move(found->front());
    }
  }
  const std::vector<float> degrees = download_degrees(sqrt_degree, matrix.shape.rows);
  if (support_of(degrees) == 0) {
    throw InputError("no pixel has data: there is nothing to find eigenvectors of");
  }
  KrylovResult solved = solve(context, op, matrix, sqrt_degree, degrees, parameters, watch);

  std::vector<double> values =
      quadratic_forms(context, matrix.values, matrix.shape.offsets, matrix.shape.rows, pitch,
                      sqrt_degree, solved.basis, solved.count);
  DeviceEigenvectors result =
      measured(context, op, matrix.shape.rows, pitch, op.products() - products_before,
               std::move(solved), std::move(values));
  watch.report("eigenvectors", 1);
  return result;
}

DeviceEigenvectors eigenvectors_compressed(Context& context, DiaMatrix&& matrix, const Grid& grid,
                                           const Stencil& stencil, const Buffer<float>& sqrt_degree,
                                           const EigenParameters& parameters, const Watch& watch) {
  const DiaShape shape = matrix.shape;
  const std::size_t support =
      level_degrees(context, sqrt_degree, grid.width, grid.height, grid.stride, shape.rows, 1, 1)
          .counts.download()
          .front();
  if (few(support, parameters)) {
    DiaOperator op(context, matrix, MatvecKind::kUnrolled);
    return eigenvectors(context, op, matrix, grid, stencil, sqrt_degree, parameters, watch);
  }
  watch.report("eigenvectors", 0);
  const SymmetricDia compressed =
      compress_rooted(context, matrix, grid, stencil, MatvecStorage::kHalf, sqrt_degree);
  if (solver_wanted(parameters.solver) == SolverKind::kMultilevel) {
    auto found =
        multilevel_eigenvectors(context, std::move(matrix), compressed, Batch(grid), stencil,
                                sqrt_degree, least_support(parameters), parameters, watch);
    if (settled(found, parameters)) {
      watch.report("eigenvectors", 1);
      return std::move(found->front());
    }
  }
  context.finish();
  matrix = {};
  SymmetricOperator op(context, compressed);
  KrylovResult solved =
      thick_restart_lanczos(context, op, sqrt_degree, support, shape.pitch,
                            static_cast<double>(shape.diagonals()), parameters, watch);
  const std::int64_t products = op.products();
  std::vector<double> values =
      compressed_forms(context, compressed, shape.pitch, stencil, sqrt_degree, solved);
  DeviceEigenvectors result = measured(context, op, shape.rows, shape.pitch, products,
                                       std::move(solved), std::move(values));
  watch.report("eigenvectors", 1);
  return result;
}

std::optional<Batch> batch_for(const Grid& image, int count, const Stencil& stencil,
                               const EigenParameters& parameters) {
  if (solver_wanted(parameters.solver) != SolverKind::kMultilevel || stencil.radius < 2) {
    return std::nullopt;
  }
  if (few(image.pixels(), parameters)) return std::nullopt;
  return Batch(image, count, CoarseLevels::batched_height(image, stencil));
}

std::optional<std::vector<DeviceEigenvectors>> eigenvectors_of_batch(
    Context& context, const DiaMatrix& matrix, const Batch& batch, const Stencil& stencil,
    const Buffer<float>& sqrt_degree, const EigenParameters& parameters, const Watch& watch) {
  watch.report("eigenvectors", 0);
  auto found = multilevel_eigenvectors(context, matrix, batch, stencil, sqrt_degree,
                                       least_support(parameters), parameters, watch);
  if (found) watch.report("eigenvectors", 1);
  return found;
}

Eigenvectors to_host(const DeviceEigenvectors& eigenvectors, const Grid& grid,
                     const Buffer<float>& sqrt_degree) {
  const auto padded_vectors = [&](const Buffer<float>& buffer, int first, int count) {
    std::vector<float> values(static_cast<std::size_t>(count - 1) * eigenvectors.pitch +
                              grid.rows());
    buffer.download(std::span<float>(values), static_cast<std::size_t>(first) * eigenvectors.pitch);
    return values;
  };
  Eigenvectors host;
  host.width = grid.width;
  host.height = grid.height;
  host.values = eigenvectors.values;
  host.report = eigenvectors.report;
  host.sqrt_degree = without_padding(padded_vectors(sqrt_degree, 0, 1), grid);
  // Each download waits for the device: of small images, one does.
  constexpr std::size_t kAtOnce = std::size_t{1} << 24;
  const int at_once = static_cast<int>(std::max<std::size_t>(kAtOnce / eigenvectors.pitch, 1));
  for (int first = 0; first < eigenvectors.count; first += at_once) {
    const int count = std::min(at_once, eigenvectors.count - first);
    const std::vector<float> several = padded_vectors(eigenvectors.basis, first, count);
    for (int k = 0; k < count; ++k) {
      host.vectors.push_back(without_padding(
          std::span(several).subspan(static_cast<std::size_t>(k) * eigenvectors.pitch, grid.rows()),
          grid));
    }
  }
  return host;
}

}  // namespace diacut
