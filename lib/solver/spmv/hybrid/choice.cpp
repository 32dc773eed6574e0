#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"
#include "spmv/formats.hpp"
#include "spmv/hybrid/hybrid.hpp"

namespace diacut {

namespace {

/// A matrix of the given matrix's shape, to be filled by rows.
CsrMatrix shaped_like(const CsrMatrix& matrix) {
  CsrMatrix result;
  result.rows = matrix.rows;
  result.cols = matrix.cols;
  result.starts.reserve(matrix.rows + 1);
  return result;
}

/// Entries for which takes(row, entry) holds, and the others. Entries are asked for in order.
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

/// For each entry, whether it lies in a block with more than `share` of its elements taken.
std::vector<bool> in_dense_blocks(const CsrMatrix& matrix, const BlockSize& block, double share) {
  std::vector<bool> result(matrix.nonzeros(), false);
  const double least = share * static_cast<double>(block.elements());
  for (std::size_t top = 0; top < matrix.rows; top += block.height) {
    const std::size_t height = std::min(block.height, matrix.rows - top);
    for_each_block(matrix.starts, matrix.columns, top, height, block.width,
                   [&](std::uint32_t, const auto& from, const auto& to, std::size_t entries) {
                     if (static_cast<double>(entries) <= least) return;
                     for (std::size_t i = 0; i < height; ++i) {
                       for (std::uint64_t e = from[i]; e < to[i]; ++e) result[e] = true;
                     }
                   });
  }
  return result;
}

/// The entries that a part takes, and the others.
std::pair<CsrMatrix, CsrMatrix> take_part(const CsrMatrix& matrix, const HybridPart& part) {
  switch (part.take) {
    case HybridPart::Take::kDiagonals:
      return split(matrix, [&](std::size_t row, std::uint64_t e) {
        const std::int64_t offset =
            static_cast<std::int64_t>(matrix.columns[e]) - static_cast<std::int64_t>(row);
        return std::binary_search(part.offsets.begin(), part.offsets.end(), offset);
      });
    case HybridPart::Take::kBlocks: {
      const std::vector<bool> dense =
          in_dense_blocks(matrix, part.implementation.block, part.block_share);
      return split(matrix, [&](std::size_t, std::uint64_t e) { return dense[e]; });
    }
    case HybridPart::Take::kRowStarts:
      return split(matrix, [&](std::size_t row, std::uint64_t e) {
        return e - matrix.starts[row] < part.width;
      });
    case HybridPart::Take::kRest:
      break;
  }
  return split(matrix, [](std::size_t, std::uint64_t) { return true; });
}

/// The number of splits that are timed by two products each.
constexpr std::size_t kTried = 4;
/// More splits are timed while one product of each split so far takes at most this time in all.
constexpr double kQuickMilliseconds = 0.2;
/// The number of splits that repeat() times again, in that many rounds of that many products.
constexpr std::size_t kRepeated = 4;
constexpr int kRounds = 3;
constexpr int kRepeats = 8;

/// Splits made and timed on the device.
class Trials {
 public:
  struct Trial {
    HybridSplit split;
    SparseProduct product;
    double milliseconds = 0.0;
  };

  Trials(Context& context, const CsrMatrix& matrix, bool half)
      : context_(context),
        matrix_(matrix),
        in_(context.allocate<float>(matrix.cols, "a vector")),
        out_(context.allocate<float>(matrix.rows, "a product")) {
    if (matrix.cols > 0) in_.fill(1.0F);
    options_.half = half;
  }

  /// Times one product of the split, after one product that is not counted. Returns false if the
  /// split cannot be made because the whole matrix is unlike the sample that the split was made
  /// from.
  bool add(const HybridSplit& split) {
    Trial trial{split, {}, 0.0};
    try {
      trial.product = make_hybrid(context_, matrix_, split, options_);
    } catch (const InputError&) {
      refused_ = std::current_exception();
      return false;
    } catch (const DeviceError&) {  // Another format may still fit the device.
      if (context_.lost()) throw;
      refused_ = std::current_exception();
      return false;
    }
    time(trial.product, 1);
    trial.milliseconds = time(trial.product, 1);
    trials_.push_back(std::move(trial));
    sort();
    return true;
  }

  bool quick() const {
    double sum = 0.0;
    for (const Trial& trial : trials_) sum += trial.milliseconds;
    return sum <= kQuickMilliseconds;
  }

  /// Times the best splits again, in turns, if that is quick.
  void repeat() {
    trials_.resize(std::min(trials_.size(), kRepeated));
    if (!quick()) return;
    std::vector<double> least(trials_.size(), std::numeric_limits<double>::infinity());
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < trials_.size(); ++i) {
        least[i] = std::min(least[i], time(trials_[i].product, kRepeats));
      }
    }
    for (std::size_t i = 0; i < trials_.size(); ++i) trials_[i].milliseconds = least[i];
    sort();
  }

  Trial& best() { return trials_.front(); }
  std::size_t count() const { return trials_.size(); }
  int products() const { return products_; }
  /// Why the last split that could not be made was refused.
  const std::exception_ptr& refused() const { return refused_; }

 private:
  void sort() {
    std::stable_sort(trials_.begin(), trials_.end(), [](const Trial& a, const Trial& b) {
      return a.milliseconds < b.milliseconds;
    });
  }
  double time(const SparseProduct& product, int times) {
    const cl::Event begin = context_.mark();
    for (int k = 0; k < times; ++k) product.product(in_, out_, {});
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
  ProductOptions options_;
  std::exception_ptr refused_;
  int products_ = 0;
};

}  // namespace

std::vector<CsrMatrix> split_matrix(const CsrMatrix& matrix, const HybridSplit& split) {
  std::vector<CsrMatrix> result;
  CsrMatrix left = matrix;
  for (const HybridPart& part : split.parts) {
    auto [taken, rest] = take_part(left, part);
    result.push_back(std::move(taken));
    left = std::move(rest);
  }
  return result;
}

SparseProduct make_hybrid(Context& context, const CsrMatrix& matrix, const HybridSplit& split,
                          const ProductOptions& options) {
  if (split.parts.empty() || split.parts.back().take != HybridPart::Take::kRest) {
    throw ConfigError("a split of a matrix must end with a part that takes the rest");
  }
  if (split.parts.size() == 1) {
    return make_product(context, matrix, split.parts.front().implementation, options);
  }
  SparseProduct sum{matrix.rows, matrix.cols, 0, {}};
  std::vector<SparseProduct> products;
  const std::vector<CsrMatrix> parts = split_matrix(matrix, split);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const HybridPart& part = split.parts[i];
    // An empty part is needed only to write zeros where nothing else does.
    if (parts[i].nonzeros() == 0 && i > 0) continue;
    products.push_back(
        part.take == HybridPart::Take::kDiagonals
            ? make_diagonal_product(context, parts[i], part.offsets, part.implementation, options)
            : make_product(context, parts[i], part.implementation, options));
    sum.matrix_bytes += products.back().matrix_bytes;
  }
  // The first one does all of the step, the others add to it.
  sum.product = [products](const Buffer<float>& in, Buffer<float>& out, const Recurrence& step) {
    Recurrence each = step;
    for (const SparseProduct& part : products) {
      part.product(in, out, each);
      each = {step.alpha, 0, 1};
    }
  };
  return sum;
}

HybridChoice choose_hybrid(Context& context, const CsrMatrix& matrix, const FormatProfile& profile,
                           const AnalysisOptions& options) {
  using Clock = std::chrono::steady_clock;
  HybridChoice choice;
  const Clock::time_point start = Clock::now();
  const std::vector<HybridSplit> splits = hybrid_splits(matrix, profile, kTried, options);
  choice.analysis_milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (splits.empty()) {
    throw ConfigError(fmt::format(
        "the profile of {} has no product to choose from; 'diacut-bench tune' measures again",
        profile.device.name));
  }
  Trials trials(context, matrix, options.half);
  std::size_t next = 0;
  for (; next < splits.size() && trials.count() < kTried; ++next) trials.add(splits[next]);
  if (trials.count() == 0) std::rethrow_exception(trials.refused());
  // One product of a few microseconds is a poor measurement, and more products cost little: other
  // kernels of the best split's formats are timed, then the best splits again.
  const std::vector<Format> formats = formats_of(trials.best().split);
  for (std::size_t more = 0; next < splits.size() && more < kTried; ++next) {
    if (!trials.quick()) break;
    if (formats_of(splits[next]) == formats && trials.add(splits[next])) ++more;
  }
  trials.repeat();
  choice.sampled_products = trials.products();
  choice.split = trials.best().split;
  choice.product = std::move(trials.best().product);
  return choice;
}

}  // namespace diacut
