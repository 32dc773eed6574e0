#include "pipeline/run_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "affinity/affinity.hpp"
#include "core/enum_names.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen/multilevel/coarse_levels.hpp"
#include "walker/random_walker.hpp"

namespace diacut {

bool merges_by_probability(const Parameters& parameters, bool own_map) {
  const MergingRule rule = parameters.region.merging;
  if (rule != MergingRule::kAuto) return rule == MergingRule::kLearned;
  return parameters.boundary.kind == BoundaryKind::kLearned && !own_map;
}

bool walks(const Parameters& parameters) {
  return parameters.region.method == RegionMethod::kWalker;
}

bool decimates(const RunParameters& parameters) {
  return makes_hierarchy(parameters) &&
         parameters.contour_decided.spectral == SpectralUse::kDecimated;
}

bool needs_matrix(const RunParameters& parameters) {
  return !makes_hierarchy(parameters) || parameters.eigenvectors;
}

bool thins(const BoundaryParameters& boundary) {
  return boundary.kind == BoundaryKind::kGradient && boundary.thin;
}

namespace {

/// Pixels from which a hierarchy's matrix is compressed on a CPU, where that is as fast, and the
/// V-cycle's of a random walk on a GPU, where from there on it is faster.
constexpr std::size_t kCompressedFrom = std::size_t{1} << 20;

/// Whether the V-cycle of a random walk is faster with compressed matrices. On a GPU the compressed
/// matrix of a smaller image takes longer to make than it saves, and wide blocks gain nothing.
bool walk_gains(const RunForm& form, const DeviceInfo& device) {
  return device.kind == DeviceKind::kCpu || (form.batch.grid().rows() >= kCompressedFrom &&
                                             narrow_block_columns(form.parameters.labels) == 4);
}

/// Whether the multilevel solver reads a compressed matrix without being short of memory: on a CPU,
/// where rounding is within the tolerance.
bool compresses_first(const RunForm& form, const DeviceInfo& device) {
  if (device.kind != DeviceKind::kCpu || form.batch.grid().rows() < kCompressedFrom) return false;
  // storages_within_tolerance() names none for the multilevel solver's own products.
  EigenParameters rounded = form.parameters.eigen;
  rounded.solver = SolverKind::kLanczos;
  const auto storages = storages_within_tolerance(rounded, MatvecStorage::kAuto);
  return std::count(storages.begin(), storages.end(), MatvecStorage::kHalf) > 0;
}

/// Whether the eigensolver can read a compressed matrix, the whole matrix being given up. Direct
/// cuts need the whole matrix after the eigensolver; Spectra and a kernel asked for by name read
/// it; the compressed form knows no strides.
bool compressible(const Parameters& parameters) {
  if (!makes_hierarchy(parameters) || parameters.affinity.strides.size() > 1) return false;
  return parameters.eigen.solver == SolverKind::kMultilevel ||
         (parameters.eigen.solver == SolverKind::kLanczos &&
          parameters.matvec.kernel == MatvecKind::kAuto);
}

/// The multilevel solver has products of its own. Where a kernel is asked for with it, the note
/// says that the kernel is for Lanczos, to which the solver may leave an image.
MatvecChoice multilevel_product(const MatvecParameters& asked, const DeviceInfo& device,
                                const DiaShape& shape) {
  const bool symmetric = asked.kernel == MatvecKind::kSymmetric;
  MatvecChoice choice = choose_matvec(symmetric ? MatvecParameters() : asked, device, shape);
  if (asked.kernel != MatvecKind::kAuto) {
    choice.note += fmt::format(
        "{}the multilevel eigensolver has products of its own: --matvec {} is for --solver lanczos",
        choice.note.empty() ? "" : "; ", to_string(asked.kernel));
  }
  return choice;
}

void note_product(RunForm& form) {
  if (!form.product.note.empty()) form.notes.push_back(form.product.note);
}

/// A form with the whole matrix and this product, which is not the multilevel solver's.
RunForm with_product(RunForm form, MatvecChoice product) {
  form.product = std::move(product);
  form.parameters.matvec = {form.product.kind, form.product.storage};
  note_product(form);
  return form;
}

/// Forms of solvers that multiply one vector at a time. Lanczos gets a compressed copy beside the
/// matrix unless another product is asked for.
std::vector<RunForm> single_vector_forms(const RunForm& form, const DeviceInfo& device,
                                         const DiaShape& shape, const Stencil& stencil) {
  const MatvecParameters& asked = form.parameters.matvec;
  const std::vector<MatvecStorage> storages =
      stencil.is_disc() ? storages_within_tolerance(form.parameters.eigen, asked.storage)
                        : std::vector<MatvecStorage>();
  std::vector<RunForm> forms = {with_product(form, choose_matvec(asked, device, shape, storages))};
  if (asked.kernel == MatvecKind::kAuto && forms[0].product.kind == MatvecKind::kSymmetric) {
    forms.push_back(with_product(form, choose_matvec(asked, device, shape)));
  }
  return forms;
}

/// The form with its matrix compressed; `short_of_memory`: because the whole matrix does not fit.
RunForm compressed(RunForm form, bool short_of_memory) {
  form.matrix = MatrixForm::kCompressed;
  form.product.kind = MatvecKind::kSymmetric;
  form.product.storage = MatvecStorage::kHalf;
  form.parameters.matvec = {form.product.kind, form.product.storage};
  if (short_of_memory) {
    form.notes.insert(form.notes.begin(),
                      "the affinity matrix does not fit the device's memory beside the "
                      "eigensolver: it is compressed to 16 bits");
  }
  note_product(form);
  return form;
}

std::vector<RunForm> walk_forms(const RunForm& form, const DeviceInfo& device) {
  std::vector<RunForm> forms = {form};
  if (walk_gains(form, device)) {
    forms.insert(forms.begin(), form);
    forms[0].matrix = MatrixForm::kCompressed;
  }
  return forms;
}

/// Forms of a run that computes eigenvectors: by the solver asked for, and where the multilevel one
/// does not fit by Lanczos, which is slower and needs less memory.
std::vector<RunForm> solver_forms(RunForm form, const DeviceInfo& device) {
  const Stencil stencil = affinity_stencil(form.parameters.affinity);
  const DiaShape shape = dia_shape(form.batch.image, stencil);
  std::vector<RunForm> forms;
  if (form.parameters.eigen.solver == SolverKind::kMultilevel) {
    RunForm whole = form;
    whole.product = multilevel_product(form.parameters.matvec, device, shape);
    const bool first = compresses_first(form, device);
    if (compressible(form.parameters)) forms.push_back(compressed(whole, !first));
    note_product(whole);
    if (!first || forms.empty()) forms.insert(forms.begin(), whole);
    form.parameters.eigen.solver = SolverKind::kLanczos;
    form.notes.emplace_back(
        "the multilevel eigensolver does not fit in the device's memory: Lanczos is used, which is "
        "slower");
  }
  const std::vector<RunForm> single = single_vector_forms(form, device, shape, stencil);
  forms.insert(forms.end(), single.begin(), single.end());
  if (compressible(form.parameters)) forms.push_back(compressed(form, true));
  return forms;
}

}  // namespace

std::vector<RunForm> forms_to_try(const Grid& grid, int images, const RunParameters& parameters,
                                  const DeviceInfo& device) {
  RunForm form{Batch(grid), parameters};
  form.device = device.kind;
  form.parameters.eigen.solver = solver_wanted(parameters.eigen.solver);
  if (images > 1) {
    if (!makes_hierarchy(parameters) || parameters.has_features() ||
        parameters.affinity.strides.size() > 1) {
      return {};
    }
    const Stencil stencil = affinity_stencil(parameters.affinity);
    form.batch = Batch(grid, images, CoarseLevels::batched_height(grid, stencil));
  }
  if (!needs_matrix(parameters)) return {form};
  if (images == 1) return walks(parameters) ? walk_forms(form, device) : solver_forms(form, device);
  const Stencil stencil = affinity_stencil(parameters.affinity);
  const std::optional<Batch> batch = batch_for(grid, images, stencil, parameters.eigen);
  if (!batch) return {};
  form.batch = *batch;
  form.product = multilevel_product(parameters.matvec, device, dia_shape(grid, stencil));
  note_product(form);
  return {form};
}

}  // namespace diacut
