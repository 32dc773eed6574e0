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
  const int pixels = width_ * height_;
  weights_ = Eigen::MatrixXd::Zero(pixels, pixels);
  for (int i = 0; i < pixels; ++i) {
    for (int j = 0; j < pixels; ++j) {
      const int dx = j % width_ - i % width_;
      const int dy = j / width_ - i / width_;
      const char a =
          drawing[static_cast<std::size_t>(i / width_)][static_cast<std::size_t>(i % width_)];
      const char b =
          drawing[static_cast<std::size_t>(j / width_)][static_cast<std::size_t>(j % width_)];
      if (a == ' ' || b == ' ' || dx * dx + dy * dy > radius * radius) continue;
      weights_(i, j) = a == b ? 1.0 : across;
    }
  }
}

Eigenvectors DrawnGraph::eigenvectors(int count) const {
  const Eigen::Index pixels = weights_.rows();
  const Eigen::VectorXd root = weights_.rowwise().sum().cwiseSqrt();
  Eigenvectors result;
  result.width = width_;
  result.height = height_;
  result.sqrt_degree.assign(static_cast<std::size_t>(pixels), 0.0f);
  result.report.converged = true;
  std::vector<Eigen::Index> data;
  for (Eigen::Index i = 0; i < pixels; ++i) {
    if (root[i] == 0) continue;
    data.push_back(i);
    result.sqrt_degree[i] = static_cast<float>(root[i]);
  }
  const auto n = static_cast<Eigen::Index>(data.size());
  if (n == 0) return result;
  Eigen::MatrixXd laplacian = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index a = 0; a < n; ++a) {
    for (Eigen::Index b = 0; b < n; ++b) {
      laplacian(a, b) -= weights_(data[a], data[b]) / (root[data[a]] * root[data[b]]);
    }
  }
  Eigen::VectorXd trivial(n);
  for (Eigen::Index a = 0; a < n; ++a) trivial[a] = root[data[a]];
  trivial.normalize();
  const auto add = [&](double value, Eigen::VectorXd z) {
    Eigen::Index largest = 0;
    z.cwiseAbs().maxCoeff(&largest);
    if (z[largest] < 0) z = -z;
    std::vector<float> vector(static_cast<std::size_t>(pixels), 0.0f);
    for (Eigen::Index a = 0; a < n; ++a) vector[data[a]] = static_cast<float>(z[a]);
    result.vectors.push_back(std::move(vector));
    result.values.push_back(value);
  };
  add(0.0, trivial);
  // A picture in pieces has several vectors of eigenvalue 0: the trivial one is moved out of their
  // way, beyond the Laplacian's largest eigenvalue.
  laplacian += 4.0 * trivial * trivial.transpose();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(laplacian);
  for (Eigen::Index k = 0; k + 1 < std::min<Eigen::Index>(count, n); ++k) {
    add(solver.eigenvalues()[k], solver.eigenvectors().col(k));
  }
  return result;
}

void DrawnGraph::product_within(const std::vector<std::int32_t>& region,
                                const std::vector<float>& x, int columns, std::vector<float>& out) {
  const auto width = static_cast<std::size_t>(columns);
  out.assign(region.size() * width, 0.0f);
  for (std::size_t i = 0; i < region.size(); ++i) {
    for (std::size_t c = 0; c < width; ++c) {
      double sum = 0;
      for (std::size_t j = 0; j < region.size(); ++j) {
        if (region[i] != 0 && region[i] == region[j]) {
          sum += weights_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) *
                 static_cast<double>(x[j * width + c]);
        }
      }
      out[i * width + c] = static_cast<float>(sum);
    }
  }
}

const std::vector<float>& DrawnGraph::right() {
  right_.assign(static_cast<std::size_t>(weights_.rows()), 0.0f);
  for (int i = 0; i < weights_.rows(); ++i) {
    if ((i + 1) % width_ != 0) right_[i] = static_cast<float>(weights_(i, i + 1));
  }
  return right_;
}

const std::vector<float>& DrawnGraph::down() {
  down_.assign(static_cast<std::size_t>(weights_.rows()), 0.0f);
  for (int i = 0; i + width_ < weights_.rows(); ++i) {
    down_[i] = static_cast<float>(weights_(i, i + width_));
  }
  return down_;
}

}  // namespace diacut::testing
