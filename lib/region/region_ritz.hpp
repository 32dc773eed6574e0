#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>
#include <vector>

#include "diacut/segmenter.hpp"

namespace diacut {

/// The small matrices of a region R, in the basis Y of the whole image's eigenvectors restricted to
/// R, with columns centred on R. D and W are those of R.
struct RitzProblem {
  Eigen::VectorXd mean;       ///< What was subtracted from each column.
  Eigen::MatrixXd mass;       ///< Y^T D Y
  Eigen::MatrixXd stiffness;  ///< Y^T (D - W) Y
  Eigen::VectorXd first;      ///< Y^T D 1
  double volume = 0;          ///< 1^T D 1
};

/// Fills the region's rows of `block`, of columns + 1 values each, with its basis y = z /
/// sqrt_degree of that many eigenvectors after the trivial one, centred, and a 1. Returns the
/// means. The basis is centred before the product with W, because (D - W) y then carries no
/// rounding error of the constant.
Eigen::VectorXd centre_basis(const Eigenvectors& eigenvectors, std::span<const std::size_t> pixels,
                             std::size_t columns, std::vector<float>& block);

/// The matrices, as sums over the region's pixels. Rows of `block` hold Y and a 1, rows of
/// `product` W times that; `mean` is what centre_basis() returned.
RitzProblem ritz_problem(std::span<const std::size_t> pixels, Eigen::VectorXd mean,
                         const std::vector<float>& block, const std::vector<float>& product);

/// The coefficients in Y, a column each, of the Ritz vectors with the smallest Ritz values, which
/// are orthogonal in D to the constant vector: at most `wanted`, none if the basis is constant on
/// the region.
Eigen::MatrixXd ritz_vectors(const RitzProblem& problem, std::size_t wanted);

}  // namespace diacut
