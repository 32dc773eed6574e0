#include "eigen/eigensolver.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "diacut/errors.hpp"
#include "eigen/multilevel/coarse_levels.hpp"
#include "eigen/multilevel/coarsen.hpp"
#include "eigen/solvers.hpp"
#include "matrix/symmetric_dia.hpp"

namespace diacut {

namespace {

constexpr char kStage[] = "eigenvectors";

/// The least number of elements with data for solvers other than the dense one.
std::size_t least_elements(const EigenParameters& parameters) {
  const auto steps = static_cast<std::size_t>(lanczos_basis_size(parameters));
  return std::max(kDenseLimit, 2 * steps) + 1;
}

std::size_t elements_with_data(Context& context, const NormalizedMatrix& matrix) {
  return level_degrees(context, matrix.batch(), matrix.sqrt_degree(), 1).counts.take().front();
}

/// Whether an image of that size goes to the multilevel solver first.
bool multilevel_first(const Grid& image, const EigenParameters& parameters) {
  return solver_wanted(parameters.solver) == SolverKind::kMultilevel &&
         image.rows() >= least_elements(parameters);
}

/// Whether Lanczos cannot improve on what the multilevel solver found. Its basis is orthogonal to
/// rounding, so it may converge where float32 blocks do not, if there are products left for it; but
/// a residual norm below kResidualFloor is beyond both.
bool is_final(const EigenReport& report, const EigenParameters& parameters) {
  const double worst = *std::max_element(report.residuals.begin(), report.residuals.end());
  return report.converged || report.products >= parameters.max_products ||
         (parameters.tolerance < kResidualFloor && worst <= kResidualFloor);
}

/// What the multilevel solver finds, if that is the final result.
std::vector<DeviceEigenvectors> solve_by_levels(Context& context, NormalizedMatrix& matrix,
                                                const SolverParameters& parameters,
                                                const Watch& watch) {
  const EigenParameters& eigen = parameters.eigen;
  auto found = multilevel_eigenvectors(context, matrix, parameters.form, least_elements(eigen),
                                       eigen, watch);
  if (!found) return {};
  const bool accepted =
      found->size() == 1
          ? is_final(found->front().report, eigen)
          : std::all_of(found->begin(), found->end(),
                        [](const DeviceEigenvectors& each) { return each.report.converged; });
  return accepted ? std::move(*found) : std::vector<DeviceEigenvectors>();
}

/// One image by Lanczos, Spectra or, where few elements have data, a dense solver.
DeviceEigenvectors solve_by_products(Context& context, NormalizedMatrix& matrix,
                                     const SolverParameters& parameters, const Watch& watch) {
  const EigenParameters& eigen = parameters.eigen;
  const bool compressed = parameters.form == MatrixForm::kCompressed;
  const std::size_t elements = elements_with_data(context, matrix);
  if (elements == 0 && parameters.solved > 0) {
    DeviceEigenvectors none{matrix.rows(), matrix.shape().pitch, 0, {}, {}, {}};
    none.report.converged = true;
    return none;
  }
  if (elements == 0) {
    throw InputError("no pixel has data: there is nothing to find eigenvectors of");
  }
  const bool dense = elements < least_elements(eigen);
  if (compressed && !dense && matrix.form() == MatrixForm::kDia) matrix.compress(context);
  const std::unique_ptr<DeviceOperator> op =
      make_matvec(context, matrix, compressed ? MatvecChoice() : parameters.matvec);
  const auto solve = [&] {
    if (dense) return dense_eigenvectors(context, matrix, eigen);
    if (eigen.solver == SolverKind::kSpectra) {
      return spectra_lanczos(context, *op, matrix, elements, eigen, watch);
    }
    return thick_restart_lanczos(context, *op, matrix, elements, eigen, watch);
  };
  return eigenpairs(context, matrix, *op, solve());
}

/// Describes the matrix of one image; of a batch, the share of an image.
MatrixReport matrix_report(const NormalizedMatrix& matrix) {
  const DiaShape& shape = matrix.shape();
  MatrixReport report{
      matrix.batch().image.rows(), shape.pitch, static_cast<int>(shape.diagonals()), 0, 0, "dia"};
  const std::vector<StencilOffset>& entries = matrix.stencil().entries;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const bool goes_on =
        k > 0 && entries[k].dy == entries[k - 1].dy && entries[k].dx == entries[k - 1].dx + 1;
    if (!goes_on) ++report.bands;
  }
  report.bytes = shape.stored() * sizeof(float);
  if (matrix.form() == MatrixForm::kCompressed) {
    report.form = to_string(matrix.compressed().storage);
    report.bytes = matrix.compressed().upper.bytes() + matrix.compressed().diagonal.bytes();
  }
  report.bytes /= static_cast<std::uint64_t>(matrix.batch().count);
  return report;
}

}  // namespace

std::vector<DeviceEigenvectors> eigenvectors(Context& context, NormalizedMatrix& matrix,
                                             const SolverParameters& parameters,
                                             const Watch& watch) {
  watch.report(kStage, 0);
  const Batch& batch = matrix.batch();
  std::vector<DeviceEigenvectors> result;
  if (parameters.solved > 0) {
    auto found = filtered_eigenvectors(context, matrix, parameters.solved, parameters.eigen, watch);
    if (found) result = std::move(*found);
  } else if (batch.count > 1 || multilevel_first(batch.image, parameters.eigen)) {
    result = solve_by_levels(context, matrix, parameters, watch);
  }
  if (result.empty()) {
    if (batch.count > 1) return result;
    result.push_back(solve_by_products(context, matrix, parameters, watch));
  }
  for (DeviceEigenvectors& each : result) each.report.matrix = matrix_report(matrix);
  watch.report(kStage, 1);
  return result;
}

SolverKind solver_wanted(SolverKind asked) {
  return asked == SolverKind::kAuto ? SolverKind::kMultilevel : asked;
}

std::vector<MatvecStorage> storages_within_tolerance(const EigenParameters& parameters,
                                                     MatvecStorage asked) {
  if (parameters.solver != SolverKind::kLanczos) return {};
  if (asked != MatvecStorage::kAuto) return {asked};
  if (parameters.relative_tolerance > 0) return {MatvecStorage::kFloat32};
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

std::optional<Batch> batch_for(const Grid& image, int count, const Stencil& stencil,
                               const EigenParameters& parameters) {
  if (stencil.radius < 2 || !multilevel_first(image, parameters)) return std::nullopt;
  return Batch(image, count, CoarseLevels::batched_height(image, stencil));
}

}  // namespace diacut
