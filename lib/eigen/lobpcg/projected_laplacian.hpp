#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <vector>

#include "eigen/lobpcg/ritz.hpp"

namespace diacut {

/// The matrix [X P]'L [X P] of one image. Since X = S Q and P = S Q_P, it follows from S'L S of the
/// last Rayleigh-Ritz step, and no product L P, nor a dot product with it, is computed.
class ProjectedLaplacian {
 public:
  /// `columns`: of X.
  explicit ProjectedLaplacian(int columns) : columns_(columns) {}

  /// Whether there was a step.
  bool known() const { return matrix_.size() != 0; }
  /// Goes over to other columns P: for each its column in P so far, or -1 for a column of zeros.
  /// Precondition: known().
  void select(std::span<const std::int32_t> directions);
  /// Fills in what the products L W alone do not tell of S'L S, S = [X W P]: its blocks of X and P.
  /// P and W have one column for each direction. Precondition: known().
  void complete(Eigen::MatrixXd& s_ls) const;
  /// The matrix after the step to X = S Q, Q being step.rotation, and P = S Q_P: Q_P has the
  /// columns of Q that `selected` names, without their rows of X.
  void rotate(const Eigen::MatrixXd& s_ls, const RitzStep& step,
              std::span<const std::int32_t> selected);

 private:
  Eigen::Index columns_;
  Eigen::MatrixXd matrix_;
};

/// The Gram matrix `whole` of S = [X W P], `side` by `side`, without the columns of W and P from
/// `selected` on: blocks are as wide as the image with the most columns needs, and how wide that
/// is must not show in any rounding of another image. X has `columns` columns, W and P `width`.
Eigen::MatrixXd gram_of_selected(const std::vector<double>& whole, int side, int columns, int width,
                                 std::size_t selected);

}  // namespace diacut
