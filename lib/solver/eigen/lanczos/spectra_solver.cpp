#include <Eigen/Core>
#include <algorithm>

#include "eigen/solvers.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <Spectra/SymEigsSolver.h>
#pragma GCC diagnostic pop

namespace diacut {

namespace {

/// A with the trivial eigenvector's eigenvalue moved from 1 to -1, below all that is wanted.
class DeflatedOperator {
 public:
  using Scalar = double;

  DeflatedOperator(Context& context, DeviceOperator& op, Eigen::VectorXd trivial,
                   const Watch& watch, int max_products)
      : op_(op),
        trivial_(std::move(trivial)),
        watch_(watch),
        max_products_(max_products),
        in_(context.allocate<float>(op.rows(), "a vector")),
        out_(context.allocate<float>(op.rows(), "a vector")),
        host_(op.rows()) {}

  Eigen::Index rows() const { return static_cast<Eigen::Index>(op_.rows()); }
  Eigen::Index cols() const { return rows(); }

  void perform_op(const double* x, double* y) const {
    std::copy(x, x + host_.size(), host_.begin());
    in_.upload(host_);
    op_.perform_op(in_, out_);
    out_.download(std::span<float>(host_));
    std::copy(host_.begin(), host_.end(), y);
    const Eigen::Map<const Eigen::VectorXd> in(x, rows());
    Eigen::Map<Eigen::VectorXd>(y, rows()) -= 2 * trivial_.dot(in) * trivial_;
    ++count_;
    watch_.report("eigenvectors", std::min(0.99, static_cast<double>(count_) / max_products_));
  }

 private:
  DeviceOperator& op_;
  Eigen::VectorXd trivial_;
  const Watch& watch_;
  int max_products_;
  mutable Buffer<float> in_;
  mutable Buffer<float> out_;
  mutable std::vector<float> host_;
  mutable std::int64_t count_ = 0;
};

}  // namespace

DeviceEigenvectors spectra_lanczos(Context& context, DeviceOperator& op,
                                   const NormalizedMatrix& matrix, std::size_t elements,
                                   const EigenParameters& parameters, const Watch& watch) {
  const auto n = static_cast<Eigen::Index>(matrix.rows());
  const std::vector<float> sqrt_degree = matrix.sqrt_degree().download();
  const Eigen::VectorXd degrees =
      Eigen::Map<const Eigen::VectorXf>(sqrt_degree.data(), n).cast<double>();
  const Eigen::VectorXd trivial = degrees.normalized();

  const auto most = static_cast<Eigen::Index>(elements) - 1;
  const Eigen::Index wanted = std::min<Eigen::Index>(parameters.vectors - 1, most - 1);
  const Eigen::Index basis = std::min<Eigen::Index>(
      parameters.basis != 0 ? parameters.basis : std::max<Eigen::Index>(2 * wanted + 3, 35), most);
  DeflatedOperator deflated(context, op, trivial, watch, parameters.max_products);
  Spectra::SymEigsSolver<DeflatedOperator> solver(deflated, wanted, basis);

  // The fixed pattern of its own start vector, on the elements that have data.
  Eigen::VectorXd begin = Spectra::SimpleRandom<double>(0).random_vec(n);
  begin = (degrees.array() > 0).select(begin, 0.0);
  begin -= trivial.dot(begin) * trivial;
  solver.init(begin.data());
  // One restart costs basis - wanted products at most.
  const Eigen::Index restarts = std::max<Eigen::Index>(
      1, parameters.max_products / std::max<Eigen::Index>(1, basis - wanted));
  const Eigen::Index found = solver.compute(Spectra::SortRule::LargestAlge, restarts,
                                            parameters.tolerance, Spectra::SortRule::LargestAlge);

  DeviceEigenvectors result;
  result.report.solver = "spectra";
  result.report.converged = solver.info() == Spectra::CompInfo::Successful;
  result.report.restarts = static_cast<int>(solver.num_iterations());
  result.count = 1 + static_cast<int>(found);
  Eigen::MatrixXf columns = Eigen::MatrixXf::Zero(matrix.shape().pitch, result.count);
  columns.col(0).head(n) = trivial.cast<float>();
  columns.topRightCorner(n, found) = solver.eigenvectors(found).cast<float>();
  result.basis = context.allocate<float>(columns.size(), "eigenvectors");
  result.basis.upload(std::span<const float>(columns.data(), columns.size()));
  return result;
}

}  // namespace diacut
