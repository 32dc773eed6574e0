#include "spmv/diagonals.hpp"

#include <algorithm>

#include "opencl/pitch.hpp"

namespace diacut {

namespace {

std::vector<std::int64_t> offsets_of(const CsrMatrix& matrix) {
  // One flag for each of the rows + cols - 1 diagonals there may be.
  std::vector<bool> seen(matrix.rows + matrix.cols, false);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      seen[matrix.rows + matrix.columns[e] - row] = true;
    }
  }
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) {
      offsets.push_back(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(matrix.rows));
    }
  }
  return offsets;
}

}  // namespace

DiagonalMatrix diagonal_matrix(const CsrMatrix& matrix, const FormatLimits& limits) {
  const std::vector<std::int64_t> offsets = offsets_of(matrix);
  check_fill(static_cast<double>(offsets.size()) * static_cast<double>(dia_pitch(matrix.rows)),
             matrix.nonzeros(), "DIA", limits);
  return diagonal_part(matrix, offsets);
}

DiagonalMatrix diagonal_part(const CsrMatrix& matrix, const std::vector<std::int64_t>& offsets) {
  DiagonalMatrix result{matrix.rows, matrix.cols, dia_pitch(matrix.rows), offsets, {}};
  result.values.assign(offsets.size() * result.pitch, 0.0F);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    // Columns of a row ascend, so do its offsets.
    auto at = offsets.begin();
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      const std::int64_t offset =
          static_cast<std::int64_t>(matrix.columns[e]) - static_cast<std::int64_t>(row);
      at = std::lower_bound(at, offsets.end(), offset);
      if (at == offsets.end()) break;
      if (*at == offset) {
        const auto d = static_cast<std::size_t>(at - offsets.begin());
        result.values[d * result.pitch + row] = matrix.values[e];
      }
    }
  }
  return result;
}

std::vector<DiagonalBand> diagonal_bands(const std::vector<std::int64_t>& offsets,
                                         std::uint32_t widest) {
  std::vector<DiagonalBand> bands;
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    if (d > 0 && offsets[d] == offsets[d - 1] + 1 && bands.back().width < widest) {
      ++bands.back().width;
    } else {
      bands.push_back({offsets[d], 1});
    }
  }
  return bands;
}

}  // namespace diacut
