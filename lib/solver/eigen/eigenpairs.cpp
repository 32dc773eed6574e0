#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "diacut/errors.hpp"
#include "eigen/dense/symmetric_eigenpairs.hpp"
#include "eigen/solvers.hpp"
#include "matrix/device_matrix.hpp"

namespace diacut {

namespace {

/// Larger matrices are not solved densely.
constexpr std::size_t kMostDense = 6000;

void check(const DeviceMatrix::State& matrix, const EigenpairOptions& options) {
  if (matrix.rows != matrix.cols || matrix.rows == 0) {
    throw InputError(fmt::format("eigenpairs of a matrix of {} x {}, expected a square one",
                                 matrix.rows, matrix.cols));
  }
  if (options.count < 1 || static_cast<std::size_t>(options.count) > matrix.rows) {
    throw ConfigError(fmt::format("{} eigenpairs, expected 1 to {}", options.count, matrix.rows));
  }
  if (!(options.tolerance > 0 && options.tolerance <= 1)) {
    throw ConfigError(
        fmt::format("a tolerance of {}, expected more than 0 and at most 1", options.tolerance));
  }
  if (options.max_products < 1) {
    throw ConfigError(fmt::format("{} products, expected 1 or more", options.max_products));
  }
  matrix.check_symmetric();
}

class PairFinder {
 public:
  PairFinder(DeviceMatrix::State& matrix, const EigenpairOptions& options, const Watch& watch)
      : matrix_(matrix),
        context_(matrix.context()),
        options_(options),
        watch_(watch),
        pitch_(dia_pitch(matrix.rows)),
        mask_(context_.allocate<float>(matrix.rows, "a mask")) {
    mask_.fill(1);
    parameters_.vectors = options.count + 1;
    parameters_.tolerance = options.tolerance;
    parameters_.max_products = options.max_products;
    result_.format = matrix.format;
  }

  Eigenpairs find() {
    const std::size_t least =
        std::max(kDenseLimit, 2 * static_cast<std::size_t>(lanczos_basis_size(parameters_))) + 1;
    if (matrix_.rows < least) {
      find_densely();
    } else {
      find_by_lanczos();
    }
    sort();
    return std::move(result_);
  }

 private:
  bool wants(Which which) const { return options_.which == which; }

  void find_densely() {
    if (matrix_.rows > kMostDense) {
      throw ConfigError(
          fmt::format("{} eigenpairs of {} rows: expected at most an eighth of the rows, or a "
                      "matrix of at most "
                      "{} rows",
                      options_.count, matrix_.rows, kMostDense));
    }
    const auto n = static_cast<Eigen::Index>(matrix_.rows);
    auto in = context_.allocate<float>(matrix_.rows, "a vector");
    auto out = context_.allocate<float>(matrix_.rows, "a product");
    Eigen::MatrixXd dense(n, n);
    std::vector<float> unit(matrix_.rows, 0.0F);
    for (Eigen::Index k = 0; k < n; ++k) {
      unit[static_cast<std::size_t>(k)] = 1;
      in.upload(unit);
      unit[static_cast<std::size_t>(k)] = 0;
      matrix_.launch(in, out, {}, false);
      const std::vector<float> column = out.download();
      dense.col(k) = Eigen::Map<const Eigen::VectorXf>(column.data(), n).cast<double>();
    }
    if (!dense.allFinite()) {
      throw NumericalError("the matrix is not finite: a product with it gave NaN or infinity");
    }
    const SymmetricEigenpairs pairs = symmetric_eigenpairs(dense);
    for (Eigen::Index k = 0; k < n; ++k) {
      const Eigen::VectorXd z = pairs.vectors.col(k);
      const Eigen::VectorXf single = z.cast<float>();
      add(pairs.values(k), (dense * z - pairs.values(k) * z).norm(),
          {single.data(), single.data() + n});
    }
    result_.solver = "dense";
    result_.products = n;
    result_.converged = pairs.converged;
    keep_wanted();
  }

  void find_by_lanczos() {
    result_.solver = "lanczos";
    MatrixOperator plain(matrix_);
    auto [lower, upper] = bounds(plain);
    const double norm = std::max(std::abs(lower), std::abs(upper));
    // Numbers far from 1 are looked at in units of about the norm.
    if (norm > 0 && std::abs(std::log(norm)) > 3) {
      MatrixOperator unit(matrix_, static_cast<float>(1 / norm));
      std::tie(lower, upper) = bounds(unit);
      lower *= norm;
      upper *= norm;
      result_.products += unit.products();
    }
    // Less would be lost in the rounding of products.
    const double width = std::max((upper - lower) / 2, 1e-2 * norm);
    half_width_ = width > 0 ? width : 1;
    centre_ = (lower + upper) / 2;
    if (norm > 0) parameters_.tolerance = options_.tolerance * norm / half_width_;
    result_.converged = true;
    if (!wants(Which::kSmallest)) find_end(1, plain);
    // The other end has larger magnitudes only if it is further from 0 than the last pair.
    if (wants(Which::kSmallest) || (wants(Which::kMagnitude) && -lower > least_magnitude())) {
      find_end(-1, plain);
    }
    result_.products += plain.products();
    keep_wanted();
  }

  std::pair<double, double> bounds(MatrixOperator& op) {
    return spectrum_of(context_, {&op, pitch_, &mask_}, watch_);
  }

  double least_magnitude() const {
    double least = std::abs(result_.values.front());
    for (const double value : result_.values) least = std::min(least, std::abs(value));
    return least;
  }

  /// The pairs at the upper end of the spectrum, or with the sign -1 the lower end.
  void find_end(int sign, MatrixOperator& plain) {
    MatrixOperator op(matrix_, static_cast<float>(sign / half_width_), static_cast<float>(centre_));
    DeviceEigenvectors found = lanczos(context_, {&op, pitch_, &mask_}, parameters_, watch_);
    result_.products += op.products();
    result_.converged = result_.converged && found.report.converged;
    const int count = found.count - 1;
    BasisKernels kernels(context_, pitch_, 1);
    auto z = context_.allocate<float>(pitch_, "a vector");
    auto az = context_.allocate<float>(pitch_, "a product");
    DeviceSums sums(context_, 2, "dot products and norms");
    az.fill(0);
    for (int k = 1; k <= count; ++k) {
      kernels.copy(found.basis, k, 1, z);
      plain.perform_op(z, az);
      kernels.dots(z, 1, az, sums, 0);
      kernels.update(z, 1, az, sums, 0, 1);
      const std::vector<double> product = sums.download(2);
      std::vector<float> vector(matrix_.rows);
      z.download(std::span(vector));
      add(product[0], std::sqrt(std::max(product[1], 0.0)), std::move(vector));
    }
  }

  void add(double value, double residual, std::vector<float> vector) {
    const auto peak = std::max_element(vector.begin(), vector.end(),
                                       [](float a, float b) { return std::abs(a) < std::abs(b); });
    if (*peak < 0) {
      for (float& each : vector) each = -each;
    }
    result_.values.push_back(value);
    result_.residuals.push_back(residual);
    result_.vectors.push_back(std::move(vector));
  }

  /// Keeps those pairs, in that order.
  void take(const std::vector<std::size_t>& order) {
    Eigenpairs taken;
    for (const std::size_t k : order) {
      taken.values.push_back(result_.values[k]);
      taken.residuals.push_back(result_.residuals[k]);
      taken.vectors.push_back(std::move(result_.vectors[k]));
    }
    result_.values = std::move(taken.values);
    result_.residuals = std::move(taken.residuals);
    result_.vectors = std::move(taken.vectors);
  }

  std::vector<std::size_t> ordered(const auto& key) const {
    std::vector<std::size_t> order(result_.values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return key(result_.values[a]) < key(result_.values[b]);
    });
    return order;
  }

  void keep_wanted() {
    std::vector<std::size_t> order = ordered([&](double value) {
      return wants(Which::kSmallest) ? value : wants(Which::kLargest) ? -value : -std::abs(value);
    });
    order.resize(std::min(order.size(), static_cast<std::size_t>(options_.count)));
    take(order);
  }

  void sort() {
    take(ordered([](double value) { return value; }));
  }

  DeviceMatrix::State& matrix_;
  Context& context_;
  const EigenpairOptions& options_;
  const Watch& watch_;
  std::size_t pitch_;
  Buffer<float> mask_;
  EigenParameters parameters_;
  Eigenpairs result_;
  double centre_ = 0;
  double half_width_ = 1;
};

}  // namespace

Eigenpairs eigenpairs(const DeviceMatrix& matrix, const EigenpairOptions& options,
                      const Watch& watch) {
  DeviceMatrix::State& state = matrix.state();
  check(state, options);
  const auto turn = state.turn();
  const Watched watched(state.context(), watch);
  return PairFinder(state, options, watch).find();
}

}  // namespace diacut
