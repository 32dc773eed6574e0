#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "spmv/formats.hpp"
#include "spmv/hybrid/hybrid.hpp"

namespace diacut {

namespace {

/// Rows of a window where rows are short: a multiple of every block's height, so that the window
/// has whole block rows only.
constexpr std::size_t kWindow = 24;
/// The rows of a window, at least: shorter windows are taken where rows are long.
constexpr std::size_t kShortWindow = 8;

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
  /// On which diagonal entry e of sampled row r lies.
  std::int64_t offset(std::size_t r, std::size_t e) const {
    return static_cast<std::int64_t>(columns[e]) - static_cast<std::int64_t>(row_numbers[r]);
  }

  void add(const CsrMatrix& matrix, std::size_t row) {
    row_numbers.push_back(row);
    columns.insert(columns.end(),
                   matrix.columns.begin() + static_cast<std::ptrdiff_t>(matrix.starts[row]),
                   matrix.columns.begin() + static_cast<std::ptrdiff_t>(matrix.starts[row + 1]));
    starts.push_back(columns.size());
  }
  /// Counts the diagonals of the sample's entries, by offset.
  void count_offsets(Histogram& histogram) const {
    for (std::size_t r = 0; r < row_numbers.size(); ++r) {
      for (std::size_t e = starts[r]; e < starts[r + 1]; ++e) ++histogram[offset(r, e)];
    }
  }
};

/// About `entries` entries of the matrix, in windows spread evenly over the rows.
Sample take_sample(const CsrMatrix& matrix, std::size_t entries) {
  Sample sample;
  sample.rows = matrix.rows;
  sample.cols = matrix.cols;
  sample.nonzeros = static_cast<double>(matrix.nonzeros());
  sample.window = kWindow;
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

/// The sample of the matrix without the diagonals at `offsets`, which ascend.
Sample without_diagonals(const Sample& sample, const std::vector<std::int64_t>& offsets) {
  Sample result = sample;
  result.starts = {0};
  result.columns.clear();
  for (std::size_t r = 0; r < sample.row_numbers.size(); ++r) {
    for (std::size_t e = sample.starts[r]; e < sample.starts[r + 1]; ++e) {
      if (std::binary_search(offsets.begin(), offsets.end(), sample.offset(r, e))) continue;
      result.columns.push_back(sample.columns[e]);
    }
    result.starts.push_back(result.columns.size());
  }
  result.nonzeros = static_cast<double>(result.entries()) * sample.scale();
  return result;
}

/// Lengths of some rows of a matrix, in slices of consecutive rows.
struct RowLengths {
  static constexpr std::size_t kSlice = 32;
  std::vector<std::size_t> lengths;  ///< kSlice lengths for each slice, 0 beyond the last row.

  double entries() const { return std::accumulate(lengths.begin(), lengths.end(), 0.0); }
  std::size_t longest() const {
    return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  }
  /// Elements stored for each entry when every slice is as wide as its longest row; with `sorted`,
  /// after all rows were sorted by length.
  double padding(bool sorted) const {
    std::vector<std::size_t> ordered = lengths;
    if (sorted) std::sort(ordered.begin(), ordered.end(), std::greater<>());
    double stored = 0.0;
    for (std::size_t i = 0; i < ordered.size(); i += kSlice) {
      const auto begin = ordered.begin() + static_cast<std::ptrdiff_t>(i);
      stored += static_cast<double>(*std::max_element(begin, begin + kSlice)) * kSlice;
    }
    return entries() > 0.0 ? stored / entries() : 1.0;
  }
  /// The lengths that are left without the first `width` entries of each row.
  RowLengths beyond(std::size_t width) const {
    RowLengths result;
    for (const std::size_t length : lengths) {
      result.lengths.push_back(length > width ? length - width : 0);
    }
    return result;
  }
  /// The share of all entries that lies beyond the first `width` entries of a row.
  double share_beyond(std::size_t width) const {
    return entries() > 0.0 ? beyond(width).entries() / entries() : 0.0;
  }
};

/// The lengths of about `rows` rows of the matrix, in slices spread evenly over it.
RowLengths sample_row_lengths(const CsrMatrix& matrix, std::size_t rows) {
  constexpr std::size_t kSlice = RowLengths::kSlice;
  RowLengths result;
  const std::size_t slices = (matrix.rows + kSlice - 1) / kSlice;
  const std::size_t wanted = std::min(slices, std::max<std::size_t>(1, rows / kSlice));
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t first = (2 * i + 1) * slices / (2 * wanted) * kSlice;
    for (std::size_t row = first; row < first + kSlice; ++row) {
      result.lengths.push_back(row < matrix.rows ? matrix.row_length(row) : 0);
    }
  }
  return result;
}

/// The lengths of the sample's rows.
RowLengths row_lengths_of(const Sample& sample) {
  RowLengths result;
  for (std::size_t r = 0; r + 1 < sample.starts.size(); ++r) {
    result.lengths.push_back(sample.starts[r + 1] - sample.starts[r]);
  }
  constexpr std::size_t kSlice = RowLengths::kSlice;
  result.lengths.resize((result.lengths.size() + kSlice - 1) / kSlice * kSlice, 0);
  return result;
}

/// The non-empty blocks of one size in a sample, by how many entries they hold.
struct BlockCounts {
  BlockSize block;
  std::vector<std::size_t> by_entries;  ///< by_entries[n] blocks have n entries.
  double padding = 1.0;  ///< Blocks stored for each block when windows are padded to rectangles.

  /// The blocks with more than `share` of their elements taken, and the entries of these blocks.
  std::pair<double, double> denser_than(double share) const {
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

BlockCounts count_sampled_blocks(const Sample& sample, const BlockSize& block) {
  BlockCounts result{block, std::vector<std::size_t>(block.elements() + 1, 0), 1.0};
  double widest_sum = 0.0;
  double total = 0.0;
  for (std::size_t first = 0; first < sample.row_numbers.size(); first += sample.window) {
    const std::size_t window_end = std::min(first + sample.window, sample.row_numbers.size());
    std::size_t widest = 0;
    std::size_t block_rows = 0;
    for (std::size_t top = first; top < window_end; top += block.height, ++block_rows) {
      std::size_t count = 0;
      for_each_block(sample.starts, sample.columns, top, std::min(block.height, window_end - top),
                     block.width,
                     [&](std::uint32_t, const auto&, const auto&, std::size_t entries) {
                       ++result.by_entries[entries];
                       ++count;
                     });
      widest = std::max(widest, count);
      total += static_cast<double>(count);
    }
    widest_sum += static_cast<double>(widest * block_rows);
  }
  if (total > 0.0) result.padding = widest_sum / total;
  return result;
}

/// The expected time of what cannot be done.
constexpr double kNever = std::numeric_limits<double>::infinity();

/// The fastest implementation for a part of a matrix, and its expected time; kNever if there is
/// none.
struct Estimate {
  Implementation implementation;
  double milliseconds = kNever;
};

/// Entries that lie anywhere in their rows, as CSR, COO, ELL and SELL hold them.
struct ScatteredEntries {
  ScatteredEntries(double count, const RowLengths& lengths, bool allow_slices)
      : nonzeros(count),
        longest_row(lengths.longest()),
        padding(lengths.padding(false)),
        sorted_padding(allow_slices ? lengths.padding(true) : 1.0),
        with_slices(allow_slices) {}

  double nonzeros;
  std::size_t longest_row;
  double padding;         ///< Stored elements for each entry in slices of consecutive rows.
  double sorted_padding;  ///< Stored elements for each entry in slices of rows sorted by length.
  bool with_slices;       ///< Whether ELL and SELL are considered besides CSR and COO.
};

bool holds_diagonals(const Implementation& implementation) {
  return implementation.format == Format::kDia || implementation.format == Format::kBdia;
}

/// What a profile expects of the parts of one matrix.
class Estimator {
 public:
  /// Keeps a reference to the profile, which must outlive it.
  Estimator(const FormatProfile& profile, std::size_t rows)
      : profile_(profile), rows_(static_cast<double>(rows)) {}

  const std::vector<FormatProfile::Rates>& rates() const { return profile_.rates; }
  /// The expected time of one implementation that stores that many elements.
  double milliseconds(const FormatProfile::Rates& of, double stored) const {
    return profile_.expected_milliseconds(of, rows_, stored);
  }

  /// The estimate for `count` whole diagonals.
  Estimate diagonals(std::size_t count) const {
    return fastest([&](const Implementation& each) -> std::optional<double> {
      if (!holds_diagonals(each)) return std::nullopt;
      return static_cast<double>(count) * rows_;
    });
  }
  /// The estimate for the first `width` entries of each row, in ELL.
  Estimate row_starts(std::size_t width) const {
    return fastest([&](const Implementation& each) -> std::optional<double> {
      if (each.format != Format::kEll) return std::nullopt;
      return static_cast<double>(width) * rows_;
    });
  }
  /// The estimate for entries that lie anywhere.
  Estimate scattered(const ScatteredEntries& entries) const {
    return fastest([&](const Implementation& each) { return scattered_elements(each, entries); });
  }

  /// The elements that an implementation stores for scattered entries, or reads in the time that
  /// rows of unequal length cost; nothing if it cannot hold them. COO's time does not depend on the
  /// lengths of rows; rows that neighbouring work-items compute together wait for the longest.
  std::optional<double> scattered_elements(const Implementation& implementation,
                                           const ScatteredEntries& entries) const {
    switch (implementation.format) {
      case Format::kCoo:
        return entries.nonzeros;
      case Format::kCsr:
        return implementation.kernel == "scalar" && profile_.device.kind != DeviceKind::kCpu
                   ? entries.nonzeros * entries.padding
                   : entries.nonzeros;
      case Format::kSell:
        if (!entries.with_slices) return std::nullopt;
        return entries.nonzeros * (implementation.kernel.starts_with("sorted")
                                       ? entries.sorted_padding
                                       : entries.padding);
      case Format::kEll:
        if (!entries.with_slices) return std::nullopt;
        return static_cast<double>(entries.longest_row) * rows_;
      default:
        return std::nullopt;
    }
  }

 private:
  /// The fastest of the implementations for which `stored` returns a number of elements.
  template <class Stored>
  Estimate fastest(const Stored& stored) const {
    Estimate best;
    for (const FormatProfile::Rates& each : profile_.rates) {
      const std::optional<double> elements = stored(each.implementation);
      if (!elements) continue;
      const double time = milliseconds(each, *elements);
      if (time < best.milliseconds) best = {each.implementation, time};
    }
    return best;
  }

  const FormatProfile& profile_;
  double rows_;
};

HybridPart rest_part(const Implementation& implementation) {
  HybridPart part;
  part.implementation = implementation;
  return part;
}

/// The offsets of the diagonals with more than `share` of their places taken, ascending.
std::vector<std::int64_t> denser_diagonals(const Sample& sample, const Histogram& offsets,
                                           double share) {
  std::vector<std::int64_t> result;
  for (const auto& [offset, count] : offsets) {
    // Most diagonals are this sparse: their places need not be counted.
    if (static_cast<double>(count) <= share * kShortWindow) continue;
    // The sampled rows whose column on this diagonal lies in the matrix.
    std::size_t places = 0;
    for (std::size_t r = 0; r < sample.row_numbers.size(); r += sample.window) {
      const auto column = static_cast<std::int64_t>(sample.row_numbers[r]) + offset;
      if (column >= 0 && column < static_cast<std::int64_t>(sample.cols)) places += sample.window;
    }
    places = std::clamp<std::size_t>(places, 1, sample.row_numbers.size());
    if (static_cast<double>(count) > share * static_cast<double>(places)) result.push_back(offset);
  }
  return result;
}

/// The offsets of the diagonals that are dense by the criterion of hybrid_splits(). The rate of DIA
/// depends on how many diagonals there are, so the number is refined from the fullest diagonals on.
std::vector<std::int64_t> dense_diagonals(const Sample& sample, const Histogram& offsets,
                                          const Estimator& estimator, double scattered_rate) {
  std::vector<std::int64_t> dense = denser_diagonals(sample, offsets, 0.5);
  for (int round = 0; round < 2 && !dense.empty(); ++round) {
    const double elements = static_cast<double>(dense.size()) * static_cast<double>(sample.rows);
    const double rate = elements / estimator.diagonals(dense.size()).milliseconds;
    dense = denser_diagonals(sample, offsets, std::min(0.95, scattered_rate / rate));
  }
  return dense;
}

/// Sampled blocks of every size that the profile knows.
std::vector<BlockCounts> count_known_blocks(const Estimator& estimator, const Sample& sample) {
  std::vector<BlockCounts> result;
  for (const FormatProfile::Rates& rates : estimator.rates()) {
    const BlockSize& block = rates.implementation.block;
    if (block == BlockSize{}) continue;
    const bool seen = std::any_of(result.begin(), result.end(), [&](const BlockCounts& counted) {
      return counted.block == block;
    });
    if (!seen) result.push_back(count_sampled_blocks(sample, block));
  }
  return result;
}

const BlockCounts& counts_of(const std::vector<BlockCounts>& all, const BlockSize& block) {
  return *std::find_if(all.begin(), all.end(),
                       [&](const BlockCounts& each) { return each.block == block; });
}

/// The elements that an implementation stores for that many blocks.
double block_elements(const Implementation& implementation, const BlockCounts& counted,
                      double blocks) {
  const double padding = implementation.format == Format::kBcsr ? 1.0 : counted.padding;
  return blocks * padding * static_cast<double>(counted.block.elements());
}

/// As many entries as may be looked at in the time of a few products. The profile estimates the
/// time of a product from the matrix's size, since nothing else is known yet.
std::size_t affordable_entries(const Estimator& estimator, const CsrMatrix& matrix) {
  constexpr double kProducts = 5.0;
  constexpr double kMillisecondsPerEntry = 4e-4;  // On one core of 2020 or so.
  const double product =
      estimator.scattered({static_cast<double>(matrix.nonzeros()), RowLengths{}, false})
          .milliseconds;
  return static_cast<std::size_t>(
      std::clamp(kProducts * product / kMillisecondsPerEntry, 600.0, 4000.0));
}

/// The entries of a matrix that the first parts of a split do not hold.
struct Remainder {
  std::vector<HybridPart> before;    ///< The parts that hold the other entries.
  double before_milliseconds = 0.0;  ///< The expected time of these parts.
  Sample sample;
  RowLengths lengths;
  std::vector<BlockCounts> blocks;
};

class Splitter {
 public:
  Splitter(const CsrMatrix& matrix, const FormatProfile& profile, const AnalysisOptions& options)
      : estimator_(profile, matrix.rows) {
    const std::size_t entries =
        options.entries != 0 ? options.entries : affordable_entries(estimator_, matrix);
    whole_.sample = take_sample(matrix, entries);
    whole_.lengths = sample_row_lengths(matrix, entries / 4);
    whole_.blocks = count_known_blocks(estimator_, whole_.sample);
    constexpr std::size_t kFarRows = 4;
    for (std::size_t k = 0; k < kFarRows && matrix.rows > 0; ++k) {
      far_rows_.add(matrix, k * (matrix.rows - 1) / (kFarRows - 1));
    }
  }

  /// By the expected time, ascending.
  std::vector<HybridSplit> splits() {
    const Sample& sample = whole_.sample;
    const Estimate scattered = estimator_.scattered({sample.nonzeros, whole_.lengths, false});
    if (scattered.milliseconds == kNever) return {};
    Histogram offsets;
    sample.count_offsets(offsets);
    // Rows that lie far apart show how many diagonals the matrix has in all. They are used for
    // nothing else, because they are no windows.
    Histogram all_offsets = offsets;
    far_rows_.count_offsets(all_offsets);
    add_single_formats(all_offsets.size());
    add_blocks(whole_);
    add_row_starts(whole_);
    add_diagonals(
        dense_diagonals(sample, offsets, estimator_, sample.nonzeros / scattered.milliseconds));
    std::stable_sort(splits_.begin(), splits_.end(),
                     [](const HybridSplit& a, const HybridSplit& b) {
                       return a.expected_milliseconds < b.expected_milliseconds;
                     });
    return std::move(splits_);
  }

 private:
  void add(std::vector<HybridPart> parts, double milliseconds) {
    if (milliseconds < kNever) splits_.push_back({std::move(parts), milliseconds});
  }

  /// One split for each implementation, which holds the whole matrix.
  void add_single_formats(std::size_t diagonals) {
    const ScatteredEntries entries(whole_.sample.nonzeros, whole_.lengths, true);
    for (const FormatProfile::Rates& rates : estimator_.rates()) {
      const Implementation& each = rates.implementation;
      double stored = 0.0;
      if (holds_diagonals(each)) {
        stored = static_cast<double>(diagonals) * static_cast<double>(whole_.sample.rows);
      } else if (each.block == BlockSize{}) {
        stored = estimator_.scattered_elements(each, entries).value_or(kNever);
      } else {
        const BlockCounts& counted = counts_of(whole_.blocks, each.block);
        stored =
            block_elements(each, counted, counted.denser_than(0.0).first * whole_.sample.scale());
      }
      add({rest_part(each)}, estimator_.milliseconds(rates, stored));
    }
  }

  /// Splits whose first part takes the dense diagonals.
  void add_diagonals(const std::vector<std::int64_t>& dense) {
    if (dense.empty()) return;
    const Estimate diagonals = estimator_.diagonals(dense.size());
    HybridPart part;
    part.take = HybridPart::Take::kDiagonals;
    part.implementation = diagonals.implementation;
    part.offsets = dense;
    Remainder rest{{part}, diagonals.milliseconds, without_diagonals(whole_.sample, dense), {}, {}};
    // Where the sample finds nothing else, DIA for the whole matrix is a split already.
    if (rest.sample.entries() == 0) return;
    rest.lengths = row_lengths_of(rest.sample);
    rest.blocks = count_known_blocks(estimator_, rest.sample);
    const Estimate scattered = estimator_.scattered({rest.sample.nonzeros, rest.lengths, true});
    add({part, rest_part(scattered.implementation)},
        diagonals.milliseconds + scattered.milliseconds);
    add_blocks(rest);
    add_row_starts(rest);
  }

  /// The split whose next part takes the dense blocks of the best size, and that leaves the rest to
  /// one format.
  void add_blocks(const Remainder& of) {
    const Sample& sample = of.sample;
    const double scattered_rate =
        sample.nonzeros / estimator_.scattered({sample.nonzeros, of.lengths, true}).milliseconds;
    double best = kNever;
    HybridPart block_part;
    Estimate best_rest;
    for (const FormatProfile::Rates& rates : estimator_.rates()) {
      const Implementation& each = rates.implementation;
      if (each.block == BlockSize{}) continue;
      const BlockCounts& counted = counts_of(of.blocks, each.block);
      const auto expected = [&](double blocks) {
        const double elements = block_elements(each, counted, blocks * sample.scale());
        return std::pair(elements, estimator_.milliseconds(rates, elements));
      };
      const auto [all, all_milliseconds] = expected(counted.denser_than(0.0).first);
      const double share = std::min(0.95, scattered_rate / (all / all_milliseconds));
      const auto [blocks, sampled_entries] = counted.denser_than(share);
      const double entries = sampled_entries * sample.scale();
      // Blocks that take nearly all entries are the single format; few blocks are not worth a pass.
      if (entries < 0.05 * sample.nonzeros || entries > 0.995 * sample.nonzeros) continue;
      const Estimate rest = estimator_.scattered({sample.nonzeros - entries, of.lengths, true});
      const double time = expected(blocks).second + rest.milliseconds;
      if (time >= best) continue;
      best = time;
      block_part.take = HybridPart::Take::kBlocks;
      block_part.implementation = each;
      block_part.block_share = share;
      best_rest = rest;
    }
    if (best < kNever) {
      add_two(of, block_part, rest_part(best_rest.implementation), best);
    }
  }

  /// The split whose next part takes the best number of first entries of each row, and that
  /// leaves the rest to CSR or COO.
  void add_row_starts(const Remainder& of) {
    double best = kNever;
    HybridPart starts_part;
    Estimate best_rest;
    const std::size_t longest = of.lengths.longest();
    for (std::size_t width = 1; width < longest; width = width < 8 ? width + 1 : width * 5 / 4) {
      const double beyond = of.sample.nonzeros * of.lengths.share_beyond(width);
      if (beyond == 0.0) break;
      const Estimate starts = estimator_.row_starts(width);
      const Estimate rest = estimator_.scattered({beyond, of.lengths.beyond(width), false});
      if (starts.milliseconds + rest.milliseconds >= best) continue;
      best = starts.milliseconds + rest.milliseconds;
      starts_part.take = HybridPart::Take::kRowStarts;
      starts_part.implementation = starts.implementation;
      starts_part.width = width;
      best_rest = rest;
    }
    if (best < kNever) {
      add_two(of, starts_part, rest_part(best_rest.implementation), best);
    }
  }

  /// The split of the parts before, and two more in that expected time.
  void add_two(const Remainder& of, const HybridPart& first, const HybridPart& second,
               double milliseconds) {
    std::vector<HybridPart> parts = of.before;
    parts.push_back(first);
    parts.push_back(second);
    add(std::move(parts), of.before_milliseconds + milliseconds);
  }

  Estimator estimator_;
  Remainder whole_;  ///< The whole matrix, before any part took entries.
  Sample far_rows_;  ///< A few rows from the first to the last.
  std::vector<HybridSplit> splits_;
};

}  // namespace

std::string to_string(const HybridSplit& split) {
  std::string result;
  for (const HybridPart& part : split.parts) {
    result += fmt::format("{}{}", result.empty() ? "" : " + ", to_string(part.implementation));
    if (part.take == HybridPart::Take::kDiagonals) {
      result += fmt::format("[{}]", part.offsets.size());
    }
    if (part.take == HybridPart::Take::kRowStarts) result += fmt::format("[{}]", part.width);
  }
  return result;
}

std::vector<Format> formats_of(const HybridSplit& split) {
  std::vector<Format> formats;
  for (const HybridPart& part : split.parts) formats.push_back(part.implementation.format);
  return formats;
}

std::vector<HybridSplit> hybrid_splits(const CsrMatrix& matrix, const FormatProfile& profile,
                                       std::size_t count, const AnalysisOptions& options) {
  const std::vector<HybridSplit> splits = Splitter(matrix, profile, options).splits();
  // The profile knows how the kernels of one format differ, but not which formats the matrix suits.
  // So a set of formats comes a second time only after every set came once.
  std::vector<HybridSplit> first;
  std::vector<HybridSplit> again;
  std::set<std::vector<Format>> seen;
  for (const HybridSplit& split : splits) {
    (seen.insert(formats_of(split)).second ? first : again).push_back(split);
  }
  const auto single = std::find_if(
      first.begin(), first.end(), [](const HybridSplit& split) { return split.parts.size() == 1; });
  if (count > 0 && static_cast<std::size_t>(single - first.begin()) >= count) {
    std::rotate(first.begin() + static_cast<std::ptrdiff_t>(count) - 1, single, single + 1);
  }
  first.insert(first.end(), again.begin(), again.end());
  return first;
}

}  // namespace diacut
