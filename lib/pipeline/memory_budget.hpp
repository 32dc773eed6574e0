#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diacut/parameters.hpp"
#include "diacut/segmenter.hpp"
#include "matrix/batch.hpp"
#include "matrix/block.hpp"
#include "matrix/dia_operator.hpp"
#include "matrix/grid.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// What a whole run allocates on the device. Stages free what the next do not read, so what must
/// fit is the largest of the phases, not their sum.
struct RunBudget {
  MemoryBudget boundaries;      ///< The cue, and the matrix that is made from it.
  MemoryBudget compression;     ///< Of a compressed matrix: that beside the one it is made from.
  MemoryBudget eigen;           ///< The matrix, the eigensolver, and the cue that contours need.
  MemoryBudget contours;        ///< Of a hierarchy: the eigenvectors, that cue, and the contours.
  MemoryBudget regions;         ///< Of direct cuts: the matrix and the region stage.
  std::vector<MemoryUse> uses;  ///< Every allocation once, in the order of the run.

  bool fits(const DeviceInfo& device, std::uint64_t limit) const;
};

/// Whether the cue gives a map that is thinned. Basins of a hierarchy would leak through its gaps,
/// so contours need the map before that.
bool thins(const CueParameters& cue);

/// `form`: of the matrix that the eigensolver reads.
RunBudget budget_run(const Grid& grid, const Parameters& parameters,
                     MatrixForm form = MatrixForm::kDia);
/// Of several images at once, whose stages before and after the eigensolver run one by one: at most
/// this is allocated.
RunBudget budget_run(const Batch& batch, const Parameters& parameters,
                     MatrixForm form = MatrixForm::kDia);

/// The largest grid of the same proportions for which a budget fits, with the parameters' solver
/// and the matrix in whatever form; nothing if not even one pixel does. `limit` in bytes, 0: the
/// device's memory.
std::optional<Grid> largest_grid(const Grid& grid, const Parameters& parameters,
                                 const DeviceInfo& device, std::uint64_t limit);

/// The parameters, with the device's solver in place of SolverKind::kAuto, and with Lanczos in
/// place of the multilevel solver where that one does not fit in any form: it is slower and needs
/// less memory.
Parameters solver_that_fits(const Grid& grid, const Parameters& parameters,
                            const DeviceInfo& device, std::uint64_t limit);

/// Pixels from which a hierarchy's matrix is compressed on a CPU, where that is as fast.
inline constexpr std::size_t kCompressedOnCpu = std::size_t{1} << 20;

/// The form in which the matrix of a run with solver_that_fits() is solved. Compressed where it
/// does not fit otherwise, and on a CPU from kCompressedOnCpu on; whole where that cannot be:
/// direct cuts need it later, Spectra and a kernel asked for by name read it.
MatrixForm form_that_fits(const Grid& grid, const Parameters& parameters, const DeviceInfo& device,
                          std::uint64_t limit);

/// The product that a run makes. Asked to choose, it takes the compressed form for Lanczos only,
/// and only where that fits beside the rest; asked for the compressed form with the multilevel
/// solver, which has products of its own, it chooses, and says so.
MatvecChoice product_that_fits(const Grid& grid, const Parameters& parameters,
                               const DeviceInfo& device, std::uint64_t limit);

/// Throws DeviceError, naming the largest image that would fit, when the budget does not.
void check_memory(const RunBudget& budget, const Grid& grid, const Parameters& parameters,
                  const DeviceInfo& device, std::uint64_t limit);

/// How an image lies in the vectors: rows without padding.
Grid grid_for(int width, int height);

/// Regions up to which k-way discretisation gets a vector a region. Beyond it the cost of ever more
/// vectors buys little: the region stage makes the rest by two-way cuts.
inline constexpr int kMaxKwayVectors = 100;

/// The eigensolver's parameters in a run: k-way discretisation into K regions works on K vectors.
EigenParameters eigen_parameters(const Parameters& parameters);

}  // namespace diacut
