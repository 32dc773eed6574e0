#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "diacut/eigenvectors.hpp"
#include "diacut/parameters.hpp"
#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"

namespace diacut::bench {

/// The solver of a name such as "lanczos:minifloat": "lanczos".
std::string solver_name(const std::string& solver);
/// The storage of the matrix of such a name: "minifloat"; nothing if the name has none.
std::optional<MatvecStorage> solver_storage(const std::string& solver);
/// Throws ConfigError if no solver has such a name.
void check_solver(const std::string& solver);

/// One solver's figures for one matrix: medians over the repeats.
struct SolverRun {
  double wall_ms = 0;
  double device_ms = 0;
  double residual = 0;           ///< The largest |A x - theta x|, A the whole matrix.
  std::uint64_t peak_bytes = 0;  ///< On the device, beside the matrix.
  Eigenvectors found;
};

/// Solves for the eigenvectors of `matrix`, which is unchanged, `repeats` times after a first run
/// that builds kernels (Spectra: once). Lanczos and Spectra multiply by `kind`, or by the
/// compressed matrix that the solver's name asks for, or with ":auto" by what segment chooses.
SolverRun measure_solver(Context& context, NormalizedMatrix& matrix, MatvecKind kind,
                         const std::string& solver, const EigenParameters& parameters, int repeats);

}  // namespace diacut::bench
