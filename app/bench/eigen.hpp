#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boundary/boundary.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"

/// The parts of the subcommand eigen.
namespace diacut::bench {

/// What solutions of one matrix are asked to be as good as.
struct AccuracyOptions {
  std::vector<double> tolerances;  ///< EigenParameters::tolerance of one solution each.
  std::vector<double> relative;    ///< EigenParameters::relative_tolerance of one solution each.
  double tight = 3e-7;             ///< The tolerance of the solution that is taken for the truth.
  int repeats = 1;                 ///< Timed solutions, after a first one that builds kernels.

  bool asked() const { return !tolerances.empty() || !relative.empty(); }
};

/// Solves for the eigenvectors of `matrix`, which is of one image and is not changed, by the
/// multilevel solver: once to options.tight, and to each of the tolerances. Prints for each its
/// time, iterations, residual, how many eigenvalues it resolves, and how far its eigenvalues, the
/// subspace and the spectral contour are from those of the tight solution. Returns the same
/// figures.
nlohmann::json measure_accuracy(Context& context, NormalizedMatrix& matrix,
                                const BoundaryMap& boundary, const EigenParameters& parameters,
                                const AccuracyOptions& options);

/// An image made for its size: `how` is "enlarge" (the photograph by bilinear interpolation),
/// "tile" (the photograph and its mirror images side by side) or "scene" (coloured discs of many
/// sizes with noise, no photograph; equal for equal sizes). About `megapixels`, in the
/// proportions of `photograph`, or 3:2 without one. Throws ConfigError.
Image sized_image(const Image* photograph, const std::string& how, double megapixels);

}  // namespace diacut::bench
