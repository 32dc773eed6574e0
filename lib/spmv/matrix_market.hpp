#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "spmv/csr.hpp"

namespace diacut {

/// A matrix out of a Matrix Market file (Boisvert, Pozo and Remington, The Matrix Market exchange
/// formats, NISTIR 5935, 1996).
///
/// Understood: `matrix`, in `coordinate` or `array` form, of the fields `real`, `integer` and
/// `pattern` (every entry is 1), `general`, `symmetric` or `skew-symmetric`, of any shape. Entries
/// given more than once are summed, as an assembler of finite elements means them. Explicit zeros
/// of the coordinate form stay entries; zeros of the array form are none. A symmetric file holds
/// the lower triangle, a skew one the strictly lower.
struct MatrixMarketFile {
  CsrMatrix matrix;
  std::string field;       ///< "real", "integer" or "pattern".
  std::string symmetry;    ///< "general", "symmetric" or "skew-symmetric".
  std::size_t summed = 0;  ///< Entries that fell on a place already taken.
};

/// Throws InputError with the line, what was found and what was expected: for complex and hermitian
/// files, malformed or missing lines, more or fewer entries than the size line tells, indices out
/// of range, entries in the wrong triangle, values that are no finite float, and sizes that no
/// machine's memory holds. `name` stands for the file in messages.
MatrixMarketFile parse_matrix_market(std::string_view text, const std::string& name);

/// As above, of a file. Throws InputError naming it.
MatrixMarketFile read_matrix_market(const std::string& path);

/// The matrix as a coordinate, real, general file. Values survive a round trip.
std::string matrix_market_text(const CsrMatrix& matrix);

}  // namespace diacut
