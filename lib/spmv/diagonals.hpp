#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmv/csr.hpp"
#include "spmv/limits.hpp"

namespace diacut {

/// A matrix of any shape by diagonals (DIA): values[d * pitch + row] multiplies x[row +
/// offsets[d]] where row + offsets[d] is a column; elsewhere the value is zero, and so are the
/// values from `rows` to `pitch`. Offsets ascend, each once. The zeros that fill a diagonal are
/// multiplied like other values, so an infinite x makes NaN of them.
struct DiagonalMatrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t pitch = 0;  ///< dia_pitch(rows)
  std::vector<std::int64_t> offsets;
  std::vector<float> values;
};

/// Adjacent diagonals of a DiagonalMatrix (BDIA): `width` of them from offset `first` on.
struct DiagonalBand {
  std::int64_t first = 0;
  std::uint32_t width = 0;
  bool operator==(const DiagonalBand&) const = default;
};

/// Throws InputError when the diagonals would store too much (see check_fill()).
DiagonalMatrix diagonal_matrix(const CsrMatrix& matrix, const FormatLimits& limits = {});

/// The matrix's entries on the diagonals at `offsets`, which ascend.
DiagonalMatrix diagonal_part(const CsrMatrix& matrix, const std::vector<std::int64_t>& offsets);

/// The runs of adjacent offsets, ascending, cut into bands of at most `widest` diagonals.
std::vector<DiagonalBand> diagonal_bands(const std::vector<std::int64_t>& offsets,
                                         std::uint32_t widest);

}  // namespace diacut
