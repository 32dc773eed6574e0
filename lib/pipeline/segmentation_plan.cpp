#include "pipeline/segmentation_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "affinity/affinity.hpp"
#include "affinity/feature_affinity.hpp"
#include "core/host_memory.hpp"
#include "diacut/errors.hpp"
#include "eigen/eigensolver.hpp"
#include "image/detail.hpp"
#include "image/feature_planes.hpp"
#include "matrix/stencil.hpp"
#include "pipeline/pipeline_budget.hpp"
#include "pipeline/working_image.hpp"

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

namespace {

/// What the driver of a CPU takes for the compiled kernels of a run beside their buffers, bytes: 5
/// to 25 MB with PoCL.
constexpr std::uint64_t kKernelsOnCpu = std::uint64_t{12} << 20;

/// The most that making a hierarchy holds for each pixel beside its maps, bytes: what the watershed
/// knows of a pixel, basins, and the arcs between them.
constexpr std::uint64_t kHierarchyBytes = 20;

constexpr std::uint64_t kFloat = sizeof(float);
constexpr std::uint64_t kLabel = sizeof(std::int32_t);

std::uint64_t pixels_of(const PictureSize& size) {
  return static_cast<std::uint64_t>(size.width) * static_cast<std::uint64_t>(size.height);
}

/// What one image of a run takes of main memory in each phase, bytes.
struct HostBytes {
  std::uint64_t reading = 0;
  std::uint64_t boundaries = 0;
  std::uint64_t on_device = 0;  ///< While the device works.
  std::uint64_t contours = 0;
  std::uint64_t regions = 0;
  std::uint64_t placement = 0;  ///< 0: the image is not reduced.
  std::uint64_t results = 0;
};

HostBytes host_bytes_of(const SegmentationPlan& plan, const HostImage& image) {
  const bool hierarchical = makes_hierarchy(plan.parameters);
  const bool objects = plan.parameters.region.method == RegionMethod::kObjects;
  const auto channels = static_cast<std::uint64_t>(image.channels);
  const std::uint64_t value = kFloat * channels + (image.masked ? 1 : 0);  // Of a pixel.
  const std::uint64_t full = pixels_of(image.full);
  const std::uint64_t working = plan.batch.image.pixels();
  const PictureSize size{plan.batch.image.width, plan.batch.image.height};
  const std::uint64_t detail = size != image.full ? pixels_of(detail_size(image.full, size)) : 0;
  const std::uint64_t features = image.features.bytes();
  const std::uint64_t inside = objects ? kFloat : 0;
  const std::uint64_t leaves = (hierarchical ? kLabel + kFloat : 0) + inside;  // And contours.
  const std::uint64_t maps = working * ((hierarchical ? 2 * kFloat : 0) + inside);
  // Of a verified image, its other segmentation.
  const std::uint64_t other =
      image.verified ? full * (leaves + kLabel) + maps + detail * value : 0;

  HostBytes bytes;
  // The image is read first, and then the features, which may be brought to another order.
  bytes.reading =
      std::max(image.file_bytes + full * (value + channels), full * value + 2 * features);
  // A working image of the full size is the image itself. Colours are there as soon as the device
  // begins.
  bytes.on_device = full * value + (detail > 0 ? (detail + working) * value : 0) + features + other;
  if (merges_by_probability(plan.parameters, !plan.parameters.has_boundary())) {
    bytes.on_device += channels * working;
  }
  bytes.boundaries = bytes.on_device;
  if (features > 0) {
    const int block = std::min(image.features.channels, kFeatureBlock);
    bytes.boundaries += feature_planes_memory(image.features, block, size);
  }
  bytes.contours = bytes.on_device + maps;
  bytes.regions = bytes.contours + (hierarchical ? working * kHierarchyBytes : 0);
  // Levels of the detail, then the flood, which holds its cells, their levels, and the labels.
  if (detail > 0) {
    bytes.placement =
        bytes.contours + std::max(detail * (2 * value + 4 * kFloat), full * (2 * kLabel + 2));
  }
  // Contours and leaves of a hierarchy, the inside map, labels, and these as PNG takes them.
  bytes.results = features + detail * value + other +
                  full * (value + leaves + kLabel + sizeof(std::uint16_t));
  return bytes;
}

std::string gib(std::uint64_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace

std::uint64_t MemoryPlan::device_bytes() const {
  std::uint64_t most = 0;
  for (const MemoryPhase& phase : phases) most = std::max(most, phase.device_bytes);
  return most;
}

std::uint64_t MemoryPlan::host_bytes() const {
  std::uint64_t most = 0;
  for (const MemoryPhase& phase : phases) most = std::max(most, phase.host_bytes);
  return most;
}

MemoryPlan memory_plan(const SegmentationPlan& plan, std::span<const HostImage> images,
                       const DeviceInfo& device) {
  const bool shared = device.kind == DeviceKind::kCpu;
  MemoryPlan result;
  const auto add = [&](const char* phase, std::uint64_t on_device,
                       std::uint64_t HostBytes::*on_host) {
    std::uint64_t bytes = 0;
    for (const HostImage& image : images) bytes += host_bytes_of(plan, image).*on_host;
    if (shared) bytes += on_device + (result.phases.empty() ? 0 : kKernelsOnCpu);
    result.phases.push_back({phase, on_device, bytes});
  };
  const PipelineBudget& budget = plan.budget;
  add("reading", 0, &HostBytes::reading);
  add("boundaries", budget.boundaries, &HostBytes::boundaries);
  if (budget.compression > 0) add("compression", budget.compression, &HostBytes::on_device);
  if (budget.eigen > 0) {
    add(walks(plan.parameters) ? "random walk" : "eigenvectors", budget.eigen,
        &HostBytes::on_device);
  }
  if (makes_hierarchy(plan.parameters)) add("contours", budget.contours, &HostBytes::contours);
  // Only direct cuts need the device.
  add("regions", budget.regions, &HostBytes::regions);
  if (host_bytes_of(plan, images.front()).placement > 0) {
    add("placement", 0, &HostBytes::placement);
  }
  add("results", 0, &HostBytes::results);
  return result;
}

MemoryPlan plan_memory(const ImageSize& image, const Parameters& parameters,
                       const DeviceInfo& device, std::uint64_t limit,
                       const PlannedResults& results) {
  const PictureSize full{image.width, image.height};
  const PictureSize working = reduced_size(full, parameters.image.detail);
  const HostImage one{
      full, image.channels, false, image.file_bytes, results.features, results.verified};
  try {
    const SegmentationPlan plan =
        plan_for_image(grid_for(working.width, working.height),
                       working_parameters(parameters, working, full, results), device, limit);
    return memory_plan(plan, {&one, 1}, device);
  } catch (const DeviceMemoryError& error) {
    throw DeviceMemoryError(
        fmt::format("an image of {}x{}: {}", full.width, full.height, error.what()));
  }
}

void check_host_memory(const MemoryPlan& plan, const ImageSize& image, const DeviceInfo& device) {
  const std::uint64_t available = host_memory_available();
  if (available == 0 || plan.host_bytes() <= available) return;
  const auto most = std::max_element(
      plan.phases.begin(), plan.phases.end(),
      [](const MemoryPhase& a, const MemoryPhase& b) { return a.host_bytes < b.host_bytes; });
  std::string shared;
  std::string advice;
  if (most == plan.phases.begin() && image.file_bytes > most->host_bytes / 2) {
    shared = fmt::format(", {} of them for the bytes of its file", gib(image.file_bytes));
  } else if (most->device_bytes > 0 && device.kind == DeviceKind::kCpu) {
    shared = fmt::format(", {} of them as memory of the device, which is a CPU",
                         gib(most->device_bytes));
    advice = "find regions in a smaller reduction (--detail), set --memory lower, ";
  }
  throw InputError(fmt::format(
      "not enough main memory: an image of {}x{} takes {}{}, and {} are there; {}make the image "
      "smaller, or close other programs",
      image.width, image.height, gib(plan.host_bytes()), shared, gib(available), advice));
}

}  // namespace diacut
