#include "spmv/cocktail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "diacut/errors.hpp"
#include "spmv/diagonals.hpp"

namespace diacut {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kSlice = 32;
/// Rows of a window of the sample: a multiple of every block's height, for block rows to be whole.
constexpr std::size_t kWindow = 24;
constexpr std::size_t kShortWindow = 8;

/// Counts by key, in a table of fixed size; keys that find no place are not counted.
class Histogram {
 public:
  explicit Histogram(std::size_t keys) : slots_(std::size_t{4} * std::max<std::size_t>(keys, 1)) {}
  void add(std::int64_t key) {
    std::size_t at = static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL % slots_.size();
    for (int tries = 0; tries < 64; ++tries, at = at + 1 == slots_.size() ? 0 : at + 1) {
      if (slots_[at].count == 0) slots_[at].key = key;
      if (slots_[at].key != key) continue;
      if (slots_[at].count++ == 0) ++distinct_;
      return;
    }
  }
  std::size_t distinct() const { return distinct_; }
  /// Keys that `wanted(key, count)` accepts, ascending.
  template <class Wanted>
  std::vector<std::int64_t> keys(const Wanted& wanted) const {
    std::vector<std::int64_t> result;
    for (const Slot& slot : slots_) {
      if (slot.count > 0 && wanted(slot.key, slot.count)) result.push_back(slot.key);
    }
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  struct Slot {
    std::int64_t key = 0;
    std::uint32_t count = 0;
  };
  std::vector<Slot> slots_;
  std::size_t distinct_ = 0;
};

/// Some rows of a matrix, in windows of consecutive ones.
struct Sample {
  std::size_t rows = 0;  ///< Of the whole matrix.
  std::size_t cols = 0;
  double nonzeros = 0.0;
  std::vector<std::size_t> numbers;  ///< Of the rows.
  std::vector<std::size_t> starts = {0};
  std::vector<std::uint32_t> columns;
  std::size_t window = kWindow;

  std::size_t entries() const { return columns.size(); }
  void add(const CsrMatrix& matrix, std::size_t row) {
    numbers.push_back(row);
    columns.insert(columns.end(),
                   matrix.columns.begin() + static_cast<std::ptrdiff_t>(matrix.starts[row]),
                   matrix.columns.begin() + static_cast<std::ptrdiff_t>(matrix.starts[row + 1]));
    starts.push_back(columns.size());
  }
  /// Of the whole matrix, for each entry of the sample.
  double scale() const { return entries() == 0 ? 0.0 : nonzeros / static_cast<double>(entries()); }
};

Sample take_sample(const CsrMatrix& matrix, std::size_t entries) {
  Sample sample;
  sample.rows = matrix.rows;
  sample.cols = matrix.cols;
  sample.nonzeros = static_cast<double>(matrix.nonzeros());
  if (matrix.rows == 0) return sample;
  const double mean = std::max(1.0, sample.nonzeros / static_cast<double>(matrix.rows));
  if (mean * kWindow > static_cast<double>(entries)) sample.window = kShortWindow;
  const std::size_t windows = (matrix.rows + sample.window - 1) / sample.window;
  const std::size_t wanted =
      std::clamp<std::size_t>(static_cast<std::size_t>(static_cast<double>(entries) /
                                                       (mean * static_cast<double>(sample.window))),
                              1, windows);
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t first = (2 * i + 1) * windows / (2 * wanted) * sample.window;
    for (std::size_t row = first; row < std::min(first + sample.window, matrix.rows); ++row) {
      sample.add(matrix, row);
    }
  }
  return sample;
}

Sample without_diagonals(const Sample& sample, const std::vector<std::int64_t>& offsets) {
  Sample result = sample;
  result.starts = {0};
  result.columns.clear();
  for (std::size_t r = 0; r < sample.numbers.size(); ++r) {
    for (std::size_t e = sample.starts[r]; e < sample.starts[r + 1]; ++e) {
      const std::int64_t offset = static_cast<std::int64_t>(sample.columns[e]) -
                                  static_cast<std::int64_t>(sample.numbers[r]);
      if (!std::binary_search(offsets.begin(), offsets.end(), offset)) {
        result.columns.push_back(sample.columns[e]);
      }
    }
    result.starts.push_back(result.columns.size());
  }
  result.nonzeros = static_cast<double>(result.entries()) * sample.scale();
  return result;
}

/// Lengths of rows in groups of consecutive ones.
struct Lengths {
  std::vector<std::size_t> groups;  ///< kSlice lengths a group, 0 beyond the last row.

  double mean() const {
    return groups.empty() ? 0.0
                          : std::accumulate(groups.begin(), groups.end(), 0.0) /
                                static_cast<double>(groups.size());
  }
  std::size_t longest() const {
    return groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end());
  }
  /// Elements stored for each entry when every slice is as wide as its longest row.
  double padding(bool sorted) const {
    std::vector<std::size_t> lengths = groups;
    if (sorted) std::sort(lengths.begin(), lengths.end(), std::greater<>());
    double stored = 0.0;
    for (std::size_t i = 0; i < lengths.size(); i += kSlice) {
      const auto begin = lengths.begin() + static_cast<std::ptrdiff_t>(i);
      stored += static_cast<double>(*std::max_element(begin, begin + kSlice)) * kSlice;
    }
    const double entries = mean() * static_cast<double>(lengths.size());
    return entries > 0.0 ? stored / entries : 1.0;
  }
  /// Of all entries, those beyond the first `width` of a row.
  double share_beyond(std::size_t width) const {
    double beyond = 0.0;
    for (const std::size_t length : groups) {
      beyond += static_cast<double>(length > width ? length - width : 0);
    }
    const double entries = mean() * static_cast<double>(groups.size());
    return entries > 0.0 ? beyond / entries : 0.0;
  }
};

Lengths lengths_of(const CsrMatrix& matrix, std::size_t rows) {
  Lengths result;
  const std::size_t slices = (matrix.rows + kSlice - 1) / kSlice;
  const std::size_t wanted = std::min(slices, std::max<std::size_t>(1, rows / kSlice));
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t first = (2 * i + 1) * slices / (2 * wanted) * kSlice;
    for (std::size_t row = first; row < first + kSlice; ++row) {
      result.groups.push_back(row < matrix.rows ? matrix.row_length(row) : 0);
    }
  }
  return result;
}

Lengths lengths_of(const Sample& sample) {
  Lengths result;
  for (std::size_t r = 0; r + 1 < sample.starts.size(); ++r) {
    result.groups.push_back(sample.starts[r + 1] - sample.starts[r]);
  }
  result.groups.resize((result.groups.size() + kSlice - 1) / kSlice * kSlice, 0);
  return result;
}

/// Non-empty blocks of one size in the sample, by how many entries they hold.
struct BlockCounts {
  BlockSize block;
  std::vector<std::size_t> by_entries;  ///< [entries a block]
  double padding = 1.0;                 ///< Blocks stored for each when slices are rectangles.

  /// Blocks and their entries with more than `share` of the block taken.
  std::pair<double, double> denser(double share) const {
    double blocks = 0.0;
    double entries = 0.0;
    for (std::size_t n = 1; n < by_entries.size(); ++n) {
      if (static_cast<double>(n) <= share * static_cast<double>(block.elements())) continue;
      blocks += static_cast<double>(by_entries[n]);
      entries += static_cast<double>(n * by_entries[n]);
    }
    return {blocks, entries};
  }
};

BlockCounts count_blocks(const Sample& sample, const BlockSize& block) {
  BlockCounts result{block, std::vector<std::size_t>(block.elements() + 1, 0), 1.0};
  double widest_sum = 0.0;
  double total = 0.0;
  std::vector<std::size_t> at(block.height);
  for (std::size_t first = 0; first < sample.numbers.size(); first += sample.window) {
    const std::size_t window_end = std::min(first + sample.window, sample.numbers.size());
    std::size_t widest = 0;
    std::size_t block_rows = 0;
    for (std::size_t top = first; top < window_end; top += block.height, ++block_rows) {
      const std::size_t height = std::min(block.height, window_end - top);
      for (std::size_t i = 0; i < height; ++i) at[i] = sample.starts[top + i];
      std::size_t count = 0;
      while (true) {
        // The next block begins where the least column of all rows is.
        std::uint32_t least = kNoColumn;
        for (std::size_t i = 0; i < height; ++i) {
          if (at[i] < sample.starts[top + i + 1]) least = std::min(least, sample.columns[at[i]]);
        }
        if (least == kNoColumn) break;
        const std::uint64_t end = (least / block.width + 1) * block.width;
        std::size_t entries = 0;
        for (std::size_t i = 0; i < height; ++i) {
          for (; at[i] < sample.starts[top + i + 1] && sample.columns[at[i]] < end; ++at[i])
            ++entries;
        }
        ++result.by_entries[entries];
        ++count;
      }
      widest = std::max(widest, count);
      total += static_cast<double>(count);
    }
    widest_sum += static_cast<double>(widest * block_rows);
  }
  if (total > 0.0) result.padding = widest_sum / total;
  return result;
}

struct Estimate {
  Implementation implementation;
  double milliseconds = kNever;
};

/// What the profile expects of parts of a matrix.
class Estimator {
 public:
  Estimator(const DeviceProfile& profile, std::size_t rows)
      : profile_(profile), rows_(static_cast<double>(rows)) {}

  const std::vector<DeviceProfile::Rates>& known() const { return profile_.rates; }

  double milliseconds(const DeviceProfile::Rates& of, double stored) const {
    return profile_.expected_milliseconds(of, rows_, stored);
  }

  /// The fastest of those that `stored` gives a number of elements for.
  template <class Stored>
  Estimate fastest(const Stored& stored) const {
    Estimate best;
    const DeviceProfile::Rates* fastest = nullptr;
    for (const DeviceProfile::Rates& each : profile_.rates) {
      const std::optional<double> elements = stored(each.implementation);
      if (!elements) continue;
      const double time = milliseconds(each, *elements);
      if (time < best.milliseconds) {
        best.milliseconds = time;
        fastest = &each;
      }
    }
    if (fastest != nullptr) best.implementation = fastest->implementation;
    return best;
  }

  Estimate diagonals(std::size_t count) const {
    return fastest([&](const Implementation& each) -> std::optional<double> {
      if (each.format != Format::kDia && each.format != Format::kBdia) return std::nullopt;
      return static_cast<double>(count) * rows_;
    });
  }

  /// Of entries that lie anywhere, in rows of these lengths. COO's time does not depend on them;
  /// rows that a group of items computes together wait for the longest.
  Estimate flat(double nonzeros, const Lengths& lengths, bool with_sliced) const {
    const double padding = lengths.padding(false);
    const double sorted = with_sliced ? lengths.padding(true) : 1.0;
    return fastest([&](const Implementation& each) -> std::optional<double> {
      return flat_elements(each, nonzeros, lengths, padding, sorted, with_sliced);
    });
  }

  std::optional<double> flat_elements(const Implementation& each, double nonzeros,
                                      const Lengths& lengths, double padding, double sorted,
                                      bool with_sliced) const {
    switch (each.format) {
      case Format::kCoo:
        return nonzeros;
      case Format::kCsr:
        return each.kernel == "scalar" && profile_.kind != DeviceKind::kCpu ? nonzeros * padding
                                                                            : nonzeros;
      case Format::kSell:
        if (!with_sliced) return std::nullopt;
        return nonzeros * (each.kernel.starts_with("sorted") ? sorted : padding);
      case Format::kEll:
        if (!with_sliced) return std::nullopt;
        return static_cast<double>(lengths.longest()) * rows_;
      default:
        return std::nullopt;
    }
  }

 private:
  const DeviceProfile& profile_;
  double rows_;
};

CocktailPart rest_part(const Implementation& implementation) {
  CocktailPart part;
  part.implementation = implementation;
  return part;
}

/// The offsets whose diagonals are dense by the source's criterion, which depends on how many there
/// are: from those that are full, on to the sparser.
std::vector<std::int64_t> dense_diagonals(const Sample& sample, const Histogram& offsets,
                                          const Estimator& estimate, double flat_rate) {
  const auto denser_than = [&](double share) {
    return offsets.keys([&](std::int64_t offset, std::uint32_t count) {
      if (static_cast<double>(count) <= share * kShortWindow) return false;  // As most are.
      // Rows of the sample whose column lies in the matrix.
      std::size_t places = 0;
      for (std::size_t r = 0; r < sample.numbers.size(); r += sample.window) {
        const auto column = static_cast<std::int64_t>(sample.numbers[r]) + offset;
        if (column >= 0 && column < static_cast<std::int64_t>(sample.cols)) places += sample.window;
      }
      places = std::clamp<std::size_t>(places, 1, sample.numbers.size());
      return static_cast<double>(count) > share * static_cast<double>(places);
    });
  };
  std::vector<std::int64_t> dense = denser_than(0.5);
  for (int round = 0; round < 2 && !dense.empty(); ++round) {
    const double elements = static_cast<double>(dense.size()) * static_cast<double>(sample.rows);
    const double rate = elements / estimate.diagonals(dense.size()).milliseconds;
    dense = denser_than(std::min(0.95, flat_rate / rate));
  }
  return dense;
}

class Planner {
 public:
  Planner(const CsrMatrix& matrix, const DeviceProfile& profile, const AnalysisOptions& options)
      : estimate_(profile, matrix.rows) {
    const std::size_t entries = options.entries != 0 ? options.entries : affordable(matrix);
    sample_ = take_sample(matrix, entries);
    lengths_ = lengths_of(matrix, entries / 4);
    for (std::size_t k = 0; k < 4 && matrix.rows > 0; ++k) {
      far_.add(matrix, k * (matrix.rows - 1) / 3);
    }
  }

  std::vector<CocktailPlan> plans() {
    const Estimate flat = estimate_.flat(sample_.nonzeros, lengths_, false);
    if (flat.milliseconds == kNever) return {};
    Histogram offsets(sample_.entries() + far_.entries());
    for (std::size_t r = 0; r < sample_.numbers.size(); ++r) {
      for (std::size_t e = sample_.starts[r]; e < sample_.starts[r + 1]; ++e) {
        offsets.add(static_cast<std::int64_t>(sample_.columns[e]) -
                    static_cast<std::int64_t>(sample_.numbers[r]));
      }
    }
    // Rows far apart show how many diagonals there are in all; they count for nothing else.
    Histogram all = offsets;
    for (std::size_t r = 0; r < far_.numbers.size(); ++r) {
      for (std::size_t e = far_.starts[r]; e < far_.starts[r + 1]; ++e) {
        all.add(static_cast<std::int64_t>(far_.columns[e]) -
                static_cast<std::int64_t>(far_.numbers[r]));
      }
    }
    std::vector<BlockCounts> blocks = counts(sample_);
    add_singles(all.distinct(), blocks);
    add_rest({}, 0.0, sample_, lengths_, blocks);
    const std::vector<std::int64_t> dense =
        dense_diagonals(sample_, offsets, estimate_, rate(flat, sample_.nonzeros));
    if (!dense.empty()) {
      const Estimate best = estimate_.diagonals(dense.size());
      CocktailPart part;
      part.take = CocktailPart::Take::kDiagonals;
      part.implementation = best.implementation;
      part.offsets = dense;
      const Sample rest = without_diagonals(sample_, dense);
      // Where the sample finds next to nothing else, DIA alone is tried as such.
      if (rest.entries() > 0) {
        const Lengths rest_lengths = lengths_of(rest);
        blocks = counts(rest);
        const Estimate rest_flat = estimate_.flat(rest.nonzeros, rest_lengths, true);
        add({part, rest_part(rest_flat.implementation)},
            best.milliseconds + rest_flat.milliseconds);
        add_rest({part}, best.milliseconds, rest, rest_lengths, blocks);
      }
    }
    std::stable_sort(plans_.begin(), plans_.end(),
                     [](const CocktailPlan& a, const CocktailPlan& b) {
                       return a.expected_milliseconds < b.expected_milliseconds;
                     });
    return std::move(plans_);
  }

 private:
  /// As many entries as may be looked at in the time of a few products, as far as the profile can
  /// tell it before anything is known but the size.
  std::size_t affordable(const CsrMatrix& matrix) const {
    constexpr double kProducts = 5.0;
    constexpr double kMillisecondsPerEntry = 4e-4;  // On one core of 2020 or so.
    const double product =
        estimate_.flat(static_cast<double>(matrix.nonzeros()), {}, false).milliseconds;
    return static_cast<std::size_t>(
        std::clamp(kProducts * product / kMillisecondsPerEntry, 600.0, 4000.0));
  }

  static double rate(const Estimate& estimate, double elements) {
    return elements / estimate.milliseconds;
  }

  std::vector<BlockCounts> counts(const Sample& sample) const {
    std::vector<BlockCounts> result;
    for (const DeviceProfile::Rates& rates : estimate_.known()) {
      const Implementation& each = rates.implementation;
      if (each.block == BlockSize{}) continue;
      const bool seen = std::any_of(result.begin(), result.end(), [&](const BlockCounts& counted) {
        return counted.block == each.block;
      });
      if (!seen) result.push_back(count_blocks(sample, each.block));
    }
    return result;
  }

  static const BlockCounts& of(const std::vector<BlockCounts>& all, const BlockSize& block) {
    return *std::find_if(all.begin(), all.end(),
                         [&](const BlockCounts& each) { return each.block == block; });
  }

  void add(std::vector<CocktailPart> parts, double milliseconds) {
    if (milliseconds < kNever) plans_.push_back({std::move(parts), milliseconds});
  }

  void add_singles(std::size_t diagonals, const std::vector<BlockCounts>& blocks) {
    const double padding = lengths_.padding(false);
    const double sorted = lengths_.padding(true);
    for (const DeviceProfile::Rates& rates : estimate_.known()) {
      const Implementation& each = rates.implementation;
      double stored = 0.0;
      if (each.format == Format::kDia || each.format == Format::kBdia) {
        stored = static_cast<double>(diagonals) * static_cast<double>(sample_.rows);
      } else if (each.block == BlockSize{}) {
        stored = estimate_.flat_elements(each, sample_.nonzeros, lengths_, padding, sorted, true)
                     .value_or(kNever);
      } else {
        const BlockCounts& counted = of(blocks, each.block);
        stored = block_elements(each, counted, counted.denser(0.0).first * sample_.scale());
      }
      add({rest_part(each)}, estimate_.milliseconds(rates, stored));
    }
  }

  static double block_elements(const Implementation& implementation, const BlockCounts& counted,
                               double blocks) {
    const double padding = implementation.format == Format::kBcsr ? 1.0 : counted.padding;
    return blocks * padding * static_cast<double>(counted.block.elements());
  }

  /// Plans that take, after `before`, blocks or row starts and leave the rest to CSR or COO.
  void add_rest(const std::vector<CocktailPart>& before, double before_milliseconds,
                const Sample& sample, const Lengths& lengths,
                const std::vector<BlockCounts>& blocks) {
    const double flat_rate = rate(estimate_.flat(sample.nonzeros, lengths, true), sample.nonzeros);
    Estimate best_blocks;
    CocktailPart block_part;
    Estimate after_blocks;
    for (const DeviceProfile::Rates& rates : estimate_.known()) {
      const Implementation& each = rates.implementation;
      if (each.block == BlockSize{}) continue;
      const BlockCounts& counted = of(blocks, each.block);
      const double all = block_elements(each, counted, counted.denser(0.0).first * sample.scale());
      const double share = std::min(0.95, flat_rate / (all / estimate_.milliseconds(rates, all)));
      const auto [dense, entries] = counted.denser(share);
      // Blocks that take nearly all are the single format; few are not worth a pass.
      if (entries * sample.scale() < 0.05 * sample.nonzeros ||
          entries * sample.scale() > 0.995 * sample.nonzeros) {
        continue;
      }
      const Estimate rest =
          estimate_.flat(sample.nonzeros - entries * sample.scale(), lengths, true);
      const double time =
          estimate_.milliseconds(rates, block_elements(each, counted, dense * sample.scale())) +
          rest.milliseconds;
      if (time < best_blocks.milliseconds) {
        best_blocks = {each, time};
        block_part.take = CocktailPart::Take::kBlocks;
        block_part.implementation = each;
        block_part.block_share = share;
        after_blocks = rest;
      }
    }
    if (best_blocks.milliseconds < kNever) {
      std::vector<CocktailPart> parts = before;
      parts.push_back(block_part);
      parts.push_back(rest_part(after_blocks.implementation));
      add(std::move(parts), before_milliseconds + best_blocks.milliseconds);
    }
    add_width(before, before_milliseconds, sample, lengths);
  }

  void add_width(const std::vector<CocktailPart>& before, double before_milliseconds,
                 const Sample& sample, const Lengths& lengths) {
    double best = kNever;
    std::vector<CocktailPart> best_parts;
    const std::size_t longest = lengths.longest();
    for (std::size_t width = 1; width < longest; width = width < 8 ? width + 1 : width * 5 / 4) {
      const double beyond = sample.nonzeros * lengths.share_beyond(width);
      if (beyond == 0.0) break;
      Lengths tail;
      for (const std::size_t length : lengths.groups) {
        tail.groups.push_back(length > width ? length - width : 0);
      }
      const Estimate starts =
          estimate_.fastest([&](const Implementation& each) -> std::optional<double> {
            if (each.format != Format::kEll) return std::nullopt;
            return static_cast<double>(width) * static_cast<double>(sample.rows);
          });
      const Estimate rest = estimate_.flat(beyond, tail, false);
      if (starts.milliseconds + rest.milliseconds < best) {
        best = starts.milliseconds + rest.milliseconds;
        CocktailPart part;
        part.take = CocktailPart::Take::kRowStarts;
        part.implementation = starts.implementation;
        part.width = width;
        best_parts = before;
        best_parts.push_back(part);
        best_parts.push_back(rest_part(rest.implementation));
      }
    }
    if (best < kNever) add(std::move(best_parts), before_milliseconds + best);
  }

  Estimator estimate_;
  Sample sample_;
  Sample far_;
  Lengths lengths_;
  std::vector<CocktailPlan> plans_;
};

/// A matrix of the same shape, filled by rows.
CsrMatrix shaped_like(const CsrMatrix& matrix) {
  CsrMatrix result;
  result.rows = matrix.rows;
  result.cols = matrix.cols;
  result.starts.reserve(matrix.rows + 1);
  return result;
}

/// Splits by a predicate over entries, which are asked in order.
template <class Takes>
std::pair<CsrMatrix, CsrMatrix> split(const CsrMatrix& matrix, const Takes& takes) {
  std::pair<CsrMatrix, CsrMatrix> result{shaped_like(matrix), shaped_like(matrix)};
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      CsrMatrix& to = takes(row, e) ? result.first : result.second;
      to.columns.push_back(matrix.columns[e]);
      to.values.push_back(matrix.values[e]);
    }
    result.first.starts.push_back(result.first.columns.size());
    result.second.starts.push_back(result.second.columns.size());
  }
  return result;
}

/// Whether each entry lies in a block with more than `share` of its elements taken.
std::vector<bool> in_dense_blocks(const CsrMatrix& matrix, const BlockSize& block, double share) {
  std::vector<bool> result(matrix.nonzeros(), false);
  std::vector<std::uint64_t> from(block.height);
  std::vector<std::uint64_t> to(block.height);
  for (std::size_t top = 0; top < matrix.rows; top += block.height) {
    const std::size_t height = std::min(block.height, matrix.rows - top);
    for (std::size_t i = 0; i < height; ++i) from[i] = matrix.starts[top + i];
    while (true) {
      std::uint32_t least = kNoColumn;
      for (std::size_t i = 0; i < height; ++i) {
        if (from[i] < matrix.starts[top + i + 1]) least = std::min(least, matrix.columns[from[i]]);
      }
      if (least == kNoColumn) break;
      const std::uint64_t end = (least / block.width + 1) * block.width;
      std::size_t entries = 0;
      for (std::size_t i = 0; i < height; ++i) {
        to[i] = from[i];
        while (to[i] < matrix.starts[top + i + 1] && matrix.columns[to[i]] < end) ++to[i];
        entries += to[i] - from[i];
      }
      const bool dense =
          static_cast<double>(entries) > share * static_cast<double>(block.elements());
      for (std::size_t i = 0; i < height; ++i) {
        for (; from[i] < to[i]; ++from[i]) result[from[i]] = dense;
      }
    }
  }
  return result;
}

std::pair<CsrMatrix, CsrMatrix> take_part(const CsrMatrix& matrix, const CocktailPart& part) {
  switch (part.take) {
    case CocktailPart::Take::kDiagonals:
      return split(matrix, [&](std::size_t row, std::uint64_t e) {
        const std::int64_t offset =
            static_cast<std::int64_t>(matrix.columns[e]) - static_cast<std::int64_t>(row);
        return std::binary_search(part.offsets.begin(), part.offsets.end(), offset);
      });
    case CocktailPart::Take::kBlocks: {
      const std::vector<bool> dense =
          in_dense_blocks(matrix, part.implementation.block, part.block_share);
      return split(matrix, [&](std::size_t, std::uint64_t e) { return dense[e]; });
    }
    case CocktailPart::Take::kRowStarts:
      return split(matrix, [&](std::size_t row, std::uint64_t e) {
        return e - matrix.starts[row] < part.width;
      });
    case CocktailPart::Take::kRest:
      break;
  }
  return split(matrix, [](std::size_t, std::uint64_t) { return true; });
}

/// Products that add up, in order.
class SumProduct final : public SparseProduct {
 public:
  SumProduct(std::size_t rows, std::size_t cols, std::vector<std::unique_ptr<SparseProduct>> parts)
      : SparseProduct(rows, cols), parts_(std::move(parts)) {
    for (const auto& part : parts_) matrix_bytes_ += part->matrix_bytes();
  }
  void product(const Buffer<float>& in, Buffer<float>& out) override {
    for (const auto& part : parts_) part->product(in, out);
  }

 private:
  std::vector<std::unique_ptr<SparseProduct>> parts_;
};

std::vector<Format> formats_of(const CocktailPlan& plan) {
  std::vector<Format> formats;
  for (const CocktailPart& part : plan.parts) formats.push_back(part.implementation.format);
  return formats;
}

/// Plans that are tried, of two products each.
constexpr std::size_t kTried = 4;
/// More is tried while a product of each so far takes no more than this in all.
constexpr double kQuick = 0.2;
constexpr std::size_t kRepeated = 4;
constexpr int kRepeats = 8;
constexpr int kRounds = 3;

/// Plans made and timed on the device.
class Trials {
 public:
  struct Trial {
    CocktailPlan plan;
    std::unique_ptr<SparseProduct> product;
    double milliseconds = 0.0;
  };

  Trials(Context& context, const CsrMatrix& matrix)
      : context_(context),
        matrix_(matrix),
        in_(context.allocate<float>(matrix.cols, "a vector")),
        out_(context.allocate<float>(matrix.rows, "a product")) {
    if (matrix.cols > 0) in_.fill(1.0F);
  }

  /// Times one product after one that is not counted. False if the plan cannot be made: the sample
  /// did not show what the whole matrix is like.
  bool add(const CocktailPlan& plan) {
    Trial trial{plan, nullptr, 0.0};
    try {
      trial.product = make_cocktail(context_, matrix_, plan);
    } catch (const InputError& error) {
      refused_ = error.what();
      return false;
    }
    time(*trial.product, 1);
    trial.milliseconds = time(*trial.product, 1);
    trials_.push_back(std::move(trial));
    sort();
    return true;
  }

  bool quick() const {
    double sum = 0.0;
    for (const Trial& trial : trials_) sum += trial.milliseconds;
    return sum <= kQuick;
  }

  /// Times the best again, in turns, where that is quick.
  void repeat() {
    trials_.resize(std::min(trials_.size(), kRepeated));
    if (!quick()) return;
    std::vector<double> least(trials_.size(), kNever);
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < trials_.size(); ++i) {
        least[i] = std::min(least[i], time(*trials_[i].product, kRepeats));
      }
    }
    for (std::size_t i = 0; i < trials_.size(); ++i) trials_[i].milliseconds = least[i];
    sort();
  }

  Trial& best() { return trials_.front(); }
  std::size_t count() const { return trials_.size(); }
  int products() const { return products_; }
  const std::string& refused() const { return refused_; }

 private:
  void sort() {
    std::stable_sort(trials_.begin(), trials_.end(), [](const Trial& a, const Trial& b) {
      return a.milliseconds < b.milliseconds;
    });
  }
  double time(SparseProduct& product, int times) {
    const cl::Event begin = context_.mark();
    for (int k = 0; k < times; ++k) product.product(in_, out_);
    const cl::Event end = context_.mark();
    context_.finish();
    products_ += times;
    return milliseconds_between(begin, end) / times;
  }

  Context& context_;
  const CsrMatrix& matrix_;
  Buffer<float> in_;
  Buffer<float> out_;
  std::vector<Trial> trials_;  ///< The fastest first.
  std::string refused_;
  int products_ = 0;
};

}  // namespace

std::string to_string(const CocktailPlan& plan) {
  std::string result;
  for (const CocktailPart& part : plan.parts) {
    result += fmt::format("{}{}", result.empty() ? "" : " + ", to_string(part.implementation));
    if (part.take == CocktailPart::Take::kDiagonals)
      result += fmt::format("[{}]", part.offsets.size());
    if (part.take == CocktailPart::Take::kRowStarts) result += fmt::format("[{}]", part.width);
  }
  return result;
}

std::vector<CocktailPlan> plan_cocktails(const CsrMatrix& matrix, const DeviceProfile& profile,
                                         std::size_t count, const AnalysisOptions& options) {
  const std::vector<CocktailPlan> plans = Planner(matrix, profile, options).plans();
  // The kernels of one format differ as the profile tells; what it cannot tell is which formats the
  // matrix suits. So each set of formats comes once before any comes again.
  std::vector<CocktailPlan> first;
  std::vector<CocktailPlan> again;
  std::set<std::vector<Format>> seen;
  for (const CocktailPlan& plan : plans) {
    (seen.insert(formats_of(plan)).second ? first : again).push_back(plan);
  }
  const auto single = std::find_if(first.begin(), first.end(),
                                   [](const CocktailPlan& plan) { return plan.parts.size() == 1; });
  if (count > 0 && static_cast<std::size_t>(single - first.begin()) >= count) {
    std::rotate(first.begin() + static_cast<std::ptrdiff_t>(count) - 1, single, single + 1);
  }
  first.insert(first.end(), again.begin(), again.end());
  return first;
}

std::vector<CsrMatrix> split_matrix(const CsrMatrix& matrix, const CocktailPlan& plan) {
  std::vector<CsrMatrix> result;
  CsrMatrix left = matrix;
  for (const CocktailPart& part : plan.parts) {
    auto [taken, rest] = take_part(left, part);
    result.push_back(std::move(taken));
    left = std::move(rest);
  }
  return result;
}

std::unique_ptr<SparseProduct> make_cocktail(Context& context, const CsrMatrix& matrix,
                                             const CocktailPlan& plan,
                                             const ProductOptions& options) {
  if (plan.parts.empty() || plan.parts.back().take != CocktailPart::Take::kRest) {
    throw ConfigError("a plan for a matrix must end with a part that takes the rest");
  }
  if (plan.parts.size() == 1) {
    return make_product(context, matrix, plan.parts.front().implementation, options);
  }
  std::vector<std::unique_ptr<SparseProduct>> products;
  const std::vector<CsrMatrix> parts = split_matrix(matrix, plan);
  ProductOptions each = options;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const CocktailPart& part = plan.parts[i];
    if (parts[i].nonzeros() == 0 && (i > 0 || options.add)) continue;
    products.push_back(
        part.take == CocktailPart::Take::kDiagonals
            ? make_diagonal_product(context, parts[i], part.offsets, part.implementation, each)
            : make_product(context, parts[i], part.implementation, each));
    each.add = true;
  }
  return std::make_unique<SumProduct>(matrix.rows, matrix.cols, std::move(products));
}

CocktailChoice choose_cocktail(Context& context, const CsrMatrix& matrix,
                               const DeviceProfile& profile, const AnalysisOptions& options) {
  using Clock = std::chrono::steady_clock;
  CocktailChoice choice;
  const Clock::time_point start = Clock::now();
  const std::vector<CocktailPlan> plans = plan_cocktails(matrix, profile, kTried, options);
  choice.analysis_milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (plans.empty()) {
    throw ConfigError(fmt::format(
        "the profile of {} knows no product to choose from; 'diacut-bench tune' measures anew",
        profile.name));
  }
  Trials trials(context, matrix);
  std::size_t next = 0;
  for (; next < plans.size() && trials.count() < kTried; ++next) trials.add(plans[next]);
  if (trials.count() == 0) throw InputError(trials.refused());
  // What a few microseconds told of a small matrix is not worth much, and more costs little: the
  // other kernels of the best formats, then the best of all again and again.
  const std::vector<Format> formats = formats_of(trials.best().plan);
  for (std::size_t more = 0; next < plans.size() && more < kTried; ++next) {
    if (!trials.quick()) break;
    if (formats_of(plans[next]) == formats && trials.add(plans[next])) ++more;
  }
  trials.repeat();
  choice.sampled_products = trials.products();
  choice.plan = trials.best().plan;
  choice.product = std::move(trials.best().product);
  return choice;
}

}  // namespace diacut
