#include "pipeline/pipeline_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "affinity/affinity.hpp"
#include "affinity/feature_affinity.hpp"
#include "boundary/boundary.hpp"
#include "contour/boundary_orientation.hpp"
#include "contour/combined_contour.hpp"
#include "eigen/decimation/contour_eigenvectors.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/interpolation.hpp"
#include "matrix/stencil.hpp"
#include "matrix/symmetric_dia.hpp"
#include "region/device_graph.hpp"
#include "walker/random_walker.hpp"

namespace diacut {

namespace {

constexpr char kStrength[] = "the boundary strength that contours need";

std::array<const MemoryBudget*, 5> phases(const PipelineBudget& budget) {
  return {&budget.boundaries, &budget.compression, &budget.eigen, &budget.contours,
          &budget.regions};
}

void append(MemoryBudget& budget, const MemoryBudget& more) {
  for (const MemoryBudget::Item& item : more.items()) budget.add(item.what, item.bytes);
}

/// The buffers of a run in groups that are allocated and freed together.
struct BufferGroups {
  MemoryBudget networks;      ///< Kept from one image to the next.
  MemoryBudget boundaries;    ///< For computing the boundary map.
  MemoryBudget matrix;        ///< The whole matrix and the degrees.
  MemoryBudget compressed;    ///< The compressed matrix, while the whole matrix is there too.
  MemoryBudget solver;        ///< The eigensolver, its result, and a matrix of its own.
  MemoryBudget eigenvectors;  ///< The eigensolver's result.
  MemoryBudget strength;      ///< With a hierarchy: the boundary map that contours are made from.
  MemoryBudget degrees;       ///< With a hierarchy: the degrees without the matrix.
  MemoryBudget contours;      ///< With a hierarchy: for computing the contours.
  MemoryBudget graph;         ///< With direct cuts: for cutting.
};

/// What kept_affinity() and contour_eigenvectors() allocate: each grid has a quarter of the pixels
/// of the one before.
void budget_decimated(MemoryBudget& budget, const Batch& batch, const RunParameters& parameters) {
  const int radius = parameters.affinity.radius;
  const PlaneGrid cells = PlaneGrid(batch.image.width, batch.image.height, radius).decimated();
  const std::uint64_t planes = KeptNeighbours(radius).size() + 5;
  const auto count = static_cast<std::uint64_t>(batch.count);
  const std::uint64_t plane = cells.pitch * sizeof(float);
  budget.add("affinities to the kept pixels", count * planes * plane);
  budget.add("the matrix of the decimated grid", count * (planes / 2) * plane);
  budget.add("pixels with affinities", count * batch.image.rows() * sizeof(float));
  budget.add("eigenvectors",
             count * kContourVectors * (dia_pitch(batch.image.rows()) * sizeof(float) + plane));
}

BufferGroups buffer_groups(const Batch& batch, const RunParameters& parameters, MatrixForm form) {
  const Grid grid = batch.grid();
  const EigenParameters eigen = eigen_parameters(parameters);
  const Stencil stencil = affinity_stencil(parameters.affinity);
  BufferGroups groups;
  if (parameters.has_boundary()) budget_kept(groups.networks, parameters.cue);
  if (!walks(parameters) && !needs_eigenvectors(parameters)) {
    const auto count = static_cast<std::uint64_t>(batch.count);
    const std::uint64_t plane = batch.image.rows() * sizeof(float);
    budget_cue(groups.boundaries, batch.image, parameters.cue);
    groups.boundaries.add("boundary maps of the other images", (count - 1) * plane);
    groups.strength.add(kStrength, count * plane);
    if (decimates(parameters)) budget_decimated(groups.contours, batch, parameters);
    budget_contour(groups.contours, batch.image, decimates(parameters) ? kContourVectors + 1 : 0);
    budget_orientation(groups.contours, batch.image);
    return groups;
  }
  if (parameters.has_boundary()) {
    budget_cue(groups.boundaries, grid, parameters.cue);
  } else {
    budget_empty(groups.boundaries, grid);
  }
  if (batch.count > 1) budget_batched(groups.boundaries, batch);
  if (parameters.has_features()) {
    budget_feature_affinity(groups.matrix, grid, parameters.affinity, parameters.feature_channels);
  } else {
    budget_affinity(groups.matrix, grid, parameters.affinity);
  }
  if (walks(parameters)) {
    budget_walker(groups.solver, {batch, stencil, form}, parameters.labels);
    return groups;
  }
  const EigenMemory solving = eigen_memory({batch, stencil, form}, eigen);
  groups.compressed = solving.building;
  groups.solver = solving.solving;
  if (form == MatrixForm::kDia && parameters.matvec.kernel == MatvecKind::kSymmetric) {
    budget_symmetric(groups.compressed, grid, stencil, choose_storage(parameters.matvec.storage),
                     true);
  }
  budget_eigenvectors(groups.eigenvectors, batch, eigen);
  if (makes_hierarchy(parameters)) {
    const std::uint64_t plane = grid.rows() * sizeof(float);
    groups.strength.add(kStrength, plane);
    groups.degrees.add("square roots of the degrees", plane);
    if (decimates(parameters)) budget_decimated(groups.contours, batch, parameters);
    budget_contour(groups.contours, grid, eigen.vectors);
    budget_orientation(groups.contours, grid);
  } else {
    budget_regions(groups.graph, grid);
  }
  return groups;
}

Grid scaled(const Grid& grid, double scale) {
  const auto side = [scale](int length) {
    return std::clamp(static_cast<int>(std::floor(length * scale)), 1, length);
  };
  return grid_for(side(grid.width), side(grid.height));
}

}  // namespace

Grid grid_for(int width, int height) { return {width, height, width}; }

EigenParameters eigen_parameters(const Parameters& parameters) {
  EigenParameters eigen = parameters.eigen;
  if (parameters.region.method != RegionMethod::kKway) return eigen;
  eigen.vectors = std::max(eigen.vectors, std::min(parameters.region.regions, kMaxKwayVectors));
  // A basis that was chosen for fewer eigenvectors would be too small for more.
  if (eigen.basis <= eigen.vectors) eigen.basis = 0;
  return eigen;
}

bool walks(const Parameters& parameters) {
  return parameters.region.method == RegionMethod::kWalker;
}

bool decimates(const RunParameters& parameters) {
  return makes_hierarchy(parameters) && parameters.contour.spectral == SpectralUse::kDecimated;
}

bool needs_eigenvectors(const Parameters& parameters) {
  return !walks(parameters) && eigen_parameters(parameters).vectors > 0;
}

bool needs_matrix(const Parameters& parameters) {
  return !makes_hierarchy(parameters) || needs_eigenvectors(parameters);
}

bool PipelineBudget::fits(const DeviceInfo& device, std::uint64_t limit) const {
  const auto all = phases(*this);
  return std::all_of(all.begin(), all.end(),
                     [&](const MemoryBudget* budget) { return budget->fits(device, limit); });
}

bool thins(const CueParameters& cue) { return cue.kind == CueKind::kGradient && cue.thin; }

PipelineBudget pipeline_budget(const Grid& grid, const RunParameters& parameters, MatrixForm form) {
  return pipeline_budget(Batch(grid), parameters, form);
}

PipelineBudget pipeline_budget(const Batch& batch, const RunParameters& parameters,
                               MatrixForm form) {
  const BufferGroups groups = buffer_groups(batch, parameters, form);
  const auto phase = [&](std::initializer_list<const MemoryBudget*> needed) {
    MemoryBudget sum = groups.networks;
    for (const MemoryBudget* group : needed) append(sum, *group);
    return sum;
  };
  const BufferGroups& g = groups;
  PipelineBudget budget;
  budget.boundaries = phase({&g.boundaries, &g.matrix});
  const bool twice = parameters.has_boundary() && thins(parameters.cue) &&
                     (walks(parameters) || needs_eigenvectors(parameters));
  if (twice) append(budget.boundaries, g.strength);
  if (form == MatrixForm::kCompressed && !walks(parameters)) {
    budget.compression = phase({&g.matrix, &g.compressed, &g.strength});
    budget.eigen = phase({&g.degrees, &g.solver, &g.strength});
  } else {
    budget.eigen = phase({&g.matrix, &g.compressed, &g.solver, &g.strength});
  }
  if (makes_hierarchy(parameters)) {
    budget.contours = phase({&g.degrees, &g.eigenvectors, &g.strength, &g.contours});
  } else if (!walks(parameters)) {
    budget.regions = phase({&g.matrix, &g.graph});
  }
  // The solver's group holds the compressed matrix too.
  const MemoryBudget none;
  const MemoryBudget& compressed = form == MatrixForm::kCompressed ? none : g.compressed;
  for (const MemoryBudget* group :
       {&g.networks, &g.boundaries, &g.matrix, &compressed, &g.solver, &g.contours, &g.graph}) {
    for (const MemoryBudget::Item& item : group->items()) {
      budget.uses.push_back({item.what, item.bytes});
    }
  }
  return budget;
}

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

void check_memory(const PipelineBudget& budget, const Grid& grid, const RunParameters& parameters,
                  const DeviceInfo& device, std::uint64_t limit) {
  if (budget.fits(device, limit)) return;
  const std::optional<Grid> largest = largest_grid(grid, parameters, device, limit);
  const std::string size =
      largest ? fmt::format(
                    "the largest image of these proportions that fits has {:.2f} "
                    "megapixels ({}x{})",
                    static_cast<double>(largest->pixels()) * 1e-6, largest->width, largest->height)
              : std::string("no image fits");
  const char* detail = parameters.image.detail == 0
                           ? "find regions in a reduction of it (--detail 640)"
                           : "lower image.detail (--detail), to which it is reduced";
  const std::string advice = fmt::format(
      "with affinity.radius {} and {} eigenvectors {}: make the image, in which regions are found "
      "at {}x{}, smaller, {}, lower radius or eigenvectors, or choose a device with more memory",
      parameters.affinity.radius, eigen_parameters(parameters).vectors, size, grid.width,
      grid.height, detail);
  for (const MemoryBudget* phase : phases(budget)) phase->check(device, limit, advice);
}

}  // namespace diacut
