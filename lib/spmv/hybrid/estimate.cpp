#include "spmv/hybrid/estimate.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "spmv/formats.hpp"

namespace diacut {

namespace {

/// Rows of a window where rows are short: a multiple of every block's height, so that the window
/// has whole block rows only.
constexpr std::size_t kWindow = 24;

}  // namespace

void Sample::add(const CsrMatrix& matrix, std::size_t row) {
  row_numbers.push_back(row);
  columns.insert(columns.end(),
                 matrix.columns.begin() + static_cast<std::ptrdiff_t>(matrix.starts[row]),
                 matrix.columns.begin() + static_cast<std::ptrdiff_t>(matrix.starts[row + 1]));
  starts.push_back(columns.size());
}

void Sample::count_offsets(Histogram& histogram) const {
  for (std::size_t r = 0; r < row_numbers.size(); ++r) {
    for (std::size_t e = starts[r]; e < starts[r + 1]; ++e) {
      ++histogram[static_cast<std::int64_t>(columns[e]) -
                  static_cast<std::int64_t>(row_numbers[r])];
    }
  }
}

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

Sample without_diagonals(const Sample& sample, const std::vector<std::int64_t>& offsets) {
  Sample result = sample;
  result.starts = {0};
  result.columns.clear();
  for (std::size_t r = 0; r < sample.row_numbers.size(); ++r) {
    for (std::size_t e = sample.starts[r]; e < sample.starts[r + 1]; ++e) {
      const std::int64_t offset = static_cast<std::int64_t>(sample.columns[e]) -
                                  static_cast<std::int64_t>(sample.row_numbers[r]);
      if (!std::binary_search(offsets.begin(), offsets.end(), offset)) {
        result.columns.push_back(sample.columns[e]);
      }
    }
    result.starts.push_back(result.columns.size());
  }
  result.nonzeros = static_cast<double>(result.entries()) * sample.scale();
  return result;
}

double RowLengths::mean() const {
  return lengths.empty() ? 0.0
                         : std::accumulate(lengths.begin(), lengths.end(), 0.0) /
                               static_cast<double>(lengths.size());
}

std::size_t RowLengths::longest() const {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

double RowLengths::padding(bool sorted) const {
  std::vector<std::size_t> ordered = lengths;
  if (sorted) std::sort(ordered.begin(), ordered.end(), std::greater<>());
  double stored = 0.0;
  for (std::size_t i = 0; i < ordered.size(); i += kSlice) {
    const auto begin = ordered.begin() + static_cast<std::ptrdiff_t>(i);
    stored += static_cast<double>(*std::max_element(begin, begin + kSlice)) * kSlice;
  }
  const double entries = mean() * static_cast<double>(ordered.size());
  return entries > 0.0 ? stored / entries : 1.0;
}

double RowLengths::share_beyond(std::size_t width) const {
  double beyond = 0.0;
  for (const std::size_t length : lengths) {
    beyond += static_cast<double>(length > width ? length - width : 0);
  }
  const double entries = mean() * static_cast<double>(lengths.size());
  return entries > 0.0 ? beyond / entries : 0.0;
}

RowLengths RowLengths::beyond(std::size_t width) const {
  RowLengths result;
  for (const std::size_t length : lengths) {
    result.lengths.push_back(length > width ? length - width : 0);
  }
  return result;
}

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

RowLengths row_lengths_of(const Sample& sample) {
  RowLengths result;
  for (std::size_t r = 0; r + 1 < sample.starts.size(); ++r) {
    result.lengths.push_back(sample.starts[r + 1] - sample.starts[r]);
  }
  constexpr std::size_t kSlice = RowLengths::kSlice;
  result.lengths.resize((result.lengths.size() + kSlice - 1) / kSlice * kSlice, 0);
  return result;
}

std::pair<double, double> BlockCounts::denser_than(double share) const {
  double blocks = 0.0;
  double entries = 0.0;
  for (std::size_t n = 1; n < by_entries.size(); ++n) {
    if (static_cast<double>(n) <= share * static_cast<double>(block.elements())) continue;
    blocks += static_cast<double>(by_entries[n]);
    entries += static_cast<double>(n * by_entries[n]);
  }
  return {blocks, entries};
}

BlockCounts count_blocks(const Sample& sample, const BlockSize& block) {
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

ScatteredEntries::ScatteredEntries(double count, const RowLengths& lengths, bool allow_slices)
    : nonzeros(count),
      longest_row(lengths.longest()),
      padding(lengths.padding(false)),
      sorted_padding(allow_slices ? lengths.padding(true) : 1.0),
      with_slices(allow_slices) {}

double Estimator::milliseconds(const FormatProfile::Rates& of, double stored) const {
  return profile_.expected_milliseconds(of, rows_, stored);
}

template <class Stored>
Estimate Estimator::fastest(const Stored& stored) const {
  Estimate best;
  const FormatProfile::Rates* fastest = nullptr;
  for (const FormatProfile::Rates& each : profile_.rates) {
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

Estimate Estimator::diagonals(std::size_t count) const {
  return fastest([&](const Implementation& each) -> std::optional<double> {
    if (each.format != Format::kDia && each.format != Format::kBdia) return std::nullopt;
    return static_cast<double>(count) * rows_;
  });
}

Estimate Estimator::row_starts(std::size_t width) const {
  return fastest([&](const Implementation& each) -> std::optional<double> {
    if (each.format != Format::kEll) return std::nullopt;
    return static_cast<double>(width) * rows_;
  });
}

Estimate Estimator::scattered(const ScatteredEntries& entries) const {
  return fastest([&](const Implementation& each) { return scattered_elements(each, entries); });
}

std::optional<double> Estimator::scattered_elements(const Implementation& implementation,
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

}  // namespace diacut
