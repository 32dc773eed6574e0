#include "region/two_way_cut.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace diacut {

namespace {

/// Eigenvectors used at most, the trivial one not counted: further ones cost products and say
/// little about large parts.
constexpr int kMaxBasis = 32;
/// Ritz vectors of each region whose thresholds are tried.
constexpr int kDirections = 3;
/// Thresholds of each Ritz vector, half of them evenly spaced in value and half in rank.
constexpr std::size_t kThresholds = 127;
/// Directions of the restricted basis with less than this share of the largest one's variance are
/// rounding errors of the others.
constexpr double kIndependent = 1e-6;

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using RowBlock = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The pixels of each region, in scan order, behind each other.
struct PixelLists {
  std::vector<std::size_t> start;  ///< Region r: pixels[start[r]] to pixels[start[r + 1]].
  std::vector<std::size_t> pixels;

  PixelLists(const std::vector<std::int32_t>& region, std::int32_t count)
      : start(static_cast<std::size_t>(count) + 2, 0) {
    for (const std::int32_t r : region) {
      if (r != 0) ++start[r + 1];
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    pixels.resize(start.back());
    std::vector<std::size_t> next = start;
    for (std::size_t i = 0; i < region.size(); ++i) {
      if (region[i] != 0) pixels[next[region[i]]++] = i;
    }
  }

  std::span<const std::size_t> of(std::int32_t r) const {
    return std::span(pixels).subspan(start[r], start[r + 1] - start[r]);
  }
};

/// A region's small matrices in the basis, centred on the pixels' plain mean.
struct RitzProblem {
  Vector mean;        ///< Of each column over the region's pixels, subtracted from it.
  Matrix mass;        ///< Y^T D Y
  Vector first;       ///< Y^T D 1
  Matrix stiffness;   ///< Y^T (D - W) Y
  double volume = 0;  ///< 1^T D 1
};

/// Coefficients (columns) of the Ritz vectors of the smallest Ritz values, orthogonal to the
/// constant one; at most `wanted`, none if the basis is constant on the region.
Matrix ritz_vectors(const RitzProblem& problem, int wanted) {
  const Eigen::Index n = problem.mean.size();
  if (n == 0 || problem.volume <= 0) return Matrix(n, 0);
  // Orthogonal to the constant in the inner product of D.
  const Matrix mass =
      problem.mass / problem.volume -
      (problem.first / problem.volume) * (problem.first / problem.volume).transpose();
  Vector scale(n);
  for (Eigen::Index c = 0; c < n; ++c) {
    // A column that differs from its mean by rounding only says nothing.
    const double noise = 1e-6 * std::abs(problem.mean[c]);
    const double variance = mass(c, c);
    scale[c] = variance > noise * noise && variance > 0 ? 1.0 / std::sqrt(variance) : 0.0;
  }
  const Matrix correlation = scale.asDiagonal() * mass * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Matrix> independent(correlation);
  const Vector& size = independent.eigenvalues();
  Eigen::Index dropped = 0;
  while (dropped < n && size[dropped] <= kIndependent * size[n - 1]) ++dropped;
  const Eigen::Index kept = n - dropped;
  if (kept == 0 || size[n - 1] <= 0) return Matrix(n, 0);
  const Matrix white = scale.asDiagonal() * independent.eigenvectors().rightCols(kept) *
                       size.tail(kept).cwiseSqrt().cwiseInverse().asDiagonal();
  Matrix reduced = white.transpose() * problem.stiffness * white;
  reduced = 0.5 * (reduced + reduced.transpose()).eval();
  const Eigen::SelfAdjointEigenSolver<Matrix> ritz(reduced);
  return white * ritz.eigenvectors().leftCols(std::min<Eigen::Index>(wanted, kept));
}

/// A threshold of a Ritz vector: the pixels above it are one side.
struct Candidate {
  double price = 0;  ///< The normalized cut of the links between direct neighbours: a ranking.
  int direction = 0;
  std::size_t index = 0;  ///< Of the threshold in its direction.
  float threshold = 0;
};

/// Thresholds of `values`, ascending, half evenly spaced in value and half in rank.
std::vector<float> thresholds_of(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  std::vector<float> thresholds;
  const float low = values.front();
  const float high = values.back();
  constexpr std::size_t kHalf = kThresholds / 2;
  for (std::size_t t = 1; t <= kHalf; ++t) {
    thresholds.push_back(low + (high - low) * static_cast<float>(t) / (kHalf + 1));
    thresholds.push_back(values[values.size() * t / (kHalf + 1)]);
  }
  std::sort(thresholds.begin(), thresholds.end());
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  while (!thresholds.empty() && thresholds.back() >= high) thresholds.pop_back();
  return thresholds;
}

}  // namespace

TwoWayCutter::TwoWayCutter(const Eigenvectors& eigenvectors, AffinityGraph& graph)
    : graph_(graph),
      image_width_(static_cast<std::size_t>(eigenvectors.width)),
      pixels_(eigenvectors.sqrt_degree.size()) {
  const int nontrivial = static_cast<int>(eigenvectors.vectors.size()) - 1;
  columns_ = std::clamp(nontrivial, 0, kMaxBasis);
  basis_.assign(pixels_ * static_cast<std::size_t>(columns_), 0.0f);
  for (int c = 0; c < columns_; ++c) {
    const std::vector<float>& z = eigenvectors.vectors[static_cast<std::size_t>(c) + 1];
    for (std::size_t i = 0; i < pixels_; ++i) {
      if (eigenvectors.sqrt_degree[i] > 0) {
        basis_[i * static_cast<std::size_t>(columns_) + c] = z[i] / eigenvectors.sqrt_degree[i];
      }
    }
  }
}

TwoWayCuts TwoWayCutter::best_cuts(const std::vector<std::int32_t>& region, std::int32_t count,
                                   std::int64_t min_side) {
  const auto columns = static_cast<std::size_t>(columns_);
  const auto width = static_cast<std::size_t>(graph_.max_columns());
  const PixelLists lists(region, count);
  TwoWayCuts cuts;
  cuts.ncut.assign(static_cast<std::size_t>(count) + 1, TwoWayCuts::kNoCut);
  cuts.side.assign(pixels_, 0);
  if (columns == 0) return cuts;

  std::vector<float> degree;
  {
    std::vector<float> ones(pixels_, 1.0f);
    graph_.product_within(region, ones, 1, degree);
  }

  // Small matrices of every region. Columns are centred before the product: what is left of
  // (D - W) y then carries no rounding error of the constant.
  std::vector<RitzProblem> problems(static_cast<std::size_t>(count) + 1);
  std::vector<float> centred(pixels_ * columns, 0.0f);
  for (std::int32_t r = 1; r <= count; ++r) {
    RitzProblem& problem = problems[r];
    problem.mean = Vector::Zero(columns_);
    for (const std::size_t i : lists.of(r)) {
      for (std::size_t c = 0; c < columns; ++c) problem.mean[c] += basis_[i * columns + c];
    }
    problem.mean /= static_cast<double>(lists.of(r).size());
    for (const std::size_t i : lists.of(r)) {
      for (std::size_t c = 0; c < columns; ++c) {
        centred[i * columns + c] = static_cast<float>(basis_[i * columns + c] - problem.mean[c]);
      }
    }
  }
  std::vector<float> product(pixels_ * columns, 0.0f);
  std::vector<float> block;
  std::vector<float> block_product;
  for (std::size_t from = 0; from < columns; from += width) {
    const std::size_t taken = std::min(width, columns - from);
    block.resize(pixels_ * taken);
    for (std::size_t i = 0; i < pixels_; ++i) {
      std::copy_n(&centred[i * columns + from], taken, &block[i * taken]);
    }
    graph_.product_within(region, block, static_cast<int>(taken), block_product);
    for (std::size_t i = 0; i < pixels_; ++i) {
      std::copy_n(&block_product[i * taken], taken, &product[i * columns + from]);
    }
  }
  constexpr std::size_t kRows = 256;
  RowBlock y(kRows, columns);
  RowBlock dy(kRows, columns);
  RowBlock ly(kRows, columns);
  for (std::int32_t r = 1; r <= count; ++r) {
    RitzProblem& problem = problems[r];
    problem.mass = Matrix::Zero(columns_, columns_);
    problem.stiffness = Matrix::Zero(columns_, columns_);
    problem.first = Vector::Zero(columns_);
    const std::span<const std::size_t> pixels = lists.of(r);
    for (std::size_t at = 0; at < pixels.size(); at += kRows) {
      const std::size_t rows = std::min(kRows, pixels.size() - at);
      for (std::size_t k = 0; k < rows; ++k) {
        const std::size_t i = pixels[at + k];
        const double d = degree[i];
        problem.volume += d;
        for (std::size_t c = 0; c < columns; ++c) {
          const double value = centred[i * columns + c];
          y(k, c) = value;
          dy(k, c) = d * value;
          ly(k, c) = d * value - product[i * columns + c];
        }
      }
      problem.mass.noalias() += y.topRows(rows).transpose() * dy.topRows(rows);
      problem.stiffness.noalias() += y.topRows(rows).transpose() * ly.topRows(rows);
      problem.first += dy.topRows(rows).colwise().sum().transpose();
    }
  }

  // Candidates of every region, ranked by the links between direct neighbours.
  const std::vector<float>& right = graph_.right();
  const std::vector<float>& down = graph_.down();
  const std::size_t image_width = image_width_;
  std::vector<float> ritz(pixels_ * kDirections, 0.0f);
  std::vector<std::vector<Candidate>> candidates(static_cast<std::size_t>(count) + 1);
  std::vector<std::uint16_t> bin(pixels_, 0);
  for (std::int32_t r = 1; r <= count; ++r) {
    const std::span<const std::size_t> pixels = lists.of(r);
    if (static_cast<std::int64_t>(pixels.size()) < 2 * min_side) continue;
    const Matrix coefficients = ritz_vectors(problems[r], kDirections);
    std::vector<Candidate> found;
    for (int k = 0; k < coefficients.cols(); ++k) {
      const Eigen::VectorXf weights = coefficients.col(k).cast<float>();
      std::vector<float> values;
      values.reserve(pixels.size());
      for (const std::size_t i : pixels) {
        float value = 0;
        for (std::size_t c = 0; c < columns; ++c) value += weights[c] * centred[i * columns + c];
        ritz[i * kDirections + k] = value;
        values.push_back(value);
      }
      const std::vector<float> thresholds = thresholds_of(values);
      const std::size_t bins = thresholds.size() + 1;
      std::vector<double> volume(bins, 0.0);
      std::vector<std::int64_t> size(bins, 0);
      std::vector<double> cut(bins + 1, 0.0);
      for (std::size_t p = 0; p < pixels.size(); ++p) {
        const auto at = std::lower_bound(thresholds.begin(), thresholds.end(), values[p]);
        const std::size_t i = pixels[p];
        bin[i] = static_cast<std::uint16_t>(at - thresholds.begin());
        volume[bin[i]] += degree[i];
        ++size[bin[i]];
      }
      const auto add_link = [&](std::size_t i, std::size_t j, float weight) {
        if (region[j] != r) return;
        const auto [low, high] = std::minmax(bin[i], bin[j]);
        cut[low] += weight;
        cut[high] -= weight;
      };
      for (const std::size_t i : pixels) {
        if ((i + 1) % image_width != 0) add_link(i, i + 1, right[i]);
        if (i + image_width < pixels_) add_link(i, i + image_width, down[i]);
      }
      double below_volume = 0;
      std::int64_t below_size = 0;
      double crossing = 0;
      for (std::size_t t = 0; t < thresholds.size(); ++t) {
        below_volume += volume[t];
        below_size += size[t];
        crossing += cut[t];
        const std::int64_t above = static_cast<std::int64_t>(pixels.size()) - below_size;
        if (below_size < min_side || above < min_side) continue;
        const double price =
            crossing * (1.0 / below_volume + 1.0 / (problems[r].volume - below_volume));
        found.push_back({price, k, t, thresholds[t]});
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.price < b.price; });
    std::vector<Candidate>& chosen = candidates[r];
    for (const Candidate& candidate : found) {
      if (chosen.size() == width) break;
      const bool near = std::any_of(chosen.begin(), chosen.end(), [&](const Candidate& other) {
        return other.direction == candidate.direction &&
               std::max(other.index, candidate.index) - std::min(other.index, candidate.index) < 2;
      });
      if (!near) chosen.push_back(candidate);
    }
  }

  // Their normalized cuts, exactly.
  block.assign(pixels_ * width, 0.0f);
  for (std::int32_t r = 1; r <= count; ++r) {
    for (const std::size_t i : lists.of(r)) {
      for (std::size_t c = 0; c < candidates[r].size(); ++c) {
        const Candidate& candidate = candidates[r][c];
        block[i * width + c] = ritz[i * kDirections + candidate.direction] > candidate.threshold;
      }
    }
  }
  graph_.product_within(region, block, static_cast<int>(width), block_product);
  for (std::int32_t r = 1; r <= count; ++r) {
    std::size_t best = 0;
    for (std::size_t c = 0; c < candidates[r].size(); ++c) {
      double crossing = 0;
      double above = 0;
      for (const std::size_t i : lists.of(r)) {
        if (block[i * width + c] != 0) {
          above += degree[i];
        } else {
          crossing += block_product[i * width + c];
        }
      }
      const double below = problems[r].volume - above;
      const double ncut = crossing / above + crossing / below;
      if (ncut < cuts.ncut[r]) {
        cuts.ncut[r] = ncut;
        best = c;
      }
    }
    if (cuts.ncut[r] == TwoWayCuts::kNoCut) continue;
    for (const std::size_t i : lists.of(r)) {
      cuts.side[i] = block[i * width + best] != 0 ? 1 : 0;
    }
  }
  return cuts;
}

}  // namespace diacut
