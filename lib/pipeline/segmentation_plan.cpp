#include "pipeline/segmentation_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "affinity/affinity.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/stencil.hpp"

namespace diacut {

bool merges_by_probability(const Parameters& parameters, bool own_map) {
  const MergingRule rule = parameters.region.merging;
  if (rule != MergingRule::kAuto) return rule == MergingRule::kLearned;
  return parameters.cue.kind == CueKind::kLearned && !own_map;
}

SegmentationPlan plan_for_image(const Grid& grid, const RunParameters& parameters,
                                const DeviceInfo& device, std::uint64_t limit) {
  if (makes_hierarchy(parameters) && !needs_eigenvectors(parameters)) {
    SegmentationPlan plan(Batch(grid), parameters);
    plan.budget = pipeline_budget(grid, parameters);
    check_memory(plan.budget, grid, parameters, device, limit);
    return plan;
  }
  SegmentationPlan plan(Batch(grid), solver_that_fits(grid, parameters, device, limit));
  const RunParameters& usable = plan.parameters;
  plan.form = form_that_fits(grid, usable, device, limit);
  plan.product = product_that_fits(grid, usable, device, limit);
  if (plan.form == MatrixForm::kCompressed && !walks(parameters)) {
    plan.product.kind = MatvecKind::kSymmetric;
    plan.product.storage = MatvecStorage::kHalf;
  }
  RunParameters planned = usable;
  planned.matvec = {plan.product.kind, plan.product.storage};
  plan.budget = pipeline_budget(grid, planned, plan.form);
  check_memory(plan.budget, grid, usable, device, limit);

  if (solver_wanted(eigen_parameters(usable).solver) != solver_wanted(parameters.eigen.solver)) {
    plan.notes.emplace_back(
        "the multilevel eigensolver does not fit in the device's memory: Lanczos is used, which is "
        "slower");
  }
  if (plan.form == MatrixForm::kCompressed && !walks(parameters) &&
      !pipeline_budget(grid, usable).fits(device, limit)) {
    plan.notes.emplace_back(
        "the affinity matrix does not fit the device's memory beside the eigensolver: it is "
        "compressed to 16 bits");
  }
  if (!plan.product.note.empty()) plan.notes.push_back(plan.product.note);
  return plan;
}

std::optional<SegmentationPlan> plan_for_batch(const Grid& grid, int images,
                                               const RunParameters& parameters,
                                               const DeviceInfo& device, std::uint64_t limit) {
  if (!makes_hierarchy(parameters) || parameters.has_features() ||
      parameters.affinity.strides.size() > 1) {
    return std::nullopt;
  }
  if (!needs_eigenvectors(parameters)) {
    SegmentationPlan plan(Batch(grid, images, grid.height), parameters);
    plan.budget = pipeline_budget(plan.batch, parameters);
    if (!plan.budget.fits(device, limit)) return std::nullopt;
    return plan;
  }
  const std::optional<Batch> batch =
      batch_for(grid, images, affinity_stencil(parameters.affinity), eigen_parameters(parameters));
  if (!batch) return std::nullopt;
  SegmentationPlan plan(*batch, parameters);
  plan.parameters.eigen.solver = SolverKind::kMultilevel;
  plan.product = product_that_fits(grid, plan.parameters, device, limit);
  plan.parameters.matvec = {plan.product.kind, plan.product.storage};
  plan.budget = pipeline_budget(*batch, plan.parameters);
  if (!plan.budget.fits(device, limit)) return std::nullopt;
  if (!plan.product.note.empty()) plan.notes.push_back(plan.product.note);
  return plan;
}

RunParameters solver_that_fits(const Grid& grid, const RunParameters& parameters,
                               const DeviceInfo& device, std::uint64_t limit) {
  RunParameters result = parameters;
  SolverKind& solver = result.eigen.solver;
  solver = solver_wanted(solver);
  if (solver == SolverKind::kMultilevel && !pipeline_budget(grid, result).fits(device, limit) &&
      !fits_compressed(grid, result, device, limit)) {
    solver = SolverKind::kLanczos;
  }
  return result;
}

MatrixForm form_that_fits(const Grid& grid, const RunParameters& parameters,
                          const DeviceInfo& device, std::uint64_t limit) {
  if (walks(parameters)) {
    const bool fits =
        pipeline_budget(grid, parameters, MatrixForm::kCompressed).fits(device, limit);
    // On a GPU the compressed matrix of a smaller image takes longer to make than it saves, and
    // wide blocks gain nothing by it.
    const bool gains =
        device.kind == DeviceKind::kCpu ||
        (grid.pixels() >= kCompressedFrom && narrow_block_columns(parameters.labels) == 4);
    return fits && gains ? MatrixForm::kCompressed : MatrixForm::kDia;
  }
  if (!compressible(parameters)) return MatrixForm::kDia;
  // storages_within_tolerance() names none for the multilevel solver's own products.
  EigenParameters rounded = parameters.eigen;
  rounded.solver = SolverKind::kLanczos;
  const auto storages = storages_within_tolerance(rounded, MatvecStorage::kAuto);
  const bool wanted = device.kind == DeviceKind::kCpu && grid.pixels() >= kCompressedFrom &&
                      solver_wanted(parameters.eigen.solver) == SolverKind::kMultilevel &&
                      std::count(storages.begin(), storages.end(), MatvecStorage::kHalf) > 0;
  if (!wanted && pipeline_budget(grid, parameters).fits(device, limit)) return MatrixForm::kDia;
  return MatrixForm::kCompressed;  // It needs less than the whole matrix, if neither fits.
}

MatvecChoice product_that_fits(const Grid& grid, const RunParameters& parameters,
                               const DeviceInfo& device, std::uint64_t limit) {
  const Stencil stencil = affinity_stencil(parameters.affinity);
  const DiaShape shape = dia_shape(grid, stencil);
  const MatvecParameters& asked = parameters.matvec;
  if (asked.kernel != MatvecKind::kAuto &&
      solver_wanted(parameters.eigen.solver) == SolverKind::kMultilevel) {
    // Lanczos may still take over.
    const bool symmetric = asked.kernel == MatvecKind::kSymmetric;
    MatvecChoice choice = choose_matvec(symmetric ? MatvecParameters() : asked, device, shape);
    choice.note += fmt::format(
        "{}the multilevel eigensolver has products of its own: --matvec {} is for --solver lanczos",
        choice.note.empty() ? "" : "; ", to_string(asked.kernel));
    return choice;
  }
  const std::vector<MatvecStorage> storages =
      stencil.is_disc() ? storages_within_tolerance(parameters.eigen, asked.storage)
                        : std::vector<MatvecStorage>();
  MatvecChoice choice = choose_matvec(asked, device, shape, storages);
  if (asked.kernel == MatvecKind::kAuto && choice.kind == MatvecKind::kSymmetric) {
    RunParameters compressed = parameters;
    compressed.matvec = {choice.kind, choice.storage};
    if (!pipeline_budget(grid, compressed).fits(device, limit)) {
      return choose_matvec(asked, device, shape);
    }
  }
  return choice;
}

}  // namespace diacut
