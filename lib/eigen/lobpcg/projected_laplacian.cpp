#include "eigen/lobpcg/projected_laplacian.hpp"

#include <cstddef>
#include <numeric>

namespace diacut {

void ProjectedLaplacian::select(std::span<const std::int32_t> directions) {
  std::vector<Eigen::Index> from(static_cast<std::size_t>(columns_));
  std::iota(from.begin(), from.end(), 0);
  for (const std::int32_t direction : directions) {
    from.push_back(direction < 0 ? -1 : columns_ + direction);
  }
  const auto side = static_cast<Eigen::Index>(from.size());
  matrix_ =
      Eigen::MatrixXd::NullaryExpr(side, side, [&, old = matrix_](Eigen::Index i, Eigen::Index j) {
        const Eigen::Index row = from[static_cast<std::size_t>(i)];
        const Eigen::Index column = from[static_cast<std::size_t>(j)];
        return row < 0 || column < 0 ? 0 : old(row, column);
      });
}

void ProjectedLaplacian::complete(Eigen::MatrixXd& s_ls) const {
  const Eigen::Index directions = matrix_.rows() - columns_;
  const Eigen::Index p = columns_ + directions;
  s_ls.topLeftCorner(columns_, columns_) = matrix_.topLeftCorner(columns_, columns_);
  if (directions == 0) return;
  s_ls.block(0, p, columns_, directions) = matrix_.topRightCorner(columns_, directions);
  s_ls.block(p, 0, directions, columns_) = matrix_.bottomLeftCorner(directions, columns_);
  s_ls.block(p, p, directions, directions) = matrix_.bottomRightCorner(directions, directions);
}

void ProjectedLaplacian::rotate(const Eigen::MatrixXd& s_ls, const RitzStep& step,
                                std::span<const std::int32_t> selected) {
  const Eigen::Index side = s_ls.rows();
  const auto directions = static_cast<Eigen::Index>(selected.size());
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> q(
      step.rotation.data(), side, columns_);
  Eigen::MatrixXd both = Eigen::MatrixXd::Zero(side, columns_ + directions);  // [Q Q_P]
  both.leftCols(columns_) = q.cast<double>();
  for (Eigen::Index k = 0; k < directions; ++k) {
    both.col(columns_ + k).tail(side - columns_) =
        both.col(selected[static_cast<std::size_t>(k)]).tail(side - columns_);
  }
  matrix_ = both.transpose() * s_ls * both;
}

Eigen::MatrixXd gram_of_selected(const std::vector<double>& whole, int side, int columns, int width,
                                 std::size_t selected) {
  std::vector<Eigen::Index> from(static_cast<std::size_t>(columns));
  std::iota(from.begin(), from.end(), 0);
  for (Eigen::Index block = columns; block < side; block += width) {
    for (std::size_t i = 0; i < selected; ++i) {
      from.push_back(block + static_cast<Eigen::Index>(i));
    }
  }
  return Eigen::Map<const Eigen::MatrixXd>(whole.data(), side, side)(from, from);
}

}  // namespace diacut
