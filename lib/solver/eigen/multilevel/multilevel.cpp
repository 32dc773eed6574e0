#include <algorithm>
#include <numeric>
#include <utility>

#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/lobpcg.hpp"
#include "eigen/multilevel/coarse_levels.hpp"
#include "eigen/resolution.hpp"
#include "eigen/solvers.hpp"

namespace diacut {

namespace {

/// Grids of fewer elements an image are passed over, unless they are among the last before the
/// finest: fewer iterations on the next grid find what iterations there would find, and on a GPU
/// they take hardly longer. Without the last ones, some photographs of few pixels do not converge.
constexpr std::size_t kLeastIterated = 3000;
constexpr int kAlwaysIterated = 2;

/// The way from the coarsest grid to the finest.
class Descent {
 public:
  Descent(Context& context, CoarseLevels levels, const EigenParameters& parameters,
          const Watch& watch)
      : context_(context),
        levels_(std::move(levels)),
        parameters_(parameters),
        batch_(levels_.matrix(0).batch()),
        watch_(watch),
        columns_(Lobpcg::columns(parameters)),
        images_(static_cast<std::size_t>(batch_.count)),
        solver_(context, parameters, batch_, levels_.active()),
        quotients_(solver_.workspace(), levels_.matrix(0)) {}

  std::vector<DeviceEigenvectors> run() {
    Block x = coarsest_vectors();
    for (int level = levels_.count() - 2; level >= 0; --level) {
      levels_.active()->set_all();
      x = prolonged(level, x);
      const bool small = levels_.segments(level).rows < kLeastIterated;
      if (level > kAlwaysIterated && small) continue;
      const int iterations = level > 0 ? Lobpcg::kCoarseIterations : parameters_.max_products;
      solver_.solve(levels_, level, x, images_, iterations, watch_);
    }
    return results(std::move(x));
  }

 private:
  /// What the vectors on the finest grid are ordered and signed by: for each image one value for
  /// each column.
  struct Measured {
    std::vector<double> values;  ///< Eigenvalues of L.
    std::vector<float> peaks;    ///< Entries of largest magnitude.
  };

  /// The dense solutions on the coarsest grid.
  Block coarsest_vectors() {
    Block x = solver_.blocks().take(columns_);
    (*x).upload_later(levels_.last_vectors());
    for (std::size_t k = 0; k < images_.size(); ++k) {
      const auto first = levels_.last_values().begin() + static_cast<std::ptrdiff_t>(k * wide());
      images_[k].theta.assign(first, first + columns_);
    }
    return x;
  }

  /// X on the level after the one of `coarse`, and its Ritz values: eigenvalues of L are about
  /// kHops times as large on the coarser grid.
  Block prolonged(int level, const Block& coarse) {
    Block fine = solver_.blocks().take(columns_);
    levels_.prolong(level, *coarse, *fine);
    for (LobpcgImage& image : images_) {
      for (double& theta : image.theta) theta = 1 - (1 - theta) / CoarseLevels::kHops;
    }
    return fine;
  }

  Measured measure(const Block& x) {
    Block y = solver_.blocks().take(columns_);
    Block scratch = solver_.blocks().take(columns_);
    Arriving<float> peaks = column_peaks(solver_.workspace(), *x, levels_.segments(0), *scratch);
    std::vector<double> values = quotients_.compute(levels_.matrix(0), *x, *y, *scratch);
    return {std::move(values), peaks.take()};
  }

  /// An image's columns by ascending eigenvalues of L, the trivial one first.
  std::vector<int> ascending(const std::vector<double>& values, std::size_t image) const {
    const double* own = values.data() + image * wide();
    std::vector<int> order(static_cast<std::size_t>(parameters_.vectors));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin() + 1, order.end(), [&](int a, int b) { return own[a] < own[b]; });
    return order;
  }

  /// An image's result without the vectors.
  DeviceEigenvectors described(const std::vector<int>& order, const std::vector<double>& values,
                               std::size_t image) const {
    const LobpcgImage& found = images_[image];
    DeviceEigenvectors result;
    result.rows = batch_.image.rows();
    result.pitch = dia_pitch(result.rows);
    result.count = parameters_.vectors;
    for (const int column : order) {
      // The trivial eigenvalue is known, not computed.
      result.values.push_back(
          column == 0 ? 0 : values[image * wide() + static_cast<std::size_t>(column)]);
      result.report.residuals.push_back(found.residual_norms[static_cast<std::size_t>(column)]);
    }
    result.report.resolution = resolution_of(result.values, result.report.residuals);
    result.report.matvec = BlockProduct::name(levels_.matrix(0).form());
    found.describe(levels_, result.report);
    return result;
  }

  /// The eigenvectors out of X on the finest grid, ordered and signed.
  std::vector<DeviceEigenvectors> results(Block x) {
    levels_.active()->set_all();
    const Measured measured = measure(x);
    solver_.blocks().drop_free();  // The eigenvectors take less than these.
    std::vector<DeviceEigenvectors> results;
    std::vector<std::int32_t> signed_columns(images_.size() * wide(), 0);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const std::vector<int> order = ascending(measured.values, i);
      for (std::size_t k = 0; k < order.size(); ++k) {
        const bool negative = measured.peaks[i * wide() + static_cast<std::size_t>(order[k])] < 0;
        signed_columns[i * wide() + k] = negative ? -order[k] - 1 : order[k] + 1;
      }
      results.push_back(described(order, measured.values, i));
    }
    const Uploaded columns(context_, signed_columns);
    BlockColumns vectors(context_, columns_);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      DeviceEigenvectors& result = results[i];
      result.basis = context_.allocate<float>(result.pitch * static_cast<std::size_t>(result.count),
                                              "eigenvectors");
      vectors.extract(*x, {i * batch_.segment(), result.rows, columns, i * wide(), result.count},
                      result.pitch, result.basis);
    }
    return results;
  }

  std::size_t wide() const { return static_cast<std::size_t>(columns_); }

  Context& context_;
  CoarseLevels levels_;
  EigenParameters parameters_;
  Batch batch_;
  const Watch& watch_;
  int columns_;
  std::vector<LobpcgImage> images_;
  Lobpcg solver_;
  RayleighQuotients quotients_;  // Its kernels are built together with those of the solver.
};

}  // namespace

std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, NormalizedMatrix& matrix, MatrixForm form, std::size_t least,
    const EigenParameters& parameters, const Watch& watch) {
  std::optional<CoarseLevels> levels =
      CoarseLevels::build(context, matrix, form, least, Lobpcg::columns(parameters));
  if (!levels) return std::nullopt;
  return Descent(context, std::move(*levels), parameters, watch).run();
}

}  // namespace diacut
