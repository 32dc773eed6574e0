#include "spmv/formats.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "diacut/errors.hpp"
#include "opencl/lanes.hpp"

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

std::size_t divided_up(std::size_t count, std::size_t by) { return (count + by - 1) / by; }

/// Calls visit(first column) for the blocks of every block row, then end().
template <class Visit, class End>
void for_block_rows(const CsrMatrix& matrix, const BlockSize& block, const Visit& visit,
                    const End& end) {
  for (std::size_t top = 0; top < matrix.rows; top += block.height) {
    for_each_block(
        matrix.starts, matrix.columns, top, std::min(block.height, matrix.rows - top), block.width,
        [&](std::uint32_t first, const auto&, const auto&, std::size_t) { visit(first); });
    end();
  }
}

/// The length of a block row, 0 after the last one.
std::size_t length_of(const CsrMatrix& matrix, std::size_t block_row) {
  return block_row < block_rows(matrix) ? matrix.starts[block_row + 1] - matrix.starts[block_row]
                                        : 0;
}

/// The block rows 0 to `padded` in their order, or, for windows of more than one, with the longest
/// of each window first.
std::vector<std::uint32_t> slice_order(const CsrMatrix& matrix, std::size_t padded,
                                       std::size_t window) {
  std::vector<std::uint32_t> order(padded);
  std::iota(order.begin(), order.end(), 0U);
  if (window <= 1) return order;
  const std::size_t count = block_rows(matrix);
  for (std::size_t first = 0; first < count; first += window) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, first + window));
    std::stable_sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
      return length_of(matrix, a) > length_of(matrix, b);
    });
  }
  return order;
}

/// Copies block row `from` of the matrix to block row `b` of slice `s`.
void fill_block_row(const CsrMatrix& matrix, std::size_t from, std::size_t s, std::size_t b,
                    SlicedMatrix& result) {
  const BlockSize& block = result.block;
  for (std::size_t t = 0; t < length_of(matrix, from); ++t) {
    const std::uint64_t p = matrix.starts[from] + t;
    const std::uint64_t slot = result.starts[s] + t * result.height;
    result.columns[slot + b] = matrix.columns[p];
    for (std::size_t i = 0; i < block.height; ++i) {
      for (std::size_t j = 0; j < block.width; ++j) {
        result.values[(slot * block.height + i * result.height + b) * block.width + j] =
            matrix.values[(p * block.height + i) * block.width + j];
      }
    }
  }
}

}  // namespace

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

void check_fill(double stored, std::size_t nonzeros, const std::string& format,
                const FormatLimits& limits) {
  const double most =
      std::max(static_cast<double>(limits.free), limits.fill * static_cast<double>(nonzeros));
  if (stored > most) {
    throw InputError(fmt::format(
        "{} would store {:.0f} elements for {} non-zeros, expected at most {:.0f}; use CSR or COO, "
        "which store no padding",
        format, stored, nonzeros, most));
  }
  if (stored * sizeof(float) > static_cast<double>(limits.bytes)) {
    throw InputError(fmt::format("{} would store {:.0f} elements, expected at most {} bytes",
                                 format, stored, limits.bytes));
  }
}

MatrixDiagonals diagonal_matrix(const CsrMatrix& matrix, const FormatLimits& limits) {
  const std::vector<std::int64_t> offsets = offsets_of(matrix);
  check_fill(static_cast<double>(offsets.size()) * static_cast<double>(dia_pitch(matrix.rows)),
             matrix.nonzeros(), "DIA", limits);
  return diagonal_part(matrix, offsets);
}

MatrixDiagonals diagonal_part(const CsrMatrix& matrix, const std::vector<std::int64_t>& offsets) {
  MatrixDiagonals result{matrix.rows, matrix.cols, dia_pitch(matrix.rows), offsets, {}};
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

std::string to_string(const BlockSize& block) {
  return fmt::format("{}x{}", block.height, block.width);
}

std::size_t count_blocks(const CsrMatrix& matrix, const BlockSize& block) {
  std::size_t count = 0;
  for_block_rows(
      matrix, block, [&](std::uint32_t) { ++count; }, [] {});
  return count;
}

CsrMatrix block_matrix(const CsrMatrix& matrix, const BlockSize& block,
                       const FormatLimits& limits) {
  CsrMatrix result;
  result.rows = matrix.rows;
  result.cols = matrix.cols;
  result.starts.reserve(divided_up(matrix.rows, block.height) + 1);
  for_block_rows(
      matrix, block, [&](std::uint32_t first) { result.columns.push_back(first); },
      [&] { result.starts.push_back(result.columns.size()); });
  check_fill(static_cast<double>(result.columns.size()) * static_cast<double>(block.elements()),
             matrix.nonzeros(), fmt::format("BCSR {}", to_string(block)), limits);
  result.values.assign(result.columns.size() * block.elements(), 0.0F);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const std::size_t r = row / block.height;
    std::uint64_t p = result.starts[r];
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      while (result.columns[p] + block.width <= matrix.columns[e]) ++p;
      result.values[(p * block.height + row % block.height) * block.width +
                    (matrix.columns[e] - result.columns[p])] = matrix.values[e];
    }
  }
  return result;
}

SlicedMatrix sliced_matrix(const CsrMatrix& matrix, const BlockSize& block, std::size_t nonzeros,
                           const SliceForm& form, const FormatLimits& limits) {
  constexpr std::size_t kLine = 32;
  const std::size_t count = block_rows(matrix);
  SlicedMatrix result;
  result.rows = matrix.rows;
  result.cols = matrix.cols;
  result.block = block;
  result.sliced = form.height != 0;
  result.height = result.sliced ? form.height : divided_up(count, kLine) * kLine;
  const std::size_t slices = count == 0 ? 0 : divided_up(count, result.height);
  std::vector<std::uint32_t> order = slice_order(matrix, slices * result.height, form.window);

  double stored = 0.0;
  for (std::size_t s = 0; s < slices; ++s) {
    std::size_t longest = 0;
    for (std::size_t b = 0; b < result.height; ++b) {
      longest = std::max(longest, length_of(matrix, order[s * result.height + b]));
    }
    result.starts.push_back(result.starts.back() + longest * result.height);
    stored += static_cast<double>(longest) * static_cast<double>(result.height) *
              static_cast<double>(block.elements());
  }
  const std::string name =
      fmt::format("{}{}ELL", result.sliced ? "S" : "", block == BlockSize{} ? "" : "B");
  check_fill(stored, nonzeros, name, limits);

  result.columns.assign(result.starts.back(), kNoColumn);
  result.values.assign(result.starts.back() * block.elements(), 0.0F);
  for (std::size_t s = 0; s < slices; ++s) {
    for (std::size_t b = 0; b < result.height; ++b) {
      fill_block_row(matrix, order[s * result.height + b], s, b, result);
    }
  }
  if (form.window > 1) result.order = std::move(order);
  return result;
}

std::vector<std::uint32_t> entry_rows(const CsrMatrix& matrix) {
  std::vector<std::uint32_t> rows_of(matrix.nonzeros());
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    std::fill(rows_of.begin() + static_cast<std::ptrdiff_t>(matrix.starts[row]),
              rows_of.begin() + static_cast<std::ptrdiff_t>(matrix.starts[row + 1]),
              static_cast<std::uint32_t>(row));
  }
  return rows_of;
}

}  // namespace diacut
