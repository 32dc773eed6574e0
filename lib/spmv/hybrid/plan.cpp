#include "spmv/hybrid/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "spmv/hybrid/estimate.hpp"

namespace diacut {

namespace {

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

/// The offsets of the diagonals that are dense by the criterion of plan_hybrids(). The rate of DIA
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
    if (!seen) result.push_back(count_blocks(sample, block));
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

/// What is left of a matrix after the first parts of a plan took their entries.
struct Remainder {
  std::vector<HybridPart> before;    ///< The parts that took their entries already.
  double before_milliseconds = 0.0;  ///< The expected time of these parts.
  Sample sample;
  RowLengths lengths;
  std::vector<BlockCounts> blocks;
};

class Planner {
 public:
  Planner(const CsrMatrix& matrix, const FormatProfile& profile, const AnalysisOptions& options)
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
  std::vector<HybridPlan> plans() {
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
    std::stable_sort(plans_.begin(), plans_.end(), [](const HybridPlan& a, const HybridPlan& b) {
      return a.expected_milliseconds < b.expected_milliseconds;
    });
    return std::move(plans_);
  }

 private:
  void add(std::vector<HybridPart> parts, double milliseconds) {
    if (milliseconds < kNever) plans_.push_back({std::move(parts), milliseconds});
  }

  /// One plan for each implementation, which holds the whole matrix.
  void add_single_formats(std::size_t diagonals) {
    const ScatteredEntries entries(whole_.sample.nonzeros, whole_.lengths, true);
    for (const FormatProfile::Rates& rates : estimator_.rates()) {
      const Implementation& each = rates.implementation;
      double stored = 0.0;
      if (each.format == Format::kDia || each.format == Format::kBdia) {
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

  /// Plans whose first part takes the dense diagonals.
  void add_diagonals(const std::vector<std::int64_t>& dense) {
    if (dense.empty()) return;
    const Estimate diagonals = estimator_.diagonals(dense.size());
    HybridPart part;
    part.take = HybridPart::Take::kDiagonals;
    part.implementation = diagonals.implementation;
    part.offsets = dense;
    Remainder rest{{part}, diagonals.milliseconds, without_diagonals(whole_.sample, dense), {}, {}};
    // Where the sample finds nothing else, DIA for the whole matrix is a plan already.
    if (rest.sample.entries() == 0) return;
    rest.lengths = row_lengths_of(rest.sample);
    rest.blocks = count_known_blocks(estimator_, rest.sample);
    const Estimate scattered = estimator_.scattered({rest.sample.nonzeros, rest.lengths, true});
    add({part, rest_part(scattered.implementation)},
        diagonals.milliseconds + scattered.milliseconds);
    add_blocks(rest);
    add_row_starts(rest);
  }

  /// The plan whose next part takes the dense blocks of the best size, and that leaves the rest to
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

  /// The plan whose next part takes the best number of first entries of each row, and that
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

  /// The plan of the parts before, and two more in that expected time.
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
  std::vector<HybridPlan> plans_;
};

}  // namespace

std::string to_string(const HybridPlan& plan) {
  std::string result;
  for (const HybridPart& part : plan.parts) {
    result += fmt::format("{}{}", result.empty() ? "" : " + ", to_string(part.implementation));
    if (part.take == HybridPart::Take::kDiagonals) {
      result += fmt::format("[{}]", part.offsets.size());
    }
    if (part.take == HybridPart::Take::kRowStarts) result += fmt::format("[{}]", part.width);
  }
  return result;
}

std::vector<Format> formats_of(const HybridPlan& plan) {
  std::vector<Format> formats;
  for (const HybridPart& part : plan.parts) formats.push_back(part.implementation.format);
  return formats;
}

std::vector<HybridPlan> plan_hybrids(const CsrMatrix& matrix, const FormatProfile& profile,
                                     std::size_t count, const AnalysisOptions& options) {
  const std::vector<HybridPlan> plans = Planner(matrix, profile, options).plans();
  // The profile knows how the kernels of one format differ, but not which formats the matrix suits.
  // So a set of formats comes a second time only after every set came once.
  std::vector<HybridPlan> first;
  std::vector<HybridPlan> again;
  std::set<std::vector<Format>> seen;
  for (const HybridPlan& plan : plans) {
    (seen.insert(formats_of(plan)).second ? first : again).push_back(plan);
  }
  const auto single = std::find_if(first.begin(), first.end(),
                                   [](const HybridPlan& plan) { return plan.parts.size() == 1; });
  if (count > 0 && static_cast<std::size_t>(single - first.begin()) >= count) {
    std::rotate(first.begin() + static_cast<std::ptrdiff_t>(count) - 1, single, single + 1);
  }
  first.insert(first.end(), again.begin(), again.end());
  return first;
}

}  // namespace diacut
