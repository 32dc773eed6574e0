#include "drawn_graph.hpp"

#include "label_checks.hpp"

namespace diacut::testing {

std::vector<std::int32_t> classes_of(const Drawing& drawing) {
  return drawn_labels(drawing).values;
}

Drawing drawing_of(int width, const std::vector<std::int32_t>& labels) {
  return letters({width, 0, 0, labels}, 'a');
}

DrawnGraph::DrawnGraph(const Drawing& drawing, double across, int radius)
    : width_(static_cast<int>(drawing.front().size())), height_(static_cast<int>(drawing.size())) {
  std::string all;
  for (const std::string& row : drawing) all += row;
  const auto pixels = static_cast<Eigen::Index>(all.size());
  weights_ = Eigen::MatrixXd::NullaryExpr(pixels, pixels, [&](Eigen::Index i, Eigen::Index j) {
    const Eigen::Index dx = j % width_ - i % width_;
    const Eigen::Index dy = j / width_ - i / width_;
    const char a = all[static_cast<std::size_t>(i)];
    const char b = all[static_cast<std::size_t>(j)];
    if (a == ' ' || b == ' ' || dx * dx + dy * dy > radius * radius) return 0.0;
    return a == b ? 1.0 : across;
  });
}

Eigenvectors DrawnGraph::eigenvectors(int count) const {
  const Eigen::VectorXd root = weights_.rowwise().sum().cwiseSqrt();
  Eigenvectors result;
  result.width = width_;
  result.height = height_;
  result.sqrt_degree = {root.begin(), root.end()};
  result.report.converged = true;
  std::vector<Eigen::Index> data;
  for (Eigen::Index i = 0; i < root.size(); ++i) {
    if (root[i] > 0) data.push_back(i);
  }
  const auto n = static_cast<Eigen::Index>(data.size());
  if (n == 0) return result;
  const Eigen::VectorXd trivial = root(data).normalized();
  const Eigen::VectorXd inverse = root(data).cwiseInverse();
  // A picture in pieces has several vectors of eigenvalue 0: the trivial one is moved out of their
  // way, beyond the Laplacian's largest eigenvalue.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      Eigen::MatrixXd::Identity(n, n) -
      inverse.asDiagonal() * weights_(data, data) * inverse.asDiagonal() +
      4.0 * trivial * trivial.transpose());
  for (Eigen::Index k = 0; k < std::min<Eigen::Index>(count, n); ++k) {
    const Eigen::VectorXd z = k == 0 ? trivial : solver.eigenvectors().col(k - 1);
    Eigen::Index largest = 0;
    z.cwiseAbs().maxCoeff(&largest);
    Eigen::VectorXf vector = Eigen::VectorXf::Zero(root.size());
    vector(data) = (z[largest] < 0 ? -z : z).cast<float>();
    result.vectors.emplace_back(vector.begin(), vector.end());
    result.values.push_back(k == 0 ? 0.0 : solver.eigenvalues()[k - 1]);
  }
  return result;
}

DrawnGraph::operator AffinityGraph() const {
  std::vector<StencilOffset> later;
  std::vector<float> found;
  for (int dy = 0; dy <= height_; ++dy) {
    for (int dx = dy == 0 ? 1 : -width_; dx <= width_; ++dx) {
      later.push_back({dx, dy});
      for (Eigen::Index i = 0; i < weights_.rows(); ++i) {
        const Eigen::Index x = i % width_ + dx;
        const Eigen::Index y = i / width_ + dy;
        const bool inside = x >= 0 && x < width_ && y < height_;
        found.push_back(inside ? static_cast<float>(weights_(i, y * width_ + x)) : 0.0f);
      }
    }
  }
  return {{width_, height_}, later, found};
}

}  // namespace diacut::testing
