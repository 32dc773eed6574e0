#include "spmv/csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

void check_dimensions(std::size_t rows, std::size_t cols) {
  if (rows > kMaxDimension || cols > kMaxDimension) {
    throw InputError(fmt::format("a matrix of {} x {}, expected at most {} rows and columns", rows,
                                 cols, kMaxDimension));
  }
}

}  // namespace

std::size_t CsrMatrix::longest_row() const {
  std::size_t longest = 0;
  for (std::size_t row = 0; row < rows; ++row) longest = std::max(longest, row_length(row));
  return longest;
}

CsrMatrix csr_from_entries(std::size_t rows, std::size_t cols, std::vector<MatrixEntry> entries) {
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
    if (!std::isfinite(value)) {
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

std::vector<double> reference_product(const CsrMatrix& matrix, const std::vector<double>& x,
                                      std::vector<double>* magnitude) {
  std::vector<double> result(matrix.rows, 0.0);
  if (magnitude != nullptr) magnitude->assign(matrix.rows, 0.0);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      const double term = double{matrix.values[e]} * x[matrix.columns[e]];
      result[row] += term;
      if (magnitude != nullptr) (*magnitude)[row] += std::abs(term);
    }
  }
  return result;
}

}  // namespace diacut
