// Matrices on the host from arrays in SciPy's conventions.
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "diacut/errors.hpp"
#include "spmv/formats.hpp"

namespace diacut {

namespace {

void check_count(std::size_t found, std::size_t expected, const char* what) {
  if (found == expected) return;
  throw InputError(fmt::format("there are {} {}, expected {}", found, what, expected));
}

void check_finite(float value, std::size_t row, std::size_t column, NonFinite non_finite) {
  if (non_finite == NonFinite::kTaken || std::isfinite(value)) return;
  throw InputError(fmt::format("the entry at row {}, column {} is {}, expected a finite number",
                               row, column, value));
}

std::uint32_t index_of(std::int64_t index, std::size_t end, const char* what, std::size_t entry) {
  if (index >= 0 && static_cast<std::uint64_t>(index) < end) {
    return static_cast<std::uint32_t>(index);
  }
  throw InputError(fmt::format("entry {} has the {} {}, expected 0 to {}", entry, what, index,
                               static_cast<std::int64_t>(end) - 1));
}

void check_starts(std::span<const std::int64_t> starts, std::size_t rows, std::size_t entries) {
  check_count(starts.size(), rows + 1, "row starts");
  if (starts.front() != 0) {
    throw InputError(fmt::format("the first row starts at {}, expected 0", starts.front()));
  }
  const auto falls = std::is_sorted_until(starts.begin(), starts.end());
  if (falls != starts.end()) {
    throw InputError(fmt::format("row {} ends at {}, before its start {}",
                                 falls - starts.begin() - 1, *falls, *(falls - 1)));
  }
  check_count(entries, static_cast<std::size_t>(starts.back()), "entries");
}

}  // namespace

void check_csr(const CsrMatrix& matrix) {
  check_dimensions(matrix.rows, matrix.cols);
  const std::vector<std::int64_t> starts(matrix.starts.begin(), matrix.starts.end());
  check_starts(starts, matrix.rows, matrix.columns.size());
  check_count(matrix.values.size(), matrix.columns.size(), "numbers");
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      index_of(matrix.columns[e], matrix.cols, "column", e);
      if (e == matrix.starts[row] || matrix.columns[e - 1] < matrix.columns[e]) continue;
      throw InputError(fmt::format(
          "column {} follows column {} in row {}, expected ascending columns: csr_matrix() sorts",
          matrix.columns[e], matrix.columns[e - 1], row));
    }
  }
}

CsrMatrix csr_matrix(std::size_t rows, std::size_t cols, std::span<const std::int64_t> starts,
                     std::span<const std::int64_t> columns, std::span<const float> values,
                     NonFinite non_finite) {
  check_dimensions(rows, cols);
  check_starts(starts, rows, columns.size());
  check_count(values.size(), columns.size(), "numbers");
  CsrMatrix matrix{rows, cols, {starts.begin(), starts.end()}, {}, {values.begin(), values.end()}};
  matrix.columns.reserve(columns.size());
  bool ascends = true;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      matrix.columns.push_back(index_of(columns[e], cols, "column", e));
      check_finite(values[e], row, matrix.columns[e], non_finite);
      ascends = ascends && (e == matrix.starts[row] || columns[e - 1] < columns[e]);
    }
  }
  if (ascends) return matrix;
  std::vector<MatrixEntry> entries(values.size());
  const std::vector<std::uint32_t> row_of = entry_rows(matrix);
  for (std::size_t e = 0; e < entries.size(); ++e) {
    entries[e] = {row_of[e], matrix.columns[e], double{values[e]}};
  }
  return csr_from_entries(rows, cols, std::move(entries), non_finite);
}

CsrMatrix coo_matrix(std::size_t rows, std::size_t cols, std::span<const std::int64_t> row_of,
                     std::span<const std::int64_t> column_of, std::span<const float> values,
                     NonFinite non_finite) {
  check_dimensions(rows, cols);
  check_count(row_of.size(), values.size(), "rows of entries");
  check_count(column_of.size(), values.size(), "columns of entries");
  std::vector<MatrixEntry> entries(values.size());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    entries[e] = {index_of(row_of[e], rows, "row", e), index_of(column_of[e], cols, "column", e),
                  double{values[e]}};
    check_finite(values[e], entries[e].row, entries[e].column, non_finite);
  }
  return csr_from_entries(rows, cols, std::move(entries), non_finite);
}

CsrMatrix dia_matrix(std::size_t rows, std::size_t cols, std::span<const std::int64_t> offsets,
                     std::span<const float> values, NonFinite non_finite) {
  check_dimensions(rows, cols);
  const std::size_t length = offsets.empty() ? 0 : values.size() / offsets.size();
  check_count(values.size(), length * offsets.size(), "numbers of equally long diagonals");
  std::vector<std::size_t> order(offsets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return offsets[a] < offsets[b]; });
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (offsets[order[k]] != offsets[order[k - 1]]) continue;
    throw InputError(
        fmt::format("the offset {} comes twice, expected each once", offsets[order[k]]));
  }
  CsrMatrix matrix{rows, cols, {0}, {}, {}};
  matrix.starts.reserve(rows + 1);
  const auto end = static_cast<std::int64_t>(std::min(cols, length));
  for (std::size_t row = 0; row < rows; ++row) {
    for (const std::size_t d : order) {
      // Offsets may be as large as the numbers of their type.
      if (offsets[d] >= end || offsets[d] < -static_cast<std::int64_t>(rows)) continue;
      const std::int64_t column = static_cast<std::int64_t>(row) + offsets[d];
      if (column < 0 || column >= end) continue;
      const float value = values[d * length + static_cast<std::size_t>(column)];
      if (value == 0) continue;
      check_finite(value, row, static_cast<std::size_t>(column), non_finite);
      matrix.columns.push_back(static_cast<std::uint32_t>(column));
      matrix.values.push_back(value);
    }
    matrix.starts.push_back(matrix.columns.size());
  }
  return matrix;
}

CsrMatrix transposed(const CsrMatrix& matrix) {
  CsrMatrix result{
      matrix.cols, matrix.rows, std::vector<std::uint64_t>(matrix.cols + 1, 0), {}, {}};
  result.columns.resize(matrix.nonzeros());
  result.values.resize(matrix.nonzeros());
  for (const std::uint32_t column : matrix.columns) ++result.starts[column + std::size_t{1}];
  std::partial_sum(result.starts.begin(), result.starts.end(), result.starts.begin());
  std::vector<std::uint64_t> next(result.starts.begin(), result.starts.end() - 1);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      const std::uint64_t at = next[matrix.columns[e]]++;
      result.columns[at] = static_cast<std::uint32_t>(row);
      result.values[at] = matrix.values[e];
    }
  }
  return result;
}

float half_scale(const std::vector<float>& values) {
  float largest = 0;
  for (const float value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  return largest > 0 ? std::ldexp(1.0F, std::clamp(exponent - 15, -120, 120)) : 1.0F;
}

std::uint16_t half_bits(float value) {
  return Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(value));
}

float half_value(std::uint16_t bits) {
  return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits));
}

}  // namespace diacut
