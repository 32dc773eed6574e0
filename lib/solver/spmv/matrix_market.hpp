#pragma once

#include <string>
#include <string_view>

#include "spmv/formats.hpp"

namespace diacut {

/// A matrix from the text of a Matrix Market file (Boisvert, Pozo and Remington, The Matrix Market
/// exchange formats, NISTIR 5935, 1996).
///
/// The reader understands the object `matrix`, the format `coordinate`, the fields
/// `real`, `integer` and `pattern` (every entry is 1), and the symmetries `general`, `symmetric`
/// and `skew-symmetric`, in any shape. Entries given more than once are summed, as an assembler of
/// finite elements means them. Explicit zeros stay entries. A symmetric file holds the lower
/// triangle, a skew one the strictly lower.
///
/// Throws InputError with the line, what was found and what was expected: for complex and hermitian
/// files, malformed or missing lines, more or fewer entries than the size line says, indices out
/// of range, entries in the wrong triangle, values that are no finite float, and sizes that no
/// machine's memory holds. `name` stands for the file in messages.
CsrMatrix parse_matrix_market(std::string_view text, const std::string& name);

}  // namespace diacut
