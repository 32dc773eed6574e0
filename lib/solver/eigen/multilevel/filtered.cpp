#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/parallel.hpp"
#include "eigen/lobpcg/lobpcg.hpp"
#include "eigen/lobpcg/ritz.hpp"
#include "eigen/multilevel/coarse_levels.hpp"
#include "eigen/resolution.hpp"
#include "eigen/solvers.hpp"

namespace diacut {

namespace {

constexpr int kDegree = 16;  ///< Of the filter, at most.
/// The least value of the filter at the last eigenvalue wanted. Where the filter is smaller,
/// rounding errors and the vectors before hide that vector.
constexpr double kLeast = 0.1;

/// A polynomial of L = I - A as a recurrence of kDegree steps: the next block is alpha A x + beta x
/// + gamma before. Further steps than those that a filter has keep x.
using Filter = std::array<cl_float4, kDegree>;

/// The scaled Chebyshev polynomial that damps eigenvalues of L in [from, 1] and is 1 at 0. Its
/// degree is the largest at which it is not below kLeast at the eigenvalue `wanted`.
Filter chebyshev_filter(double from, double wanted) {
  const double centre = (1 + from) / 2;
  const double half = (1 - from) / 2;
  const double first = -half / centre;
  const double at = (wanted - centre) / half;
  double before = 1;        // The factor of the step before.
  double value_before = 0;  // Of the polynomial at `wanted`.
  double value = 1;
  Filter filter;
  filter.fill({{0, 1, 0, 0}});
  for (cl_float4& step : filter) {
    const bool is_first = &step == filter.data();
    const double next = is_first ? first : 1 / (2 / first - before);
    const double scale = is_first ? next : 2 * next;
    const double back = is_first ? 0 : before * next;
    const double value_next = scale * at * value - back * value_before;
    if (value_next < kLeast) break;
    // scale (L - centre) / half x - back before
    step = {{static_cast<float>(-scale / half), static_cast<float>(scale * (1 - centre) / half),
             static_cast<float>(-back), 0}};
    before = next;
    value_before = std::exchange(value, value_next);
  }
  return filter;
}

class FilteredDescent {
 public:
  FilteredDescent(Context& context, CoarseLevels levels, std::size_t solved,
                  const EigenParameters& parameters, const Watch& watch)
      : context_(context),
        levels_(std::move(levels)),
        parameters_(parameters),
        watch_(watch),
        columns_(static_cast<std::size_t>(Lobpcg::columns(parameters))),
        found_(static_cast<std::size_t>(levels_.matrix(0).batch().count)) {
    while (solved_ + 2 < levels_.count() && levels_.segments(solved_).rows > solved) ++solved_;
  }

  std::vector<DeviceEigenvectors> run() {
    x_ = context_.allocate<float>(levels_.last_vectors().size(), kBlock);
    x_.upload_later(levels_.last_vectors());
    for (std::size_t i = 0; i < found_.size(); ++i) {
      for (std::size_t k = 0; k < columns_; ++k) {
        found_[i].values.push_back(std::max(1 - levels_.last_values()[i * columns_ + k], 0.0));
      }
    }
    for (int level = levels_.count() - 2; level >= 0; --level) {
      Buffer<float> fine = block(level);
      levels_.prolong(level, x_, fine);
      x_ = std::move(fine);
      if (level < solved_) continue;
      for (Found& each : found_) {
        for (double& value : each.values) value /= CoarseLevels::kHops;
      }
      filter(level);
      if (level == solved_) make_ritz_vectors();
    }
    return results();
  }

 private:
  static constexpr char kBlock[] = "a block of vectors";

  /// What is known of an image's vectors.
  struct Found {
    std::vector<double> values;     ///< Ritz values of L, ascending, the trivial one first.
    std::vector<double> residuals;  ///< Theirs, on the level that is solved.
  };

  Buffer<float> block(int level) const {
    auto made = context_.allocate<float>(levels_.rows(level) * columns_, kBlock);
    // What is between images is not always written, and has to be a number.
    if (found_.size() > 1) made.fill(0);
    return made;
  }

  /// Filters x_, each image's vectors by a polynomial of its own.
  void filter(int level) {
    std::vector<Filter> filters;
    for (const Found& each : found_) {
      const double last = std::clamp(each.values.back(), 0.0, 0.5);
      filters.push_back(chebyshev_filter(last, each.values[wanted() - 1]));
    }
    std::vector<cl_float4> factors;
    for (std::size_t k = 0; k < kDegree; ++k) {
      for (const Filter& own : filters) factors.push_back(own[k]);
    }
    auto on_device = context_.allocate<cl_float4>(factors.size(), "factors of a filter");
    on_device.upload_later(factors);
    Buffer<float> other = block(level);
    other.fill(0);
    for (int k = 0; k < kDegree; ++k) {
      levels_.step(level, x_, other, other, on_device, k * static_cast<int>(found_.size()));
      std::swap(x_, other);
    }
    passes_ += kDegree;
  }

  /// The Rayleigh-Ritz procedure on the host, image by image.
  void make_ritz_vectors() {
    Buffer<float> laplacian = block(solved_);
    levels_.laplacian(solved_, x_, laplacian, static_cast<int>(columns_));
    ++passes_;
    Arriving<float> products = laplacian.download_later();
    std::vector<float> vectors = x_.download();
    const std::vector<float> of_vectors = products.take();
    const Batch& batch = levels_.matrix(solved_).batch();
    // Sums over the rows of the image alone have the same order in every batch.
    parallel_for(static_cast<int>(found_.size()), [&](int image) {
      const std::size_t from = static_cast<std::size_t>(image) * batch.segment() * columns_;
      rotate(found_[static_cast<std::size_t>(image)], batch.image.rows(), of_vectors.data() + from,
             vectors.data() + from);
    });
    x_.upload(vectors);
    watch_.report("eigenvectors", 0.9);
  }

  /// Makes the vectors of one image Ritz vectors, whose largest entries are positive.
  void rotate(Found& found, std::size_t rows, const float* of_vectors, float* vectors) const {
    using Block = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto height = static_cast<Eigen::Index>(rows);
    const auto width = static_cast<Eigen::Index>(columns_);
    Eigen::Map<Block> block(vectors, height, width);
    const Eigen::MatrixXd x = block.cast<double>();
    const Eigen::MatrixXd lx = Eigen::Map<const Block>(of_vectors, height, width).cast<double>();
    const Eigen::MatrixXd gram = x.transpose() * x;
    const RitzStep step = solve_ritz(gram, gram - x.transpose() * lx, static_cast<int>(columns_));
    const Eigen::MatrixXd rotation =
        Eigen::Map<const Block>(step.rotation.data(), width, width).cast<double>();
    Eigen::MatrixXd ritz = x * rotation;
    const Eigen::MatrixXd of_ritz = lx * rotation;
    found.values.clear();
    for (int k = 0; k <= step.found; ++k) {
      const double value = std::max(1 - step.values[static_cast<std::size_t>(k)], 0.0);
      found.values.push_back(value);
      found.residuals.push_back((of_ritz.col(k) - value * ritz.col(k)).norm());
      Eigen::Index peak = 0;
      ritz.col(k).cwiseAbs().maxCoeff(&peak);
      if (ritz(peak, k) < 0) ritz.col(k) *= -1;
    }
    block = ritz.cast<float>();
  }

  std::vector<DeviceEigenvectors> results() {
    const Batch& batch = levels_.matrix(0).batch();
    BlockColumns vectors(context_, static_cast<int>(columns_));
    std::vector<std::int32_t> numbers;
    for (std::size_t k = 0; k < wanted(); ++k) numbers.push_back(static_cast<std::int32_t>(k) + 1);
    const Uploaded columns(context_, numbers);
    std::vector<DeviceEigenvectors> results;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const Found& found = found_[i];
      DeviceEigenvectors& result = results.emplace_back();
      const std::size_t count = std::min(wanted(), found.values.size());
      result.rows = batch.image.rows();
      result.pitch = dia_pitch(result.rows);
      result.count = static_cast<int>(count);
      result.values.assign(found.values.begin(),
                           found.values.begin() + static_cast<std::ptrdiff_t>(count));
      EigenReport& report = result.report;
      report.residuals.assign(found.residuals.begin(),
                              found.residuals.begin() + static_cast<std::ptrdiff_t>(count));
      report.residuals[0] = 0;  // The trivial pair is known.
      result.values[0] = 0;
      report.resolution = resolution_of(result.values, report.residuals);
      for (double& value : result.values) value /= std::pow(CoarseLevels::kHops, solved_);
      report.solver = "filtered";
      report.matvec = BlockProduct::name(MatrixForm::kDia);
      report.converged = true;
      report.levels = levels_.count();
      report.restarts = 1;
      report.passes = passes_;
      report.products = passes_ * static_cast<std::int64_t>(columns_);
      result.basis = context_.allocate<float>(result.pitch * count, "eigenvectors");
      vectors.extract(x_, {i * batch.segment(), result.rows, columns, 0, result.count},
                      result.pitch, result.basis);
    }
    return results;
  }

  std::size_t wanted() const { return static_cast<std::size_t>(parameters_.vectors); }

  Context& context_;
  CoarseLevels levels_;
  EigenParameters parameters_;
  const Watch& watch_;
  std::size_t columns_;
  int solved_ = 0;  ///< The level from which on vectors are interpolated alone.
  std::vector<Found> found_;
  Buffer<float> x_;
  std::int64_t passes_ = 0;
};

}  // namespace

void ask_for_filtered(Context& context, const Stencil& stencil, const EigenParameters& parameters) {
  const int columns = Lobpcg::columns(parameters);
  const BlockProduct product(context, stencil, columns);
  const BlockTransfer transfer(context, stencil, columns);
  const BlockColumns vectors(context, columns);
  const Coarsen coarsen(context, stencil, 1);
}

std::optional<std::vector<DeviceEigenvectors>> filtered_eigenvectors(
    Context& context, NormalizedMatrix& matrix, std::size_t solved,
    const EigenParameters& parameters, const Watch& watch) {
  const int columns = Lobpcg::columns(parameters);
  std::optional<CoarseLevels> levels =
      CoarseLevels::build(context, matrix, MatrixForm::kDia, static_cast<std::size_t>(columns),
                          columns, NullSpace::kTrivial, CoarseLevels::Use::kVectors);
  if (!levels) return std::nullopt;
  return FilteredDescent(context, std::move(*levels), solved, parameters, watch).run();
}

}  // namespace diacut
