#include "pipeline/memory_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "affinity/affinity.hpp"
#include "boundary/boundary.hpp"
#include "contour/combined_contour.hpp"
#include "contour/suppression.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/symmetric_dia.hpp"
#include "region/device_graph.hpp"

namespace diacut {

namespace {

std::array<const MemoryBudget*, 5> phases(const RunBudget& budget) {
  return {&budget.boundaries, &budget.compression, &budget.eigen, &budget.contours,
          &budget.regions};
}

/// Whether an eigensolver's matrix may be compressed and given up.
bool compressible(const Parameters& parameters) {
  if (parameters.region.method != RegionMethod::kHierarchy) return false;
  const SolverKind solver = solver_wanted(parameters.eigen.solver);
  return solver == SolverKind::kMultilevel ||
         (solver == SolverKind::kLanczos && parameters.matvec.kernel == MatvecKind::kAuto);
}

bool fits_compressed(const Grid& grid, const Parameters& parameters, const DeviceInfo& device,
                     std::uint64_t limit) {
  return compressible(parameters) &&
         budget_run(grid, parameters, MatrixForm::kCompressed).fits(device, limit);
}

void append(MemoryBudget& budget, const MemoryBudget& more) {
  for (const MemoryBudget::Item& item : more.items()) budget.add(item.what, item.bytes);
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
  // A basis that was chosen for fewer vectors is no limit that anybody meant for these.
  if (eigen.basis <= eigen.vectors) eigen.basis = 0;
  return eigen;
}

bool RunBudget::fits(const DeviceInfo& device, std::uint64_t limit) const {
  const auto all = phases(*this);
  return std::all_of(all.begin(), all.end(),
                     [&](const MemoryBudget* budget) { return budget->fits(device, limit); });
}

bool thins(const CueParameters& cue) { return cue.kind == CueKind::kGradient && cue.thin; }

RunBudget budget_run(const Grid& grid, const Parameters& parameters, MatrixForm form) {
  return budget_run(Batch(grid), parameters, form);
}

RunBudget budget_run(const Batch& batch, const Parameters& parameters, MatrixForm form) {
  const Grid grid = batch.grid();
  const EigenParameters eigen = eigen_parameters(parameters);
  const bool hierarchical = parameters.region.method == RegionMethod::kHierarchy;
  MemoryBudget kept;
  budget_kept(kept, parameters.cue);
  MemoryBudget cue;
  budget_cue(cue, grid, parameters.cue);
  MemoryBudget matrix;
  budget_affinity(matrix, grid, parameters.affinity);
  const Stencil stencil = disc_stencil(parameters.affinity.radius);
  MemoryBudget compressed;
  MemoryBudget solver;
  if (form == MatrixForm::kCompressed) {
    budget_eigen_compressed(compressed, solver, grid, stencil, eigen);
  } else {
    if (parameters.matvec.kernel == MatvecKind::kSymmetric) {
      budget_symmetric(compressed, grid, stencil, choose_storage(parameters.matvec.storage), true);
    }
    budget_eigen(solver, batch, stencil, eigen);
  }
  MemoryBudget vectors;
  budget_eigenvectors(vectors, batch, eigen);
  MemoryBudget contours;
  MemoryBudget graph;
  const std::uint64_t plane = grid.rows() * sizeof(float);
  MemoryBudget strength;
  MemoryBudget degrees;
  if (hierarchical) {
    budget_contour(contours, grid, eigen.vectors);
    budget_orientation(contours, grid);
    strength.add("the boundary strength that contours need", plane);
    degrees.add("square roots of the degrees", plane);
  } else {
    budget_regions(graph, grid);
  }

  RunBudget run;
  const auto add_phase = [&](MemoryBudget& phase,
                             std::initializer_list<const MemoryBudget*> parts) {
    append(phase, kept);
    for (const MemoryBudget* part : parts) append(phase, *part);
  };
  if (batch.count > 1) budget_batched(cue, batch);
  add_phase(run.boundaries, {&cue, &matrix});
  if (thins(parameters.cue)) append(run.boundaries, strength);
  if (form == MatrixForm::kCompressed) {
    add_phase(run.compression, {&matrix, &compressed, &strength});
    add_phase(run.eigen, {&degrees, &solver, &strength});
  } else {
    add_phase(run.eigen, {&matrix, &compressed, &solver, &strength});
  }
  if (hierarchical) {
    add_phase(run.contours, {&degrees, &vectors, &strength, &contours});
  } else {
    add_phase(run.regions, {&matrix, &graph});
  }
  if (form == MatrixForm::kCompressed) compressed = {};  // the solver's budget has it as well.
  for (const MemoryBudget* part : {&kept, &cue, &matrix, &compressed, &solver, &contours, &graph}) {
    for (const MemoryBudget::Item& item : part->items())
      run.uses.push_back({item.what, item.bytes});
  }
  return run;
}

std::optional<Grid> largest_grid(const Grid& grid, const Parameters& parameters,
                                 const DeviceInfo& device, std::uint64_t limit) {
  const auto fits = [&](double scale) {
    const Grid smaller = scaled(grid, scale);
    return budget_run(smaller, parameters).fits(device, limit) ||
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

Parameters solver_that_fits(const Grid& grid, const Parameters& parameters,
                            const DeviceInfo& device, std::uint64_t limit) {
  Parameters result = parameters;
  SolverKind& solver = result.eigen.solver;
  solver = solver_wanted(solver);
  if (solver == SolverKind::kMultilevel && !budget_run(grid, result).fits(device, limit) &&
      !fits_compressed(grid, result, device, limit)) {
    solver = SolverKind::kLanczos;
  }
  return result;
}

MatrixForm form_that_fits(const Grid& grid, const Parameters& parameters, const DeviceInfo& device,
                          std::uint64_t limit) {
  EigenParameters rounded = parameters.eigen;
  rounded.solver = SolverKind::kLanczos;
  const auto storages = storages_within_tolerance(rounded, MatvecStorage::kAuto);
  const bool wanted = device.kind == DeviceKind::kCpu && grid.pixels() >= kCompressedOnCpu &&
                      solver_wanted(parameters.eigen.solver) == SolverKind::kMultilevel &&
                      std::count(storages.begin(), storages.end(), MatvecStorage::kHalf) > 0;
  if (!compressible(parameters)) return MatrixForm::kDia;
  if (!wanted && budget_run(grid, parameters).fits(device, limit)) return MatrixForm::kDia;
  return MatrixForm::kCompressed;  // Which needs the least, if neither fits.
}

MatvecChoice product_that_fits(const Grid& grid, const Parameters& parameters,
                               const DeviceInfo& device, std::uint64_t limit) {
  const DiaShape shape = dia_shape(grid, disc_stencil(parameters.affinity.radius));
  const MatvecParameters& asked = parameters.matvec;
  if (asked.kernel == MatvecKind::kSymmetric &&
      solver_wanted(parameters.eigen.solver) == SolverKind::kMultilevel) {
    MatvecChoice choice = choose_matvec({}, device, shape);
    choice.note += fmt::format(
        "{}the multilevel eigensolver has products of its own: --matvec symmetric is for --solver "
        "lanczos",
        choice.note.empty() ? "" : "; ");
    return choice;
  }
  const std::vector<MatvecStorage> storages =
      storages_within_tolerance(parameters.eigen, asked.storage);
  MatvecChoice choice = choose_matvec(asked, device, shape, storages);
  if (asked.kernel == MatvecKind::kAuto && choice.kind == MatvecKind::kSymmetric) {
    Parameters compressed = parameters;
    compressed.matvec = {choice.kind, choice.storage};
    if (!budget_run(grid, compressed).fits(device, limit)) {
      return choose_matvec(asked, device, shape);
    }
  }
  return choice;
}

void check_memory(const RunBudget& budget, const Grid& grid, const Parameters& parameters,
                  const DeviceInfo& device, std::uint64_t limit) {
  if (budget.fits(device, limit)) return;
  const std::optional<Grid> largest = largest_grid(grid, parameters, device, limit);
  const std::string size =
      largest ? fmt::format(
                    "the largest image of these proportions that fits has {:.2f} "
                    "megapixels ({}x{})",
                    static_cast<double>(largest->pixels()) * 1e-6, largest->width, largest->height)
              : std::string("no image fits");
  const std::string advice = fmt::format(
      "with affinity.radius {} and {} eigenvectors {}: make the image ({}x{}) smaller, lower "
      "either "
      "of them, or choose a device with more memory",
      parameters.affinity.radius, eigen_parameters(parameters).vectors, size, grid.width,
      grid.height);
  for (const MemoryBudget* phase : phases(budget)) phase->check(device, limit, advice);
}

}  // namespace diacut
