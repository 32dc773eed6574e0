#include "region/region_ritz.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace diacut {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Directions of the basis with less than this share of the largest direction's variance are
/// rounding errors of other directions.
constexpr double kIndependent = 1e-6;

}  // namespace

Vector centre_basis(const Eigenvectors& eigenvectors, std::span<const std::size_t> pixels,
                    std::size_t columns, std::vector<float>& block) {
  const std::size_t stride = columns + 1;
  Vector mean = Vector::Zero(columns);
  for (const std::size_t i : pixels) {
    float* row = &block[i * stride];
    const float scale = 1.0f / eigenvectors.sqrt_degree[i];
    for (std::size_t c = 0; c < columns; ++c) row[c] = eigenvectors.vectors[c + 1][i] * scale;
    for (std::size_t c = 0; c < columns; ++c) mean[c] += row[c];
    row[columns] = 1.0f;
  }
  mean /= static_cast<double>(pixels.size());
  for (const std::size_t i : pixels) {
    float* row = &block[i * stride];
    for (std::size_t c = 0; c < columns; ++c) row[c] = static_cast<float>(row[c] - mean[c]);
  }
  return mean;
}

RitzProblem ritz_problem(std::span<const std::size_t> pixels, Vector mean,
                         const std::vector<float>& block, const std::vector<float>& product) {
  constexpr std::size_t kRows = 128;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto columns = static_cast<std::size_t>(mean.size());
  const std::size_t stride = columns + 1;
  RitzProblem problem;
  problem.mean = std::move(mean);
  problem.mass = Matrix::Zero(columns, columns);
  problem.stiffness = Matrix::Zero(columns, columns);
  problem.first = Vector::Zero(columns);
  Rows y(kRows, columns);
  Rows dy(kRows, columns);
  Rows ly(kRows, columns);
  for (std::size_t at = 0; at < pixels.size(); at += kRows) {
    const std::size_t rows = std::min(kRows, pixels.size() - at);
    for (std::size_t k = 0; k < rows; ++k) {
      const float* in = &block[pixels[at + k] * stride];
      const float* out = &product[pixels[at + k] * stride];
      const double degree = out[columns];
      problem.volume += degree;
      for (std::size_t c = 0; c < columns; ++c) {
        y(k, c) = in[c];
        dy(k, c) = degree * in[c];
        ly(k, c) = degree * in[c] - out[c];
      }
    }
    problem.mass.noalias() += y.topRows(rows).transpose() * dy.topRows(rows);
    problem.stiffness.noalias() += y.topRows(rows).transpose() * ly.topRows(rows);
    problem.first += dy.topRows(rows).colwise().sum().transpose();
  }
  return problem;
}

Matrix ritz_vectors(const RitzProblem& problem, std::size_t wanted) {
  const Eigen::Index n = problem.mean.size();
  if (!(problem.volume > 0)) return Matrix(n, 0);
  const Vector weighted_mean = problem.first / problem.volume;
  const Matrix covariance =
      problem.mass / problem.volume - weighted_mean * weighted_mean.transpose();
  Vector scale(n);
  for (Eigen::Index c = 0; c < n; ++c) {
    // A column that differs from its mean by rounding errors alone tells nothing of the region.
    const double noise = 1e-6 * std::abs(problem.mean[c]);
    const double variance = covariance(c, c);
    scale[c] = variance > noise * noise ? 1.0 / std::sqrt(variance) : 0.0;
  }
  const Matrix correlation = scale.asDiagonal() * covariance * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Matrix> independent(correlation);
  const Vector& size = independent.eigenvalues();
  if (!(size[n - 1] > 0)) return Matrix(n, 0);
  Eigen::Index dropped = 0;
  while (size[dropped] <= kIndependent * size[n - 1]) ++dropped;
  const Eigen::Index kept = n - dropped;
  const Matrix white = scale.asDiagonal() * independent.eigenvectors().rightCols(kept) *
                       size.tail(kept).cwiseSqrt().cwiseInverse().asDiagonal();
  const Matrix reduced = white.transpose() * problem.stiffness * white;
  const Eigen::SelfAdjointEigenSolver<Matrix> ritz(reduced);
  const auto most = static_cast<Eigen::Index>(wanted);
  return white * ritz.eigenvectors().leftCols(std::min(most, kept));
}

}  // namespace diacut
