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

/// The neighbours that GridWeights::values is about, in their order.
/// @param radius Of the disc, 0 or more pixels.
/// @return The neighbours, the pixel itself being the middle one.
std::vector<Neighbour> disc_neighbours(int radius);

/// Multiplies by diagonal matrices and computes eigenvectors on one device. Not thread-safe: one
/// object a thread.
class GridSolver {
 public:
  /// Opens the device.
  /// @param device The device, as choose_device() takes it.
  /// @throws ConfigError, DeviceError as choose_device() does.
  explicit GridSolver(const std::string& device = {});
  /// Closes the device.
  ~GridSolver();
  /// Takes over the device of another object.
  /// @param other The object, of which nothing but its destructor may be called afterwards.
  GridSolver(GridSolver&& other) noexcept;
  /// Takes over the device of another object.
  /// @param other The object, of which nothing but its destructor may be called afterwards.
  /// @return This object.
  GridSolver& operator=(GridSolver&& other) noexcept;

  /// The device that computes.
  /// @return What the device says of itself.
  const DeviceInfo& device() const;

  /// The product W x.
  /// @param weights The matrix W, which need not be symmetric here.
  /// @param x One number for each pixel, row by row.
  /// @param kernel The kernel that multiplies; kSymmetric is refused.
  /// @return One number for each pixel, row by row.
  /// @throws InputError where `weights` or `x` have another size than the grid's.
  /// @throws ConfigError where the kernel cannot be used, DeviceError where a device fails.
  std::vector<float> multiply(const GridWeights& weights, const std::vector<float>& x,
                              MatvecKind kernel = MatvecKind::kAuto);

  /// The eigenvectors of the normalized cut to the smallest eigenvalues.
  /// @param weights The matrix W. Pixels without weights are left out.
  /// @param parameters How many, how good, and by which solver.
  /// @param watch Follows and stops the work.
  /// @return The eigenvectors. Where some miss the tolerance, report.converged is false.
  /// @throws InputError where `weights` have another size than the grid's, are negative, not
  ///     finite or not symmetric, or lead out of the grid; the message names the pixel.
  /// @throws DeviceError where a device fails or its memory does not suffice.
  /// @throws CancelledError when the watch says so.
  Eigenvectors eigenvectors(const GridWeights& weights, const EigenParameters& parameters = {},
                            const Watch& watch = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace diacut
