#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "spmv/format_profile.hpp"
#include "spmv/formats.hpp"

namespace diacut {

/// The rows of a window, at least: shorter windows are taken where rows are long.
inline constexpr std::size_t kShortWindow = 8;

/// Counts by key.
using Histogram = std::map<std::int64_t, std::uint32_t>;

/// Some rows of a matrix, in windows of consecutive rows.
struct Sample {
  std::size_t rows = 0;                     ///< Rows of the whole matrix.
  std::size_t cols = 0;                     ///< Columns of the whole matrix.
  double nonzeros = 0.0;                    ///< Entries of the whole matrix.
  std::vector<std::size_t> row_numbers;     ///< Where the sampled rows lie in the matrix.
  std::vector<std::uint64_t> starts = {0};  ///< Entries of the sampled rows, as in CsrMatrix.
  std::vector<std::uint32_t> columns;
  std::size_t window = kShortWindow;  ///< Rows in a window.

  std::size_t entries() const { return columns.size(); }
  /// Entries of the whole matrix for each entry of the sample.
  double scale() const { return entries() == 0 ? 0.0 : nonzeros / static_cast<double>(entries()); }
  void add(const CsrMatrix& matrix, std::size_t row);
  /// Counts the diagonals of the sample's entries, by offset.
  void count_offsets(Histogram& histogram) const;
};

/// About `entries` entries of the matrix, in windows spread evenly over the rows.
Sample take_sample(const CsrMatrix& matrix, std::size_t entries);

/// The sample of the matrix without the diagonals at `offsets`, which ascend.
Sample without_diagonals(const Sample& sample, const std::vector<std::int64_t>& offsets);

/// Lengths of some rows of a matrix, in slices of consecutive rows.
struct RowLengths {
  static constexpr std::size_t kSlice = 32;
  std::vector<std::size_t> lengths;  ///< kSlice lengths for each slice, 0 beyond the last row.

  double mean() const;
  std::size_t longest() const;
  /// Elements stored for each entry when every slice is as wide as its longest row; with `sorted`,
  /// after all rows were sorted by length.
  double padding(bool sorted) const;
  /// The share of all entries that lies beyond the first `width` entries of a row.
  double share_beyond(std::size_t width) const;
  /// The lengths that are left without the first `width` entries of each row.
  RowLengths beyond(std::size_t width) const;
};

/// The lengths of about `rows` rows of the matrix, in slices spread evenly over it.
RowLengths sample_row_lengths(const CsrMatrix& matrix, std::size_t rows);
/// The lengths of the sample's rows.
RowLengths row_lengths_of(const Sample& sample);

/// The non-empty blocks of one size in a sample, by how many entries they hold.
struct BlockCounts {
  BlockSize block;
  std::vector<std::size_t> by_entries;  ///< by_entries[n] blocks have n entries.
  double padding = 1.0;  ///< Blocks stored for each block when windows are padded to rectangles.

  /// The blocks with more than `share` of their elements taken, and the entries of these blocks.
  std::pair<double, double> denser_than(double share) const;
};

BlockCounts count_blocks(const Sample& sample, const BlockSize& block);

/// The expected time of what cannot be done.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// The fastest implementation for a part of a matrix, and its expected time; kNever if there is
/// none.
struct Estimate {
  Implementation implementation;
  double milliseconds = kNever;
};

/// Entries that lie anywhere in their rows, as CSR, COO, ELL and SELL hold them.
struct ScatteredEntries {
  ScatteredEntries(double count, const RowLengths& lengths, bool allow_slices);

  double nonzeros;
  std::size_t longest_row;
  double padding;         ///< Stored elements for each entry in slices of consecutive rows.
  double sorted_padding;  ///< Stored elements for each entry in slices of rows sorted by length.
  bool with_slices;       ///< Whether ELL and SELL are considered besides CSR and COO.
};

/// What a profile expects of the parts of one matrix.
class Estimator {
 public:
  /// Keeps a reference to the profile, which must outlive it.
  Estimator(const FormatProfile& profile, std::size_t rows)
      : profile_(profile), rows_(static_cast<double>(rows)) {}

  const std::vector<FormatProfile::Rates>& rates() const { return profile_.rates; }
  /// The expected time of one implementation that stores that many elements.
  double milliseconds(const FormatProfile::Rates& of, double stored) const;

  /// The estimate for `count` whole diagonals.
  Estimate diagonals(std::size_t count) const;
  /// The estimate for the first `width` entries of each row, in ELL.
  Estimate row_starts(std::size_t width) const;
  /// The estimate for entries that lie anywhere.
  Estimate scattered(const ScatteredEntries& entries) const;

  /// The elements that an implementation stores for scattered entries, or reads in the time that
  /// rows of unequal length cost; nothing if it cannot hold them. COO's time does not depend on the
  /// lengths of rows; rows that neighbouring work-items compute together wait for the longest.
  std::optional<double> scattered_elements(const Implementation& implementation,
                                           const ScatteredEntries& entries) const;

 private:
  /// The fastest of the implementations for which `stored` returns a number of elements.
  template <class Stored>
  Estimate fastest(const Stored& stored) const;

  const FormatProfile& profile_;
  double rows_;
};

}  // namespace diacut
