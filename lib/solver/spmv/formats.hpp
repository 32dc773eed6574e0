#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "matrix/csr_matrix.hpp"

namespace diacut {

/// Rows of blocks of a result of block_matrix(); rows of other matrices.
inline std::size_t block_rows(const CsrMatrix& matrix) { return matrix.starts.size() - 1; }

/// Throws InputError unless the matrix is as CsrMatrix says. Numbers may be NaN or infinite.
void check_csr(const CsrMatrix& matrix);

CsrMatrix transposed(const CsrMatrix& matrix);

/// A power of two for numbers in 16 bits: the largest of these in units of it is below 2^15.
float half_scale(const std::vector<float>& values);
/// The bits of the nearest number of 16 bits, and that number.
std::uint16_t half_bits(float value);
float half_value(std::uint16_t bits);

/// The product in double, by the definition. If `magnitude` is given, it receives sum |a_i x_i| for
/// each row, the scale of the rounding error that is allowed.
std::vector<double> reference_product(const CsrMatrix& matrix, const std::vector<double>& x,
                                      std::vector<double>* magnitude = nullptr);

/// How much a padded format may store. A few diagonals or one long row can make the stored matrix a
/// thousand times larger.
struct FormatLimits {
  double fill = 8.0;                          ///< The most stored elements for each non-zero.
  std::size_t free = std::size_t{1} << 16;    ///< Elements that are allowed whatever the fill.
  std::size_t bytes = std::size_t{64} << 30;  ///< The most host memory that values may take.
};

/// Throws InputError saying how much `format` would store, and what to use instead. `stored` is a
/// double because it may pass 2^64.
void check_fill(double stored, std::size_t nonzeros, const std::string& format,
                const FormatLimits& limits);

/// A matrix of any shape by diagonals (DIA): values[d * pitch + row] multiplies x[row +
/// offsets[d]] where row + offsets[d] is a column; elsewhere the value is zero, and so are the
/// values from `rows` to `pitch`. Offsets ascend, each once. The zeros that fill a diagonal are
/// multiplied like other values, so an infinite x makes NaN of them.
struct MatrixDiagonals {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t pitch = 0;  ///< dia_pitch(rows)
  std::vector<std::int64_t> offsets;
  std::vector<float> values;
};

/// Adjacent diagonals (BDIA): `width` of them from offset `first` on.
struct DiagonalBand {
  std::int64_t first = 0;
  std::uint32_t width = 0;
  bool operator==(const DiagonalBand&) const = default;
};

/// Throws InputError when the diagonals would store too much (see check_fill()).
MatrixDiagonals diagonal_matrix(const CsrMatrix& matrix, const FormatLimits& limits = {});

/// The matrix's entries on the diagonals at `offsets`, which ascend.
MatrixDiagonals diagonal_part(const CsrMatrix& matrix, const std::vector<std::int64_t>& offsets);

/// The runs of adjacent offsets, ascending, cut into bands of at most `widest` diagonals.
std::vector<DiagonalBand> diagonal_bands(const std::vector<std::int64_t>& offsets,
                                         std::uint32_t widest);

/// The size of blocks that cut a matrix into a grid: block rows of `height` rows, block columns of
/// `width` columns.
struct BlockSize {
  std::size_t height = 1;
  std::size_t width = 1;

  std::size_t elements() const { return height * width; }
  bool operator==(const BlockSize&) const = default;
};
/// "4x4".
std::string to_string(const BlockSize& block);

/// The number of non-empty blocks of that size.
std::size_t count_blocks(const CsrMatrix& matrix, const BlockSize& block);

/// A matrix by rows of dense blocks (BCSR): block row r has the blocks starts[r] to starts[r + 1].
/// columns[p] is the first column of block p, ascending in a block row; element (i, j) of block p
/// is values[(p * height + i) * width + j]. Elements of a block that are no entries of the matrix,
/// or lie beyond it, are zero. Throws InputError when the blocks would store too much (see
/// check_fill()).
CsrMatrix block_matrix(const CsrMatrix& matrix, const BlockSize& block,
                       const FormatLimits& limits = {});

/// A matrix in slices of block rows, each padded to the longest block row of the slice (ELL and
/// SELL with 1 x 1 blocks, BELL and SBELL with larger blocks; ELL and BELL have one slice). Slot t
/// of block row b of slice s is at p = starts[s] + t * height + b: columns[p] is its first column,
/// kNoColumn where the row has no such block, and its element (i, j) is
/// values[(((starts[s] + t * height) * block.height) + i * height + b) * block.width + j]. With
/// `order`, block row b of slice s is block row order[s * height + b] of the matrix; the padding of
/// the last slice has numbers beyond the matrix's last block row.
struct SlicedMatrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  BlockSize block;
  std::size_t height = 0;  ///< Block rows in a slice.
  bool sliced = false;
  std::vector<std::uint64_t> starts = {0};  ///< One element more than slices.
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  std::vector<std::uint32_t> order;

  /// Block rows of all slices, with the padding of the last slice.
  std::size_t block_rows() const { return (starts.size() - 1) * height; }
};
inline constexpr std::uint32_t kNoColumn = 0xffffffff;

struct SliceForm {
  std::size_t height = 0;  ///< Block rows in a slice; 0: all block rows, rounded up to 32.
  std::size_t window = 1;  ///< Block rows that are sorted by length together; 1: no sorting.
};

/// Throws InputError when the padding would be too much (see check_fill()). `block`: of a result of
/// block_matrix(), whose matrix has `nonzeros` entries.
SlicedMatrix sliced_matrix(const CsrMatrix& matrix, const BlockSize& block, std::size_t nonzeros,
                           const SliceForm& form, const FormatLimits& limits = {});

/// The row of each entry of a CSR matrix: the third array of COO.
std::vector<std::uint32_t> entry_rows(const CsrMatrix& matrix);

/// The most rows of a block that for_each_block() walks through.
inline constexpr std::size_t kTallestBlock = 16;

/// Visits the non-empty blocks of one block row from left to right: the `height` rows from `top` on
/// of a matrix by rows, in blocks of `width` columns. Calls visit(first, from, to, entries): the
/// block's first column is `first`, and its row i has the entries from[i] to to[i], all rows
/// together `entries` of them. Precondition: height <= kTallestBlock.
template <class Visit>
void for_each_block(std::span<const std::uint64_t> starts, std::span<const std::uint32_t> columns,
                    std::size_t top, std::size_t height, std::size_t width, const Visit& visit) {
  std::array<std::uint64_t, kTallestBlock> from{};
  std::array<std::uint64_t, kTallestBlock> to{};
  for (std::size_t i = 0; i < height; ++i) from[i] = starts[top + i];
  while (true) {
    // The next block begins at the least column that any row has left.
    std::uint32_t least = kNoColumn;
    for (std::size_t i = 0; i < height; ++i) {
      if (from[i] < starts[top + i + 1]) least = std::min(least, columns[from[i]]);
    }
    if (least == kNoColumn) return;
    const std::uint64_t first = least / width * width;
    std::size_t entries = 0;
    for (std::size_t i = 0; i < height; ++i) {
      to[i] = from[i];
      while (to[i] < starts[top + i + 1] && columns[to[i]] < first + width) ++to[i];
      entries += to[i] - from[i];
    }
    visit(static_cast<std::uint32_t>(first), from, to, entries);
    from = to;
  }
}

}  // namespace diacut
