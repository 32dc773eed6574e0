#include "sparse_matrices.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "core/split_mix.hpp"
#include "diacut/errors.hpp"

namespace diacut {

std::string matrix_market_text(const CsrMatrix& matrix) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text),
                 "%%MatrixMarket matrix coordinate real general\n{} {} {}\n", matrix.rows,
                 matrix.cols, matrix.nonzeros());
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      fmt::format_to(std::back_inserter(text), "{} {} {}\n", row + 1,
                     matrix.columns[e] + std::uint64_t{1}, matrix.values[e]);
    }
  }
  return fmt::to_string(text);
}

namespace testing {

namespace {

void add(std::vector<MatrixEntry>& entries, std::size_t row, std::size_t column, SplitMix& random) {
  entries.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column),
                     double{random.value()}});
}

/// Rows of many lengths, some empty, some long, in no order.
CsrMatrix uneven(std::size_t rows, std::size_t cols, std::size_t longest, std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<MatrixEntry> entries;
  for (std::size_t row = 0; row < rows; ++row) {
    const double u = random.unit();
    const auto length = row % 5 == 3 ? 0 : static_cast<std::size_t>(1 + 4 * u);
    const std::size_t wanted = row == rows / 2 ? longest : length;
    for (std::size_t k = 0; k < wanted; ++k) {
      add(entries, row, (random.next() >> 8) % cols, random);
    }
  }
  return csr_from_entries(rows, cols, std::move(entries));
}

/// Only some rows hold anything: the first, the last or one in the middle.
CsrMatrix only_row(std::size_t rows, std::size_t cols, std::size_t row) {
  SplitMix random(row + 1);
  std::vector<MatrixEntry> entries;
  for (std::size_t column = 0; column < cols; ++column) add(entries, row, column, random);
  return csr_from_entries(rows, cols, std::move(entries));
}

CsrMatrix empty(std::size_t rows, std::size_t cols) { return csr_from_entries(rows, cols, {}); }

}  // namespace

CsrMatrix random_sparse(std::size_t rows, std::size_t cols, double density, std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<MatrixEntry> entries;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < cols; ++column) {
      if (random.unit() < density) add(entries, row, column, random);
    }
  }
  return csr_from_entries(rows, cols, std::move(entries));
}

CsrMatrix by_diagonals(std::size_t rows, std::size_t cols, const std::vector<std::int64_t>& offsets,
                       std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<MatrixEntry> entries;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const std::int64_t offset : offsets) {
      const std::int64_t column = static_cast<std::int64_t>(row) + offset;
      if (column < 0 || column >= static_cast<std::int64_t>(cols)) continue;
      add(entries, row, static_cast<std::size_t>(column), random);
    }
  }
  return csr_from_entries(rows, cols, std::move(entries));
}

std::vector<NamedMatrix> tiny_matrices() {
  return {{"0x0", empty(0, 0)},
          {"0x5", empty(0, 5)},
          {"5x0", empty(5, 0)},
          {"5x5, no entries", empty(5, 5)},
          {"1x1", random_sparse(1, 1, 1.0, 1)},
          {"1x7", random_sparse(1, 7, 1.0, 2)},
          {"7x1", random_sparse(7, 1, 1.0, 3)},
          {"2x2", random_sparse(2, 2, 1.0, 4)},
          {"the first row of 9", only_row(9, 11, 0)},
          {"the last row of 9", only_row(9, 11, 8)},
          {"dense 13x13", random_sparse(13, 13, 1.0, 5)},
          {"dense 5x37", random_sparse(5, 37, 1.0, 6)},
          {"a third of 31x29", random_sparse(31, 29, 0.3, 7)},
          {"a third of 33x65", random_sparse(33, 65, 0.3, 8)},
          {"diagonals of 70x70", by_diagonals(70, 70, {-64, -33, -2, -1, 0, 1, 3, 31, 65}, 9)},
          {"diagonals of 40x90", by_diagonals(40, 90, {-39, -1, 0, 1, 2, 50, 51, 52, 89}, 10)},
          {"diagonals of 90x40", by_diagonals(90, 40, {-89, -50, -49, -1, 0, 1, 39}, 11)},
          {"uneven rows", uneven(67, 53, 40, 12)}};
}

std::vector<NamedMatrix> awkward_matrices() {
  std::vector<std::int64_t> wide;
  for (std::int64_t offset = -150; offset <= 149; ++offset) wide.push_back(offset);
  return {{"tridiagonal 1100", by_diagonals(1100, 1100, {-1, 0, 1}, 20)},
          {"diagonals of 1537x1601",
           by_diagonals(1537, 1601, {-1030, -513, -9, -8, -7, 0, 1, 2, 3, 64, 700}, 21)},
          {"a band of 300 diagonals", by_diagonals(1031, 1031, wide, 22)},
          {"127 rows", uneven(127, 300, 300, 23)},
          {"128 rows", uneven(128, 300, 300, 24)},
          {"129 rows", uneven(129, 300, 300, 25)},
          {"257 rows, one of thousands", uneven(257, 20011, 15000, 26)},
          {"one dense row of 9001", only_row(300, 9001, 77)},
          {"dense 97x1009", random_sparse(97, 1009, 1.0, 27)},
          {"4099 uneven rows", uneven(4099, 4099, 2000, 28)}};
}

}  // namespace testing
}  // namespace diacut
