#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "spmv/format_profile.hpp"
#include "spmv/hybrid/sample.hpp"

namespace diacut {

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
