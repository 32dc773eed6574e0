#include "matrix/csr_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut {

void check_dimensions(std::size_t rows, std::size_t cols) {
  if (rows > kMaxDimension || cols > kMaxDimension) {
    throw InputError(fmt::format("a matrix of {} x {}, expected at most {} rows and columns", rows,
                                 cols, kMaxDimension));
  }
}

CsrMatrix csr_from_entries(std::size_t rows, std::size_t cols, std::vector<MatrixEntry> entries,
                           NonFinite non_finite) {
  check_dimensions(rows, cols);
  for (const MatrixEntry& entry : entries) {
    if (entry.row >= rows || entry.column >= cols) {
      throw InputError(fmt::format("an entry at row {}, column {} of a matrix of {} x {}",
                                   entry.row + 1, entry.column + 1, rows, cols));
    }
  }
  const auto place = [](const MatrixEntry& entry) { return std::pair(entry.row, entry.column); };
  const auto before = [&](const MatrixEntry& a, const MatrixEntry& b) {
    return place(a) < place(b);
  };
  if (!std::is_sorted(entries.begin(), entries.end(), before)) {
    std::stable_sort(entries.begin(), entries.end(), before);
  }
  CsrMatrix matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.starts.assign(rows + 1, 0);
  matrix.columns.reserve(entries.size());
  matrix.values.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size();) {
    const MatrixEntry& first = entries[i];
    double sum = 0.0;
    for (; i < entries.size() && place(entries[i]) == place(first); ++i) sum += entries[i].value;
    const float value = static_cast<float>(sum);
    if (non_finite == NonFinite::kRefused && !std::isfinite(value)) {
      throw InputError(fmt::format("the value {} at row {}, column {} does not fit a float", sum,
                                   first.row + 1, first.column + 1));
    }
    matrix.columns.push_back(first.column);
    matrix.values.push_back(value);
    matrix.starts[first.row + 1] = matrix.columns.size();
  }
  for (std::size_t row = 0; row < rows; ++row) {
    matrix.starts[row + 1] = std::max(matrix.starts[row + 1], matrix.starts[row]);
  }
  return matrix;
}

CsrMatrix csr_of(const HostDiaMatrix& matrix) {
  const DiaShape& shape = matrix.shape;
  std::vector<MatrixEntry> entries;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t d = 0; d < shape.diagonals(); ++d) {
      const std::int64_t column = static_cast<std::int64_t>(row) + shape.offsets[d];
      if (column < 0 || column >= static_cast<std::int64_t>(shape.rows)) continue;
      const double value = matrix.values[d * shape.pitch + row];
      if (value == 0) continue;
      entries.push_back(
          {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column), value});
    }
  }
  return csr_from_entries(shape.rows, shape.rows, std::move(entries));
}

}  // namespace diacut
