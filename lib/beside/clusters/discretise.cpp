#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>

#include "clusters/clusters.hpp"

namespace diacut {

namespace {

using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows that are read at once, so that they and their product stay in the cache.
constexpr std::size_t kBlock = 512;
/// The most rows that the rotation is found from, spread evenly: it has k^2 numbers alone.
constexpr std::size_t kSample = 40'000;
constexpr int kMaxIterations = 100;

/// Row r of the result: the values of y = z / sqrt_degree at nodes[r], to unit length.
RowMatrix unit_rows(const std::vector<std::vector<float>>& vectors,
                    const std::vector<float>& sqrt_degree, const std::size_t* nodes,
                    std::size_t count) {
  RowMatrix rows(count, vectors.size());
  for (std::size_t c = 0; c < vectors.size(); ++c) {
    for (std::size_t r = 0; r < count; ++r) {
      rows(r, c) = vectors[c][nodes[r]] / sqrt_degree[nodes[r]];
    }
  }
  for (std::size_t r = 0; r < count; ++r) {
    const float norm = rows.row(r).norm();
    if (norm > 0) rows.row(r) /= norm;
  }
  return rows;
}

/// Columns that are rows of x as nearly orthogonal as can be: the first is the row nearest to the
/// mean direction, each further one the row least aligned with those chosen (Yu and Shi, step 4).
RowMatrix initial_rotation(const RowMatrix& x) {
  const Eigen::Index k = x.cols();
  const Eigen::VectorXf mean = x.colwise().sum().transpose();
  Eigen::Index chosen = 0;
  (x * mean).maxCoeff(&chosen);
  RowMatrix rotation(k, k);
  Eigen::VectorXf alignment = Eigen::VectorXf::Zero(x.rows());
  for (Eigen::Index c = 0; c < k; ++c) {
    rotation.col(c) = x.row(chosen).transpose();
    alignment += (x * rotation.col(c)).cwiseAbs();
    alignment.minCoeff(&chosen);
  }
  return rotation;
}

/// The column of the largest value in each row of x * rotation.
void nearest_indicator(const Eigen::Ref<const RowMatrix>& x, const RowMatrix& rotation,
                       RowMatrix& product, std::int32_t* classes) {
  product.noalias() = x * rotation;
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    Eigen::Index largest = 0;
    product.row(r).maxCoeff(&largest);
    classes[r] = static_cast<std::int32_t>(largest);
  }
}

RowMatrix best_rotation(const RowMatrix& x) {
  const Eigen::Index k = x.cols();
  RowMatrix rotation = initial_rotation(x);
  RowMatrix product;
  std::vector<std::int32_t> classes(kBlock);
  double objective = 0;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    // Sums of the rows of each class: the indicator's product with x.
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(k, k);
    for (Eigen::Index at = 0; at < x.rows(); at += kBlock) {
      const auto block = x.middleRows(at, std::min<Eigen::Index>(kBlock, x.rows() - at));
      nearest_indicator(block, rotation, product, classes.data());
      for (Eigen::Index r = 0; r < block.rows(); ++r) {
        sums.row(classes[r]) += block.row(r).cast<double>();
      }
    }
    // BDCSVD, quicker for hundreds of clusters, takes 20 seconds to compile.
    const Eigen::JacobiSVD<Eigen::MatrixXd, Eigen::NoQRPreconditioner> svd(
        sums, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const double reached = svd.singularValues().sum();
    if (std::abs(reached - objective) <= std::numeric_limits<float>::epsilon() * reached) break;
    objective = reached;
    rotation = (svd.matrixV() * svd.matrixU().transpose()).cast<float>();
  }
  return rotation;
}

}  // namespace

std::vector<std::int32_t> discretise(const std::vector<std::vector<float>>& vectors,
                                     const std::vector<float>& sqrt_degree) {
  std::vector<std::int32_t> result(sqrt_degree.size(), 0);
  std::vector<std::size_t> nodes;  // But isolated ones.
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (sqrt_degree[i] > 0) nodes.push_back(i);
  }
  if (vectors.size() < 2) {
    for (const std::size_t i : nodes) result[i] = 1;
    return result;
  }
  const std::size_t step = (nodes.size() + kSample - 1) / kSample;
  std::vector<std::size_t> sample;
  for (std::size_t r = 0; r < nodes.size(); r += step) sample.push_back(nodes[r]);
  const RowMatrix rotation =
      best_rotation(unit_rows(vectors, sqrt_degree, sample.data(), sample.size()));

  RowMatrix product;
  std::vector<std::int32_t> classes(kBlock);
  for (std::size_t at = 0; at < nodes.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, nodes.size() - at);
    nearest_indicator(unit_rows(vectors, sqrt_degree, nodes.data() + at, count), rotation, product,
                      classes.data());
    for (std::size_t r = 0; r < count; ++r) result[nodes[at + r]] = classes[r] + 1;
  }
  return result;
}

}  // namespace diacut
