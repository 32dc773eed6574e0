#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmv/csr.hpp"
#include "spmv/limits.hpp"

namespace diacut {

/// A matrix of any shape by diagonals (DIA): values[d * pitch + row] multiplies x[row +
/// offsets[d]] where that is a column; elsewhere it is zero, as are the elements from rows to
/// pitch. Offsets ascend, each once. A zero that a diagonal is filled up with is multiplied like
/// the rest: an infinite x spreads NaN to it.
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

/// Elements of the diagonal at `offset`: rows whose column lies in the matrix.
std::size_t diagonal_length(std::size_t rows, std::size_t cols, std::int64_t offset);

/// Throws InputError (see check_fill).
DiagonalMatrix diagonal_matrix(const CsrMatrix& matrix, const FormatLimits& limits = {});

/// The entries on `offsets` (ascending) only.
DiagonalMatrix diagonal_part(const CsrMatrix& matrix, const std::vector<std::int64_t>& offsets);

/// The runs of adjacent offsets, in their order, cut at `widest` diagonals.
std::vector<DiagonalBand> diagonal_bands(const std::vector<std::int64_t>& offsets,
                                         std::uint32_t widest);

std::vector<double> reference_product(const DiagonalMatrix& matrix, const std::vector<double>& x);
/// The same by bands.
std::vector<double> reference_product(const DiagonalMatrix& matrix,
                                      const std::vector<DiagonalBand>& bands,
                                      const std::vector<double>& x);

}  // namespace diacut
