#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "diacut/sparse.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut {

/// Rows or columns that a general sparse matrix may have; column indices take 32 bits on the host
/// and on devices. Positions in the arrays of entries take 64 bits.
inline constexpr std::size_t kMaxDimension = std::numeric_limits<std::int32_t>::max();

struct MatrixEntry {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  double value = 0.0;
};

/// A matrix from entries in any order. Entries of one place are summed in double, in the order
/// given. Throws InputError when a dimension or an index is out of range, or a value does not fit a
/// float.
CsrMatrix csr_from_entries(std::size_t rows, std::size_t cols, std::vector<MatrixEntry> entries,
                           NonFinite non_finite = NonFinite::kRefused);

/// The entries of a matrix by diagonals that are not 0.
CsrMatrix csr_of(const HostDiaMatrix& matrix);

/// Throws InputError for more rows or columns than kMaxDimension.
void check_dimensions(std::size_t rows, std::size_t cols);

}  // namespace diacut
