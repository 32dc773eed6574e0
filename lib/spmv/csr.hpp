#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace diacut {

/// Rows or columns that a general sparse matrix may have; column indices take 32 bits on the host
/// and on devices. Positions in the arrays of entries take 64 bits.
inline constexpr std::size_t kMaxDimension = std::numeric_limits<std::int32_t>::max();

/// A sparse matrix by rows, from which all other formats are made: row r has the entries starts[r]
/// to starts[r + 1] of `columns` (ascending, each once) and `values`. Explicit zeros are entries as
/// any other value is. Rows may be empty, and so may the matrix.
struct CsrMatrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<std::uint64_t> starts = {0};  ///< rows + 1
  std::vector<std::uint32_t> columns;
  std::vector<float> values;

  std::size_t nonzeros() const { return columns.size(); }
  std::size_t row_length(std::size_t row) const { return starts[row + 1] - starts[row]; }
  std::size_t longest_row() const;
  bool operator==(const CsrMatrix&) const = default;
};

struct MatrixEntry {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  double value = 0.0;
};

/// A matrix from entries in any order. Entries of one place are summed in double, in the order
/// given. Throws InputError when a dimension or an index is out of range, or a value does not fit a
/// float.
CsrMatrix csr_from_entries(std::size_t rows, std::size_t cols, std::vector<MatrixEntry> entries);

/// The product in double, by the definition. If `magnitude` is given, it receives sum |a_i x_i| for
/// each row, the scale of the rounding error that is allowed.
std::vector<double> reference_product(const CsrMatrix& matrix, const std::vector<double>& x,
                                      std::vector<double>* magnitude = nullptr);

}  // namespace diacut
