#pragma once

#include <array>
#include <span>
#include <vector>

#include "matrix/interpolation.hpp"
#include "matrix/stencil.hpp"

namespace diacut {

/// The kernels of Decimation for one image, on the host in double, written to be read. Spans are
/// those of one image of the device's buffers; elements of margins of results are 0.

/// The matrix of the kept pixels: a plane of `cells` for each diagonal. `weights`: as
/// Interpolation::weights.
std::vector<double> reference_decimated_matrix(const PlaneGrid& cells, int radius,
                                               std::span<const float> weights);

struct ReferenceInterpolation {
  std::vector<double> weights;
  std::vector<double> roots;
};
/// The interpolation to a grid from its kept pixels. `matrix`: a plane of `grid` for each diagonal.
ReferenceInterpolation reference_split(const PlaneGrid& grid, int radius,
                                       std::span<const float> matrix);

/// alpha L x + beta x + gamma before for one vector; `degrees` receives the sums of rows.
std::vector<double> reference_step(const PlaneGrid& grid, const Stencil& stencil,
                                   std::span<const float> matrix, std::span<const float> x,
                                   std::span<const float> before,
                                   const std::array<double, 3>& factors,
                                   std::vector<double>& degrees);

/// One vector of the kept pixels at the pixels of an image of `width` x `height`, row by row.
/// `magnitude`, if not null, receives the sums of the terms' magnitudes.
std::vector<double> reference_interpolated(const PlaneGrid& cells, int radius,
                                           std::span<const float> weights,
                                           std::span<const float> roots,
                                           std::span<const float> coarse, int width, int height,
                                           std::vector<double>* magnitude = nullptr);

}  // namespace diacut
