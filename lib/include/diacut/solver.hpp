#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/eigenvectors.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"

/// @file
/// The product with a diagonal matrix and the eigensolver by themselves, for weights of your own.
/// The CMake target diacut::solver has them, and needs neither OpenCV nor GDAL.
namespace diacut {

/// A symmetric matrix W over the pixels of a grid. Each pixel has weights to its neighbours in a
/// disc, dx^2 + dy^2 <= radius^2; those of all pixels to one neighbour make a diagonal.
struct GridWeights {
  int width = 0;   ///< Of the grid, pixels.
  int height = 0;  ///< Of the grid, pixels.
  int radius = 0;  ///< Of the disc, pixels: 5 makes 81 diagonals in 11 bands.
  /// values[(k * height + y) * width + x] is the weight between the pixel (x, y) and neighbour k,
  /// neighbours being in reading order (by dy, then dx). It is at least 0, and 0 where the
  /// neighbour lies outside the grid.
  std::vector<float> values;
};

/// Where a neighbour of a pixel lies.
struct Neighbour {
  int dx = 0;  ///< To the right, pixels.
  int dy = 0;  ///< Down, pixels.
};

/// The neighbours in the order of GridWeights::values, the pixel itself in the middle. `radius`: of
/// the disc, 0 or more pixels.
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

  /// The product W x, one number for each pixel, row by row, as `x` has them. W need not be
  /// symmetric here; the kernel kSymmetric is refused. Throws InputError where `weights` or `x`
  /// have another size than the grid's, ConfigError where the kernel cannot be used, DeviceError.
  std::vector<float> multiply(const GridWeights& weights, const std::vector<float>& x,
                              MatvecKind kernel = MatvecKind::kAuto);

  /// The eigenvectors of the normalized cut to the smallest eigenvalues; pixels without weights are
  /// left out. Where some miss the tolerance, report.converged is false. Throws InputError where
  /// `weights` have another size than the grid's, are negative, not finite or not symmetric, or
  /// lead out of the grid (the message names the pixel); DeviceError where a device fails or its
  /// memory does not suffice; CancelledError when the watch says so.
  Eigenvectors eigenvectors(const GridWeights& weights, const EigenParameters& parameters = {},
                            const Watch& watch = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace diacut
