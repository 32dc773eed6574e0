#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spmv/csr.hpp"
#include "spmv/limits.hpp"

namespace diacut {

/// A block of height x width elements on the grid of multiples of both.
struct BlockSize {
  std::size_t height = 1;
  std::size_t width = 1;

  std::size_t elements() const { return height * width; }
  bool operator==(const BlockSize&) const = default;
};
/// "4x4".
std::string to_string(const BlockSize& block);

/// A matrix by rows of dense blocks (BCSR): block row r has the blocks starts[r] to starts[r + 1];
/// columns[p] is the first column of block p (ascending in a row); its element (i, j) is values[(p
/// * height + i) * width + j]. Elements of a block that are no entry, or beyond the matrix, are
/// zero.
struct BlockMatrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  BlockSize block;
  std::vector<std::uint64_t> starts = {0};
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  std::size_t nonzeros = 0;  ///< Of the matrix, without what blocks are filled up with.

  std::size_t block_rows() const { return starts.size() - 1; }
};

/// The arrays of a BlockMatrix, or those of a CsrMatrix, which is one of 1 x 1 blocks.
struct BlockView {
  std::size_t rows;
  std::size_t cols;
  BlockSize block;
  std::span<const std::uint64_t> starts;
  std::span<const std::uint32_t> columns;
  std::span<const float> values;
  std::size_t nonzeros;

  BlockView(const CsrMatrix& matrix);    // NOLINT(google-explicit-constructor)
  BlockView(const BlockMatrix& matrix);  // NOLINT(google-explicit-constructor)
  std::size_t block_rows() const { return starts.size() - 1; }
};

/// Non-empty blocks of that size.
std::size_t count_blocks(const CsrMatrix& matrix, const BlockSize& block);

/// Throws InputError (see check_fill).
BlockMatrix block_matrix(const CsrMatrix& matrix, const BlockSize& block,
                         const FormatLimits& limits = {});

std::vector<double> reference_product(const BlockView& matrix, const std::vector<double>& x);

/// A matrix in slices of block rows, each padded to its longest (ELL and SELL by 1 x 1 blocks, BELL
/// and SBELL by larger ones; ELL and BELL are one slice). Slot t of block row b of slice s is at p
/// = starts[s] + t * height + b: columns[p] is its first column, kNoColumn where the row has no
/// such block, and its element (i, j) is values[(((starts[s] + t * height) * block.height) + i *
/// height + b) * block.width + j]. With `order`, the block row at (s, b) is order[s * height + b]
/// of the matrix; the padding of the last slice has the numbers after the last.
struct SlicedMatrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  BlockSize block;
  std::size_t height = 0;  ///< Block rows a slice.
  bool sliced = false;
  std::vector<std::uint64_t> starts = {0};  ///< Slices + 1.
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  std::vector<std::uint32_t> order;

  std::size_t block_rows() const { return (starts.size() - 1) * height; }  ///< With padding.
};
inline constexpr std::uint32_t kNoColumn = 0xffffffff;

struct SliceForm {
  std::size_t height = 0;  ///< Block rows a slice; 0: all of them, rounded up to 32.
  std::size_t window = 1;  ///< Block rows among which the longest come first; 1: no sorting.
};

/// Throws InputError (see check_fill).
SlicedMatrix sliced_matrix(const BlockView& matrix, const SliceForm& form,
                           const FormatLimits& limits = {});

std::vector<double> reference_product(const SlicedMatrix& matrix, const std::vector<double>& x);

/// The row of each entry of a CSR matrix: COO's third array.
std::vector<std::uint32_t> entry_rows(const CsrMatrix& matrix);

/// The product by COO's arrays.
std::vector<double> reference_product(std::size_t rows, std::span<const std::uint32_t> rows_of,
                                      std::span<const std::uint32_t> columns,
                                      std::span<const float> values, const std::vector<double>& x);

}  // namespace diacut
