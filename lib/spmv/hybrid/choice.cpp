#include "spmv/hybrid/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"
#include "spmv/hybrid/estimate.hpp"
#include "spmv/hybrid/product.hpp"

namespace diacut {

namespace {

/// The number of plans that are timed by two products each.
constexpr std::size_t kTried = 4;
/// More plans are timed while one product of each plan so far takes at most this time in all.
constexpr double kQuickMilliseconds = 0.2;
/// The number of plans that repeat() times again, in that many rounds of that many products.
constexpr std::size_t kRepeated = 4;
constexpr int kRounds = 3;
constexpr int kRepeats = 8;

/// Plans made and timed on the device.
class Trials {
 public:
  struct Trial {
    HybridPlan plan;
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

  /// Times one product of the plan, after one product that is not counted. Returns false if the
  /// plan cannot be made because the whole matrix is unlike the sample that the plan was made from.
  bool add(const HybridPlan& plan) {
    Trial trial{plan, nullptr, 0.0};
    try {
      trial.product = make_hybrid(context_, matrix_, plan);
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
    return sum <= kQuickMilliseconds;
  }

  /// Times the best plans again, in turns, if that is quick.
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
  /// Why the last plan that could not be made was refused.
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

HybridChoice choose_hybrid(Context& context, const CsrMatrix& matrix, const FormatProfile& profile,
                           const AnalysisOptions& options) {
  using Clock = std::chrono::steady_clock;
  HybridChoice choice;
  const Clock::time_point start = Clock::now();
  const std::vector<HybridPlan> plans = plan_hybrids(matrix, profile, kTried, options);
  choice.analysis_milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (plans.empty()) {
    throw ConfigError(fmt::format(
        "the profile of {} has no product to choose from; 'diacut-bench tune' measures again",
        profile.device.name));
  }
  Trials trials(context, matrix);
  std::size_t next = 0;
  for (; next < plans.size() && trials.count() < kTried; ++next) trials.add(plans[next]);
  if (trials.count() == 0) throw InputError(trials.refused());
  // One product of a few microseconds is a poor measurement, and more products cost little: other
  // kernels of the best plan's formats are timed, then the best plans again.
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
