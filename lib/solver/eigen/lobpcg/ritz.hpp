#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

namespace diacut {

/// The result of a Rayleigh-Ritz step over a basis S = [X W P], whose column 0 is the trivial
/// eigenvector of A, to the eigenvalue 1: that one stays as it is, and all Ritz vectors are
/// orthogonal to it.
struct RitzStep {
  /// Ritz values of A, descending, the trivial one (1) first; 0 where S spans too little.
  std::vector<double> values;
  /// Q, row-major, one row for each column of S and `columns` columns: S Q are the Ritz vectors.
  std::vector<float> rotation;
  int found = 0;  ///< Ritz vectors beside the trivial one; the columns of Q after them are zero.
};

/// The largest `columns` - 1 Ritz pairs of A in the span of S, orthogonal to the trivial vector:
/// S'AS q = theta S'S q, solved on the host. `gram` = S'S and `product` = S'AS; the first `columns`
/// columns of S are X. Columns may be zero or depend on others, up to the rounding errors of float
/// vectors. Columns that `skipped` names are left out; it has one flag for each column, or none.
/// Throws NumericalError if a matrix is not finite.
RitzStep solve_ritz(const Eigen::MatrixXd& gram, const Eigen::MatrixXd& product, int columns,
                    const std::vector<bool>& skipped = {});

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
