#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/eigenvectors.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "diacut/sparse.hpp"

/// @file
/// Your own weights on a grid: the product with their diagonal matrix, and eigenvectors of
/// normalized cuts. The CMake target diacut::solver has them, and needs neither OpenCV nor GDAL.
/// For any other sparse matrix see diacut/sparse.hpp.
namespace diacut {

/// A symmetric matrix W over the pixels of a grid. Each pixel has weights to its neighbours in a
/// disc, dx^2 + dy^2 <= radius^2; those of all pixels to one neighbour make a diagonal.
struct GridWeights {
  int width = 0;   ///< Width of the grid, pixels.
  int height = 0;  ///< Height of the grid, pixels.
  int radius = 0;  ///< Radius of the disc, pixels: 5 makes 81 diagonals in 11 bands.
  /// values[(k * height + y) * width + x] is the weight between the pixel (x, y) and neighbour k,
  /// neighbours being in reading order (by dy, then dx). It is 0 where the neighbour lies outside
  /// the grid; for eigenvectors it is at least 0.
  std::vector<float> values;
};

/// Where a neighbour of a pixel lies.
struct Neighbour {
  int dx = 0;  ///< To the right, pixels.
  int dy = 0;  ///< Down, pixels.
};

/// The neighbours in the order of GridWeights::values, with the pixel itself in the middle.
/// `radius`: of the disc, pixels, at least 0.
std::vector<Neighbour> disc_neighbours(int radius);

/// Multiplies by diagonal matrices and computes eigenvectors on one device. Not thread-safe: one
/// object a thread. An object that was moved from is fit for destruction only.
class GridSolver {
 public:
  /// Opens a device. Takes what choose_device() takes, and throws what it throws.
  explicit GridSolver(const std::string& device = {});
  ~GridSolver();
  GridSolver(GridSolver&& other) noexcept;             ///< Takes over the other object's device.
  GridSolver& operator=(GridSolver&& other) noexcept;  ///< As that constructor.

  const DeviceInfo& device() const;  ///< The device that computes.

  /// Loads weights onto the device, replacing earlier ones. Returns the matrix W, which is valid
  /// until the next call: its products take and return one number for each pixel, row by row. W
  /// need not be symmetric for products; the kernel kSymmetric is refused. Throws InputError where
  /// `weights` have another size than the grid's or lead out of it (the message names the pixel),
  /// ConfigError where the kernel cannot be used, DeviceError.
  const DiagonalMatrix& load(GridWeights weights, MatvecKind kernel = MatvecKind::kAuto);

  /// The eigenvectors of the normalized cut of the loaded weights to the smallest eigenvalues;
  /// pixels without weights are left out. Where some miss the tolerance, report.converged is false.
  /// Throws InputError where weights are negative, not finite or not symmetric (the message names
  /// the pixel); ConfigError where more vectors are asked for than pixels have weights, or nothing
  /// was loaded; DeviceError where a device fails or its memory does not suffice; CancelledError
  /// when the watch says so.
  Eigenvectors eigenvectors(const EigenParameters& parameters = {}, const Watch& watch = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace diacut
