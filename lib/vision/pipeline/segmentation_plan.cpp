#include "pipeline/segmentation_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "affinity/affinity.hpp"
#include "affinity/feature_affinity.hpp"
#include "boundary/network/network_boundary.hpp"
#include "contour/combined_contour.hpp"
#include "core/host_memory.hpp"
#include "diacut/errors.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen/lobpcg/lobpcg.hpp"
#include "eigen/multilevel/coarse_levels.hpp"
#include "eigen/solvers.hpp"
#include "image/input_checks.hpp"
#include "image/resize.hpp"
#include "matrix/kept_rows.hpp"
#include "matrix/stencil.hpp"
#include "pipeline/working_image.hpp"
#include "region/cuts/region_cutter.hpp"
#include "walker/random_walker.hpp"

namespace diacut {

bool merges_by_probability(const Parameters& parameters, bool own_map) {
  const MergingRule rule = parameters.region.merging;
  if (rule != MergingRule::kAuto) return rule == MergingRule::kLearned;
  return parameters.boundary.kind == BoundaryKind::kLearned && !own_map;
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

/// What labels without a hierarchy take for each pixel: of direct cuts the weights of half of the
/// neighbours, the eigenvectors, and what RegionCutter holds.
std::uint64_t cut_bytes(const SegmentationPlan& plan) {
  if (walks(plan.parameters)) return 0;
  const std::size_t neighbours = affinity_stencil(plan.parameters.affinity).size() / 2;
  const auto vectors = static_cast<std::size_t>(plan.parameters.eigen.vectors);
  return kFloat * (neighbours + vectors + 1 + 3 * RegionCutter::kStride) + 5 * kLabel + 22;
}

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
  const std::uint64_t working = plan.batch.image.rows();
  const PictureSize size{plan.batch.image.width, plan.batch.image.height};
  const std::uint64_t detail = size != image.full ? pixels_of(detail_size(image.full, size)) : 0;
  const std::uint64_t features = image.features.bytes();
  const std::uint64_t inside = objects ? kFloat : 0;
  const std::uint64_t leaves = (hierarchical ? kLabel + kFloat : 0) + inside;  // And contours.
  const std::uint64_t maps = working * ((hierarchical ? 2 * kFloat : 0) + inside);
  // Of a verified image, its other segmentation.
  const std::uint64_t other = image.verified ? full * (leaves + kLabel) + maps + detail * value : 0;

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
  if (plan.parameters.has_boundary() && plan.parameters.boundary.kind == BoundaryKind::kGradient) {
    // Lab, the magnitude of the gradient, its ridges, and magnitudes in order.
    bytes.boundaries += working * kFloat * (channels + 3);
  }
  if (features > 0) {
    const int block = std::min(image.features.channels, kFeatureBlock);
    bytes.boundaries += feature_planes_memory(image.features, block, size);
  }
  bytes.contours = bytes.on_device + maps;
  bytes.regions = bytes.contours + working * (hierarchical ? kHierarchyBytes : cut_bytes(plan));
  // Levels of the detail, then the flood, which holds its cells, their levels, and the labels.
  if (detail > 0) {
    bytes.placement =
        bytes.contours + std::max(detail * (2 * value + 4 * kFloat), full * (2 * kLabel + 2));
  }
  // Contours and leaves of a hierarchy, the inside map, labels, and these as PNG takes them.
  bytes.results =
      features + detail * value + other + full * (value + leaves + kLabel + sizeof(std::uint16_t));
  return bytes;
}

std::string gib(std::uint64_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace

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
  add("regions", 0, &HostBytes::regions);
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

namespace {

/// Bytes that a part of a run holds on the device: for each element of a grid so many, and there so
/// many more for each diagonal of the matrix, and for each column of a block or basis of vectors.
struct Part {
  double element = 0;
  double diagonal = 0;
  double column = 0;
};

// Which pixels have data, and the boundary map.
constexpr Part kMask{1};
constexpr Part kMap{4};
// The whole matrix with the roots of the degrees, and what is beside it while it is made: the
// boundary strength with a border, or the inverse roots; with features 16 channels and norms.
constexpr Part kMatrix{4, 4};
constexpr Part kMakingMatrix{4};
constexpr Part kFeatureChannels{4, 0, 4};
// The compressed matrix: half of the diagonals in 16 bits, and the main diagonal; with its scale.
constexpr Part kCompressed{8, 1};
// Of all coarser grids together, beside their matrices: degrees, gains and two blocks of vectors.
constexpr Part kCoarseGrids{8, 0, 8};
constexpr Part kMakingCoarseGrid{16, 4};
// A basis, vectors and, of a compressed matrix, two blocks of 8 columns.
constexpr Part kLanczos{36, 0, 4};
constexpr Part kLanczosBlocks{64};
constexpr Part kEigenvectors{0, 0, 4};
// Four blocks, the right-hand sides, and seeds, labels and probabilities.
constexpr Part kWalk{24, 0, 16};
constexpr Part kRightHandSides{0, 0, 4};
// The contour map, its orientation and what is filtered along x; eigenvectors with a border.
constexpr Part kContours{20};
constexpr Part kBorderedVectors{0, 0, 4};
// Of the pixels of every other row and column: their affinities to all pixels, and the matrices of
// them and of coarser grids, with a part of the first while it is made; vectors. And the degrees of
// all pixels.
constexpr Part kKeptPixels{30, 10.5, 8};
constexpr Part kKeptDegrees{4};
/// Whatever the grid: weights of filters, counts, offsets, uploads.
constexpr std::uint64_t kOnce = std::uint64_t{1} << 18;

std::uint64_t bytes(const Part& part, std::uint64_t elements, std::size_t diagonals = 0,
                    int columns = 0) {
  return static_cast<std::uint64_t>(
      std::ceil((part.element + part.diagonal * static_cast<double>(diagonals) +
                 part.column * static_cast<double>(columns)) *
                static_cast<double>(elements)));
}

/// Elements of a grid with rows of whole vectors and a border on all sides.
std::uint64_t padded(const Grid& grid, int border, int row) {
  return static_cast<std::uint64_t>(grid.width + row + 2 * border) *
         static_cast<std::uint64_t>(grid.height + 2 * border);
}

/// A matrix of the solvers: the whole one, or, compressed, one of padded rows.
std::uint64_t matrix_bytes(const Grid& grid, const Stencil& stencil, MatrixForm form) {
  if (form == MatrixForm::kDia) return bytes(kMatrix, dia_pitch(grid.rows()), stencil.size());
  return bytes(kCompressed, padded(grid, stencil.radius, 64), stencil.size());
}

/// The coarser grids of the multilevel solver for blocks of so many columns.
struct CoarseBytes {
  std::uint64_t held = 0;
  std::uint64_t making = 0;  ///< The first of them, before it is compressed.
};

CoarseBytes coarse_bytes(const Batch& batch, const Stencil& stencil, MatrixForm form, int columns) {
  CoarseBytes result;
  // The matrix of the coarsest grid and its inverse, of up to 1024 elements, are whole.
  const auto images = static_cast<std::uint64_t>(batch.count);
  result.held = images * 1024 * (1024 + stencil.size()) * sizeof(float);
  Grid grid = batch.grid();
  while (grid.rows() > images * 256) {
    grid = grid_for((grid.width + 1) / 2, (grid.height + 1) / 2);
    if (result.making == 0) result.making = bytes(kMakingCoarseGrid, grid.rows(), stencil.size());
    result.held += matrix_bytes(grid, stencil, form) + bytes(kCoarseGrids, grid.rows(), 0, columns);
  }
  result.held += bytes({4}, batch.grid().rows());  // The gains of the finest grid.
  return result;
}

/// What eigenvectors take beside the matrix. Lanczos takes over where the multilevel solver cannot
/// make an image coarser.
std::uint64_t solver_bytes(const Batch& batch, const Stencil& stencil, MatrixForm form,
                           const EigenParameters& eigen) {
  const Grid grid = batch.grid();
  std::uint64_t lanczos = bytes(kLanczos, dia_pitch(grid.rows()), 0, lanczos_basis_size(eigen) + 2);
  if (form == MatrixForm::kCompressed) {
    lanczos += bytes(kLanczosBlocks, grid.rows()) + Workspace::memory(8, grid.rows());
  }
  if (solver_wanted(eigen.solver) != SolverKind::kMultilevel) return lanczos;
  const int columns = Lobpcg::columns(eigen);
  return std::max(
      lanczos, Lobpcg::memory(batch, columns) + coarse_bytes(batch, stencil, form, columns).held);
}

std::uint64_t walk_bytes(const Batch& batch, const Stencil& stencil, MatrixForm form, int labels) {
  const int columns = walker_columns(labels, form);
  const int all = std::max(1, (labels + columns - 1) / columns) * columns;
  const CoarseBytes coarse = coarse_bytes(batch, stencil, form, columns);
  std::uint64_t result = coarse.held + bytes(kWalk, batch.grid().rows(), 0, columns) +
                         bytes(kRightHandSides, batch.grid().rows(), 0, all) +
                         Workspace::memory(columns, batch.grid().rows());
  if (form == MatrixForm::kCompressed) {
    result += coarse.making + matrix_bytes(batch.grid(), stencil, form);
  }
  return result;
}

/// Contours of a batch that are not made from eigenvectors of the whole matrix.
DeviceMemory contour_memory(const Batch& batch, const RunParameters& parameters) {
  const Grid& image = batch.image;
  const std::uint64_t contours = bytes(kContours, padded(image, 0, 16));
  if (!decimates(parameters)) return {contours, contours};
  const std::size_t diagonals = affinity_stencil(parameters.affinity).size();
  const std::size_t kept = dia_pitch(coarser(batch).grid().rows());
  const std::size_t pitch = dia_pitch(image.rows());
  const std::uint64_t bordered = bytes(kBorderedVectors, padded(image, 3, 16), 0, kContourVectors);
  return {contours + bytes(kKeptPixels, kept, diagonals, 24) +
              bytes(kKeptDegrees, batch.grid().rows()) +
              bytes(kEigenvectors, pitch, 0, kContourVectors) + bordered,
          std::max({bytes({0, 4}, kept, diagonals), bytes(kEigenvectors, pitch, 0, kContourVectors),
                    bordered})};
}

/// The largest allocation of a run that has a matrix.
std::uint64_t largest_piece(const Grid& grid, const Stencil& stencil,
                            const EigenParameters& eigen) {
  const int columns = std::max(
      Lobpcg::columns(eigen),
      solver_wanted(eigen.solver) == SolverKind::kMultilevel ? 0 : lanczos_basis_size(eigen) + 2);
  return dia_pitch(grid.rows()) * sizeof(float) *
         std::max(stencil.size(), static_cast<std::size_t>(columns));
}

}  // namespace

Grid grid_for(int width, int height) { return {width, height}; }

bool walks(const Parameters& parameters) {
  return parameters.region.method == RegionMethod::kWalker;
}

bool decimates(const RunParameters& parameters) {
  return makes_hierarchy(parameters) && parameters.contour.spectral == SpectralUse::kDecimated;
}

namespace {

/// Whether a run with these parameters computes eigenvectors of the image's own grid.
bool needs_eigenvectors(const RunParameters& parameters) {
  return !walks(parameters) && parameters.eigenvectors;
}

}  // namespace

bool needs_matrix(const RunParameters& parameters) {
  return !makes_hierarchy(parameters) || needs_eigenvectors(parameters);
}

DeviceMemory PipelineBudget::memory() const {
  return {std::max({boundaries, compression, eigen, contours}), piece};
}

bool PipelineBudget::fits(const DeviceInfo& device, std::uint64_t limit) const {
  return memory().fits(device, limit);
}

bool thins(const BoundaryParameters& boundary) {
  return boundary.kind == BoundaryKind::kGradient && boundary.thin;
}

PipelineBudget pipeline_budget(const Batch& batch, const RunParameters& parameters,
                               MatrixForm form) {
  const Stencil stencil = affinity_stencil(parameters.affinity);
  const EigenParameters& eigen = parameters.eigen;
  const bool with_matrix = needs_matrix(parameters);
  const Grid grid = with_matrix ? batch.grid() : batch.image;
  const std::uint64_t plane = grid.rows() * sizeof(float);
  const auto others = static_cast<std::uint64_t>(batch.count - 1);

  // What is there in every phase, and the boundary maps.
  PipelineBudget budget;
  std::uint64_t kept = kOnce;
  std::uint64_t map = bytes(kMask, grid.rows());
  if (parameters.has_boundary() && parameters.boundary.kind == BoundaryKind::kLearned) {
    const Networks networks = load_networks(parameters.boundary.weights);
    for (const auto& network : networks) kept += DeviceNetwork::memory(*network);
    const DeviceMemory memory = network_map_memory(batch.image, networks, parameters.boundary);
    map += memory.total;
    budget.piece = memory.piece;
  } else {
    map += bytes(kMap, grid.rows());
  }
  if (!with_matrix) {
    // Maps of all images are there before the first contours are.
    const DeviceMemory contours = contour_memory(batch, parameters);
    budget.piece = std::max(budget.piece, contours.piece);
    budget.boundaries = kept + map + others * plane;
    budget.contours = kept + (others + 1) * plane + contours.total;
    return budget;
  }

  // The maps of a batch are copied into one. Contours are made from the unthinned map.
  if (others > 0) map += plane;
  const bool twice = parameters.has_boundary() && thins(parameters.boundary);
  const std::uint64_t strength = makes_hierarchy(parameters) ? plane : 0;
  const std::uint64_t matrix = matrix_bytes(grid, stencil, MatrixForm::kDia);
  std::uint64_t making = matrix + bytes(kMask, grid.rows()) + bytes(kMap, grid.rows()) +
                         bytes(kMakingMatrix, padded(grid, stencil.radius, 64));
  if (parameters.has_features()) {
    const int channels = std::min(parameters.feature_channels, kFeatureBlock);
    making += bytes(kFeatureChannels, padded(grid, stencil.radius, 0), 0, channels);
  }
  budget.boundaries = kept + std::max(map, making) + (twice || others > 0 ? plane : 0);
  budget.piece = std::max(budget.piece, largest_piece(grid, stencil, eigen));
  if (walks(parameters)) {
    budget.eigen = kept + matrix + walk_bytes(batch, stencil, form, parameters.labels);
    return budget;
  }
  const std::uint64_t solver = solver_bytes(batch, stencil, form, eigen);
  const std::uint64_t compressed = matrix_bytes(grid, stencil, MatrixForm::kCompressed);
  if (form == MatrixForm::kCompressed) {
    // The multilevel solver makes a coarser grid before it gives the whole matrix up.
    const bool coarsens = solver_wanted(eigen.solver) == SolverKind::kMultilevel;
    budget.compression =
        kept + strength + matrix + compressed +
        (coarsens ? coarse_bytes(batch, stencil, form, Lobpcg::columns(eigen)).making : 0);
    budget.eigen = kept + strength + compressed + solver;
  } else {
    const bool copy = parameters.matvec.kernel == MatvecKind::kSymmetric;
    budget.eigen = kept + strength + matrix + (copy ? compressed : 0) + solver;
  }
  if (makes_hierarchy(parameters)) {
    if (parameters.contour.spectral == SpectralUse::kFull) {
      budget.contours =
          kept + 2 * plane +
          bytes(kEigenvectors, dia_pitch(grid.rows()), 0, lanczos_basis_size(eigen) + 2) +
          bytes(kContours, padded(batch.image, 0, 16)) +
          bytes(kBorderedVectors, padded(batch.image, 3, 16), 0, eigen.vectors - 1);
    } else {
      const DeviceMemory contours = contour_memory(batch, parameters);
      budget.piece = std::max(budget.piece, contours.piece);
      budget.contours = kept + (twice ? 2 : 1) * plane + contours.total;
    }
  }
  return budget;
}

namespace {

/// Whether the eigensolver can read a compressed matrix, the whole matrix being given up. Direct
/// cuts need the whole matrix after the eigensolver; Spectra and a kernel asked for by name read
/// it; the compressed form knows no strides.
bool compressible(const Parameters& parameters) {
  if (!makes_hierarchy(parameters) || parameters.affinity.strides.size() > 1) return false;
  const SolverKind solver = solver_wanted(parameters.eigen.solver);
  return solver == SolverKind::kMultilevel ||
         (solver == SolverKind::kLanczos && parameters.matvec.kernel == MatvecKind::kAuto);
}

bool fits_compressed(const Grid& grid, const RunParameters& parameters, const DeviceInfo& device,
                     std::uint64_t limit) {
  return compressible(parameters) &&
         pipeline_budget(grid, parameters, MatrixForm::kCompressed).fits(device, limit);
}

Grid scaled(const Grid& grid, double scale) {
  const auto side = [scale](int length) {
    return std::clamp(static_cast<int>(std::floor(length * scale)), 1, length);
  };
  return grid_for(side(grid.width), side(grid.height));
}

/// The largest grid with the proportions of `grid` on which a run with the parameters' solver fits,
/// the matrix being whole or compressed; nothing if not even one pixel fits.
std::optional<Grid> largest_grid(const Grid& grid, const RunParameters& parameters,
                                 const DeviceInfo& device, std::uint64_t limit) {
  const auto fits = [&](double scale) {
    const Grid smaller = scaled(grid, scale);
    return pipeline_budget(smaller, parameters).fits(device, limit) ||
           fits_compressed(smaller, parameters, device, limit);
  };
  if (fits(1)) return grid;
  double below = 0;
  double above = 1;
  if (!fits(below)) return std::nullopt;
  for (int step = 0; step < 40; ++step) {
    const double middle = (below + above) / 2;
    (fits(middle) ? below : above) = middle;
  }
  return scaled(grid, below);
}

/// Throws DeviceError, naming the largest image that would fit, when `budget` does not fit.
void check_memory(const PipelineBudget& budget, const Grid& grid, const RunParameters& parameters,
                  const DeviceInfo& device, std::uint64_t limit) {
  if (budget.fits(device, limit)) return;
  const std::optional<Grid> largest = largest_grid(grid, parameters, device, limit);
  const std::string size =
      largest ? fmt::format(
                    "the largest image of these proportions that fits has {:.2f} "
                    "megapixels ({}x{})",
                    static_cast<double>(largest->rows()) * 1e-6, largest->width, largest->height)
              : std::string("no image fits");
  const char* detail = parameters.image.detail == 0
                           ? "find regions in a reduction of it (--detail 640)"
                           : "lower image.detail (--detail), to which it is reduced";
  const std::string advice = fmt::format(
      "with affinity.radius {} and {} eigenvectors {}: make the image, in which regions are found "
      "at {}x{}, smaller, {}, lower radius or eigenvectors, or choose a device with more memory",
      parameters.affinity.radius, parameters.eigen.vectors, size, grid.width, grid.height, detail);
  budget.memory().check(device, limit, advice);
}

/// The parameters, with the device's solver in place of SolverKind::kAuto, and with Lanczos, which
/// is slower and needs less memory, in place of a multilevel solver that fits with no form of the
/// matrix.
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

/// Pixels from which a hierarchy's matrix is compressed on a CPU, where that is as fast, and the
/// V-cycle's of a random walk on a GPU, where from there on it is faster.
constexpr std::size_t kCompressedFrom = std::size_t{1} << 20;

/// The form of the matrix for a run with the parameters of solver_that_fits(): compressed where the
/// whole matrix does not fit, and on a CPU from kCompressedFrom pixels on; whole where it cannot
/// be compressed. For a random walk it is the form of the V-cycle's matrices, beside the whole
/// matrix: compressed where both fit, on a GPU from kCompressedFrom pixels on and for the labels of
/// one narrow block.
MatrixForm form_that_fits(const Grid& grid, const RunParameters& parameters,
                          const DeviceInfo& device, std::uint64_t limit) {
  if (walks(parameters)) {
    const bool fits =
        pipeline_budget(grid, parameters, MatrixForm::kCompressed).fits(device, limit);
    // On a GPU the compressed matrix of a smaller image takes longer to make than it saves, and
    // wide blocks gain nothing by it.
    const bool gains =
        device.kind == DeviceKind::kCpu ||
        (grid.rows() >= kCompressedFrom && narrow_block_columns(parameters.labels) == 4);
    return fits && gains ? MatrixForm::kCompressed : MatrixForm::kDia;
  }
  if (!compressible(parameters)) return MatrixForm::kDia;
  // storages_within_tolerance() names none for the multilevel solver's own products.
  EigenParameters rounded = parameters.eigen;
  rounded.solver = SolverKind::kLanczos;
  const auto storages = storages_within_tolerance(rounded, MatvecStorage::kAuto);
  const bool wanted = device.kind == DeviceKind::kCpu && grid.rows() >= kCompressedFrom &&
                      solver_wanted(parameters.eigen.solver) == SolverKind::kMultilevel &&
                      std::count(storages.begin(), storages.end(), MatvecStorage::kHalf) > 0;
  if (!wanted && pipeline_budget(grid, parameters).fits(device, limit)) return MatrixForm::kDia;
  return MatrixForm::kCompressed;  // It needs less than the whole matrix, if neither fits.
}

/// The product for a run. Where the choice is left open, Lanczos gets the compressed form if it
/// fits beside everything else. The multilevel solver has products of its own: where a kernel is
/// asked for with it, the note says that the kernel is for Lanczos, to which the solver may leave
/// an image. Where the compressed form is asked for with it, the choice for Lanczos is left open.
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

}  // namespace

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

  if (solver_wanted(usable.eigen.solver) != solver_wanted(parameters.eigen.solver)) {
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
    const Stencil stencil = affinity_stencil(parameters.affinity);
    SegmentationPlan plan(Batch(grid, images, CoarseLevels::batched_height(grid, stencil)),
                          parameters);
    plan.budget = pipeline_budget(plan.batch, parameters);
    if (!plan.budget.fits(device, limit)) return std::nullopt;
    return plan;
  }
  const std::optional<Batch> batch =
      batch_for(grid, images, affinity_stencil(parameters.affinity), parameters.eigen);
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

}  // namespace diacut
