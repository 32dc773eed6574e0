#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// @file
/// Eigenvectors of the normalized cut on the host, and the report of the solver that found them.
namespace diacut {

/// Bounds of the distance of an eigenpair from an exact one, from its residual. L is the normalized
/// Laplacian I - A, x the vector of unit norm, mu = x'Lx its eigenvalue, and r = |L x - mu x|,
/// which counts as at least kResidualRounding.
///
/// Some exact eigenvalue is within r of mu. Where no other exact eigenvalue is within a distance
/// `gap` of mu, the one near mu is within r^2 / gap of it (T. Kato, "On the upper and lower bounds
/// of eigenvalues", 1949; both in B. Parlett, "The Symmetric Eigenvalue Problem", 1998, 4.5 and
/// 11.7), and the sine of the angle between x and its eigenvector is at most r / gap (C. Davis and
/// W. Kahan, "The rotation of eigenvectors by a perturbation. III", 1970). The gap is taken as the
/// distance from mu to the nearest of the other computed eigenvalues less that one's own r. So the
/// bounds by the gap suppose that the solver has missed no eigenvalue; the last eigenvalue, whose
/// upper neighbour is not computed, has none of them.
///
/// The first eigenpair of an image, or one for each component of a graph, is known, not computed:
/// its bounds are 0.
struct EigenResolution {
  double error = 0;  ///< Largest distance from mu to an exact eigenvalue: min(r, r^2 / gap).
  double angle = 0;  ///< Largest sine of the angle to an exact eigenvector: min(r / gap, 1).
  /// Whether the residual resolves the eigenvalue: error is smaller than mu, so that the exact
  /// eigenvalue is not 0 and mu is less than twice as large or small.
  bool resolved = true;
};

/// Residual norms of float32 vectors below this are rounding errors.
inline constexpr double kResidualRounding = 1e-7;

/// The least residual norm that a relative tolerance asks for: what float32 reaches in any image.
inline constexpr double kResidualFloor = 5e-7;

/// The matrix whose products a solver made, in pitched DIA form: diagonal d is elements [d * pitch,
/// d * pitch + rows) of its values.
struct MatrixReport {
  std::size_t rows = 0;     ///< Pixels of the grid on which the eigenproblem was solved.
  std::size_t pitch = 0;    ///< Elements from one diagonal to the next.
  int diagonals = 0;        ///< 81 for a radius of 5.
  int bands = 0;            ///< Runs of neighbouring diagonals: 11 for a radius of 5.
  std::uint64_t bytes = 0;  ///< Size of the values, bytes.
  std::string form;         ///< "dia", or "half" where half of the diagonals are kept in 16 bits.
};

/// What an eigensolver did and how good its result is. Eigenvectors that miss the tolerance are no
/// error: `converged` is false then, and the eigenvectors found so far are returned.
struct EigenReport {
  bool converged = false;  ///< Whether every residual norm is within the tolerance.
  /// The solver that ran: "multilevel", "lanczos", "spectra" or, for small images, "dense";
  /// "filtered" for rough ones, of SpectralUse::kDecimated.
  std::string solver;
  /// The kernel of the products that ran, by MatvecKind and, for a compressed matrix,
  /// MatvecStorage: "unrolled", "symmetric half"; of the multilevel solver "block" or "block half".
  std::string matvec;
  std::int64_t products = 0;  ///< Products of the matrix with one vector, on all grids.
  std::int64_t passes = 0;    ///< How often these read the matrix: once for a block of vectors.
  MatrixReport matrix;        ///< What was multiplied.
  int levels = 1;         ///< Grids of the multilevel solver, with the image's own; 1 for others.
  int restarts = 0;       ///< Restarts of Lanczos, or iterations of multilevel on all its grids.
  int filter_degree = 1;  ///< Degree of the Chebyshev polynomial that Lanczos ran with.
  std::vector<double> residuals;  ///< |A x - theta x| of each eigenvector, the trivial one first.
  std::vector<EigenResolution> resolution;  ///< What the residual of each shows.

  /// How many eigenvalues the residuals resolve, the known ones included.
  std::size_t resolved() const {
    return static_cast<std::size_t>(
        std::count_if(resolution.begin(), resolution.end(),
                      [](const EigenResolution& each) { return each.resolved; }));
  }
};

/// Eigenvectors of the normalized cut, (D - W) y = lambda D y (J. Shi and J. Malik, "Normalized
/// cuts and image segmentation", 2000, equation 11), ascending in lambda. W is the affinity matrix
/// and D the diagonal matrix of its row sums.
struct Eigenvectors {
  int width = 0;               ///< Width of the image, pixels.
  int height = 0;              ///< Height of the image, pixels.
  std::vector<double> values;  ///< The eigenvalues lambda, ascending, the first about 0; or none.
  /// vectors[k] is z = D^1/2 y for values[k]: width * height entries, row by row from the top left,
  /// of unit norm, its entry of largest magnitude positive, 0 where the image has no data.
  /// vectors[0] is the trivial eigenvector, proportional to sqrt_degree. Empty where only the
  /// eigenvalues were wanted.
  std::vector<std::vector<float>> vectors;
  /// Square roots of the degrees, the diagonal of D^1/2: width * height entries, 0 where the image
  /// has no data. y = z / sqrt_degree. Empty where `vectors` is.
  std::vector<float> sqrt_degree;
  EigenReport report;  ///< How the eigenvectors were found.
};

}  // namespace diacut
