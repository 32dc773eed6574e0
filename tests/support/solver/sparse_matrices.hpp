#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spmv/formats.hpp"

namespace diacut {

/// The matrix as a coordinate, real, general file. Values survive a round trip.
std::string matrix_market_text(const CsrMatrix& matrix);

namespace testing {

struct NamedMatrix {
  std::string name;
  CsrMatrix matrix;
};

/// Each place taken with probability `density`; values of both signs and of magnitudes from 2^-7 to
/// 2, the same for a seed everywhere.
CsrMatrix random_sparse(std::size_t rows, std::size_t cols, double density, std::uint64_t seed);

/// All entries of those diagonals that lie in the matrix.
CsrMatrix by_diagonals(std::size_t rows, std::size_t cols, const std::vector<std::int64_t>& offsets,
                       std::uint64_t seed);

/// Shapes at which layouts and kernels go wrong: empty ones, single rows and columns, primes, sizes
/// around blocks, slices and work-groups, empty and very long rows, first and last columns. All
/// small enough for a simulated device.
std::vector<NamedMatrix> tiny_matrices();

/// The same around work-groups and their tiles, with thousands of entries.
std::vector<NamedMatrix> awkward_matrices();

}  // namespace testing
}  // namespace diacut
