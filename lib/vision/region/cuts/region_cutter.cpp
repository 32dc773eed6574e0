#include "region/cuts/region_cutter.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace diacut {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Directions of the basis with less than this share of the largest direction's variance are
/// rounding errors of other directions.
constexpr double kIndependent = 1e-6;

/// The small matrices of a region R, in the basis Y of the whole image's eigenvectors restricted to
/// R, with columns centred on R. D and W are those of R; D without W_ii but in the stiffness, where
/// it cancels.
struct RitzProblem {
  Vector mean;        ///< What was subtracted from each column.
  Matrix mass;        ///< Y^T D Y
  Matrix stiffness;   ///< Y^T (D - W) Y
  Vector first;       ///< Y^T D 1
  double volume = 0;  ///< 1^T D 1
};

/// The values in a row of a block of so many vectors and a 1, as AffinityGraph takes them.
std::size_t stride_of(std::size_t columns) { return std::bit_ceil(columns + 1); }

/// Fills the region's rows of `block`, of stride_of(columns) values each, with its basis y = z /
/// sqrt_degree of that many eigenvectors after the trivial one, centred, and a 1. Returns the
/// means. The basis is centred before the product with W, because (D - W) y then carries no
/// rounding error of the constant.
Vector centre_basis(const Eigenvectors& eigenvectors, std::span<const std::size_t> pixels,
                    std::size_t columns, std::vector<float>& block) {
  const std::size_t stride = stride_of(columns);
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

/// The matrices, as sums over the region's pixels. Rows of `block` hold Y and a 1, rows of
/// `product` W times that; `mean` is what centre_basis() returned; `degrees` by pixel of the image.
RitzProblem ritz_problem(std::span<const std::size_t> pixels, Vector mean,
                         const std::vector<float>& block, const std::vector<float>& product,
                         const std::vector<float>& degrees) {
  constexpr std::size_t kRows = 128;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto columns = static_cast<std::size_t>(mean.size());
  const std::size_t stride = stride_of(columns);
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
      const double degree = degrees[pixels[at + k]];
      const double sum = out[columns];
      problem.volume += degree;
      for (std::size_t c = 0; c < columns; ++c) {
        y(k, c) = in[c];
        dy(k, c) = degree * in[c];
        ly(k, c) = sum * in[c] - out[c];
      }
    }
    problem.mass.noalias() += y.topRows(rows).transpose() * dy.topRows(rows);
    problem.stiffness.noalias() += y.topRows(rows).transpose() * ly.topRows(rows);
    problem.first += dy.topRows(rows).colwise().sum().transpose();
  }
  return problem;
}

/// The coefficients in Y, a column each, of the Ritz vectors with the smallest Ritz values, which
/// are orthogonal in D to the constant vector: at most `wanted`, none if the basis is constant on
/// the region.
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

/// Ritz vectors of each region whose thresholds are tried.
constexpr std::size_t kDirections = 4;
/// Bins of a Ritz vector's values, and how many of their edges are thresholds to try: half of them
/// evenly spaced in value, half in rank.
constexpr std::size_t kFineBins = 4096;
constexpr std::size_t kThresholds = 128;
/// Pixels of a region, spread evenly, by which two cuts are compared, and the most candidates that
/// are kept for about one cut.
constexpr std::size_t kRegionCutterSample = 256;
constexpr std::ptrdiff_t kVariants = 3;

/// The pixels of all regions: region after region, each in scan order.
class PixelLists {
 public:
  PixelLists(const std::vector<std::int32_t>& region, std::int64_t count)
      : start_(static_cast<std::size_t>(count) + 2, 0) {
    for (const std::int32_t r : region) {
      if (r != 0) ++start_[r + 1];
    }
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    pixels_.resize(start_.back());
    std::vector<std::size_t> next = start_;
    for (std::size_t i = 0; i < region.size(); ++i) {
      if (region[i] != 0) pixels_[next[region[i]]++] = i;
    }
  }

  std::span<const std::size_t> of(std::int32_t r) const {
    return std::span(pixels_).subspan(start_[r], start_[r + 1] - start_[r]);
  }

 private:
  std::vector<std::size_t> start_;
  std::vector<std::size_t> pixels_;
};

/// Puts `values` into at most kThresholds bins, some of which may be empty, and returns the number
/// of bins. A threshold lies between each bin and the next.
std::size_t bin_values(std::span<const float> values, std::span<std::uint8_t> bins) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const float origin = *low;
  const float range = *high - origin;
  if (!(range > 0)) {
    std::fill(bins.begin(), bins.end(), std::uint8_t{0});
    return 1;
  }
  const float scale = static_cast<float>(kFineBins) / range;
  const auto fine_bin = [&](float value) {
    return std::min(static_cast<std::size_t>((value - origin) * scale), kFineBins - 1);
  };
  std::array<std::size_t, kFineBins> count{};
  for (const float value : values) ++count[fine_bin(value)];
  // A bin begins where the value, or the rank, passes a multiple of its step.
  std::array<std::uint8_t, kFineBins> coarse{};
  constexpr std::size_t kHalf = kThresholds / 2;
  std::size_t bin = 0;
  std::size_t below = 0;
  std::size_t value_step = 0;
  std::size_t rank_step = 0;
  for (std::size_t fine = 0; fine < kFineBins; ++fine) {
    const std::size_t by_value = fine * kHalf / kFineBins;
    const std::size_t by_rank = below * kHalf / values.size();
    if (by_value != value_step || by_rank != rank_step) ++bin;
    value_step = by_value;
    rank_step = by_rank;
    coarse[fine] = static_cast<std::uint8_t>(bin);
    below += count[fine];
  }
  for (std::size_t p = 0; p < values.size(); ++p) bins[p] = coarse[fine_bin(values[p])];
  return bin + 1;
}

/// One region's affinities between direct neighbours.
class Links {
 public:
  Links(std::span<const std::size_t> pixels, const std::vector<std::int32_t>& region,
        std::size_t width, AffinityGraph& graph)
      : pixels_(pixels),
        region_(region),
        width_(width),
        right_(graph.right()),
        down_(graph.down()) {}

  /// Calls f(i, j, weight) for each pair of direct neighbours.
  template <class F>
  void for_each(const F& f) const {
    for (const std::size_t i : pixels_) {
      const std::size_t below = i + width_;
      if ((i + 1) % width_ != 0 && region_[i + 1] == region_[i]) f(i, i + 1, right_[i]);
      if (below < region_.size() && region_[below] == region_[i]) f(i, below, down_[i]);
    }
  }

  double mean() const {
    double sum = 0;
    double count = 0;
    for_each([&](std::size_t, std::size_t, float weight) {
      sum += weight;
      ++count;
    });
    return count > 0 ? sum / count : 0;
  }

 private:
  std::span<const std::size_t> pixels_;
  const std::vector<std::int32_t>& region_;
  std::size_t width_;
  const std::vector<float>& right_;
  const std::vector<float>& down_;
};

/// The cut of a region between the bins 0..threshold of a direction and those above.
struct Candidate {
  std::size_t direction = 0;
  std::size_t threshold = 0;
  /// The normalized cut by the affinities of direct neighbours alone, by which candidates are
  /// ranked.
  double price = 0;
};

/// What is known of a region before its cuts are compared.
struct RegionView {
  std::span<const std::size_t> pixels;
  double volume = 0;
  Links links;
  double mean_link = 0;
};

/// Adds the thresholds of one direction that are within the limits. `bin` and `degree` by pixel of
/// the image.
void sweep(const RegionView& region, std::span<const std::uint8_t> bin, std::size_t bins,
           const std::vector<float>& degree, const CutLimits& limits, std::size_t direction,
           std::vector<Candidate>& found) {
  std::vector<double> volumes(bins, 0.0);
  std::vector<std::int64_t> sizes(bins, 0);
  for (const std::size_t i : region.pixels) {
    volumes[bin[i]] += degree[i];
    ++sizes[bin[i]];
  }
  // Of what crosses a threshold, the change from the threshold before.
  std::vector<double> cut(bins, 0.0);
  std::vector<std::int64_t> length(bins, 0);
  region.links.for_each([&](std::size_t i, std::size_t j, float weight) {
    if (bin[i] == bin[j]) return;
    const auto [low, high] = std::minmax(bin[i], bin[j]);
    cut[low] += weight;
    cut[high] -= weight;
    ++length[low];
    --length[high];
  });
  double below_volume = 0;
  std::int64_t below = 0;
  double crossing = 0;
  std::int64_t crossed = 0;
  for (std::size_t t = 0; t + 1 < bins; ++t) {
    below_volume += volumes[t];
    below += sizes[t];
    crossing += cut[t];
    crossed += length[t];
    const std::int64_t above = static_cast<std::int64_t>(region.pixels.size()) - below;
    if (sizes[t] == 0 || below < limits.min_side || above < limits.min_side) continue;
    const double flat = region.mean_link * static_cast<double>(crossed);
    if (crossing > limits.max_flatness * flat) continue;
    const double above_volume = region.volume - below_volume;
    if (!(below_volume > 0 && above_volume > 0)) continue;
    found.push_back({direction, t, crossing / below_volume + crossing / above_volume});
  }
}

/// The best candidates, at most `wanted`. Where many candidates stand for about one cut, only a few
/// of them are taken, so that there is room for candidates of other cuts; the normalized cut by all
/// of W chooses among them later.
std::vector<Candidate> best_candidates(std::vector<Candidate> found, std::size_t wanted,
                                       std::span<const std::size_t> pixels,
                                       const std::vector<std::vector<std::uint8_t>>& bins) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.price < b.price; });
  using Side = std::bitset<kRegionCutterSample>;
  std::vector<Candidate> best;
  std::vector<Side> sides;
  for (const Candidate& candidate : found) {
    if (best.size() == wanted) break;
    Side side;
    for (std::size_t s = 0; s < kRegionCutterSample; ++s) {
      const std::size_t i = pixels[s * pixels.size() / kRegionCutterSample];
      side[s] = bins[candidate.direction][i] > candidate.threshold;
    }
    if (side.count() > kRegionCutterSample / 2) side.flip();
    const std::ptrdiff_t alike = std::count_if(sides.begin(), sides.end(), [&](const Side& other) {
      return 4 * (side ^ other).count() <= std::min(side.count(), other.count());
    });
    if (alike >= kVariants) continue;
    best.push_back(candidate);
    sides.push_back(side);
  }
  return best;
}

/// A cut with its cost by all of W.
struct Cut {
  std::size_t column = 0;  ///< The indicator's column in the block.
  bool above = false;      ///< Whether the indicator is 1 on the lighter side.
  double crossing = 0;
  double ncut = 0;
  double volume = 0;      ///< The lighter side's volume.
  std::int64_t size = 0;  ///< The lighter side's pixels.
};

/// The normalized cuts of a region's indicators, cheapest first. Rows of `block` hold the
/// indicators, rows of `inside` W times those.
std::vector<Cut> normalized_cuts(const RegionView& region, std::size_t count, std::size_t stride,
                                 const std::vector<float>& block, const std::vector<float>& inside,
                                 const std::vector<float>& degree) {
  std::vector<double> above(count, 0.0);
  std::vector<double> size(count, 0.0);
  std::vector<double> crossing(count, 0.0);
  for (const std::size_t i : region.pixels) {
    const float* in = &block[i * stride];
    const float* out = &inside[i * stride];
    for (std::size_t c = 0; c < count; ++c) {
      above[c] += in[c] * degree[i];
      size[c] += in[c];
      crossing[c] += (1.0f - in[c]) * out[c];
    }
  }
  std::vector<Cut> cuts;
  for (std::size_t c = 0; c < count; ++c) {
    const double below = region.volume - above[c];
    Cut cut;
    cut.column = c;
    cut.above = above[c] <= below;
    cut.crossing = crossing[c];
    cut.ncut = crossing[c] / above[c] + crossing[c] / below;
    cut.volume = std::min(above[c], below);
    cut.size = static_cast<std::int64_t>(size[c]);
    if (!cut.above) cut.size = static_cast<std::int64_t>(region.pixels.size()) - cut.size;
    if (cut.volume > 0) cuts.push_back(cut);
  }
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const Cut& a, const Cut& b) { return a.ncut < b.ncut; });
  return cuts;
}

/// Whether a cut of what is left of a region, the pixels with piece 0, follows a boundary.
template <class Side>
bool follows_boundary(const RegionView& region, const std::vector<std::uint8_t>& piece,
                      double max_flatness, const Side& side) {
  double crossing = 0;
  double crossed = 0;
  region.links.for_each([&](std::size_t i, std::size_t j, float weight) {
    if (piece[i] != 0 || piece[j] != 0 || side(i) == side(j)) return;
    crossing += weight;
    ++crossed;
  });
  return crossing <= max_flatness * region.mean_link * crossed;
}

/// Takes off the lighter sides of a region's cuts, cheapest first, as long as they do not overlap
/// and the cut of what is then left stays within the limits.
void take_off(const RegionView& region, const std::vector<Cut>& cuts, std::size_t stride,
              const std::vector<float>& block, const CutLimits& limits,
              std::vector<std::uint8_t>& piece) {
  double rest = region.volume;
  auto rest_size = static_cast<std::int64_t>(region.pixels.size());
  int made = 0;
  for (const Cut& cut : cuts) {
    if (made == limits.max_cuts) return;
    rest -= cut.volume;
    rest_size -= cut.size;
    const auto taken_off = [&](std::size_t i) {
      return (block[i * stride + cut.column] != 0) == cut.above;
    };
    const bool allowed =
        made == 0 || (rest_size >= limits.min_side && rest > 0 &&
                      cut.crossing / cut.volume + cut.crossing / rest <= limits.max_ncut &&
                      follows_boundary(region, piece, limits.max_flatness, taken_off) &&
                      std::none_of(region.pixels.begin(), region.pixels.end(),
                                   [&](std::size_t i) { return piece[i] != 0 && taken_off(i); }));
    if (!allowed) {
      rest += cut.volume;
      rest_size += cut.size;
      continue;
    }
    ++made;
    for (const std::size_t i : region.pixels) {
      if (taken_off(i)) piece[i] = static_cast<std::uint8_t>(made);
    }
  }
}

/// The cuts of all regions that are worth comparing by all of W.
struct Candidates {
  std::vector<RegionView> views;                  ///< By region (index 0 is unused).
  std::vector<std::vector<Candidate>> of_region;  ///< By region (index 0 is unused).
  std::vector<std::vector<std::uint8_t>> bins;    ///< By direction: the bin of each pixel.
};

/// The candidates of one region. `view` is the region's; `block` and `product` hold its basis and
/// W times that, in rows of stride_of(columns) values. Writes the region's bins.
std::vector<Candidate> find_candidates(const RegionView& view, const RitzProblem& problem,
                                       const std::vector<float>& block, std::size_t columns,
                                       const std::vector<float>& degree, const CutLimits& limits,
                                       std::size_t wanted,
                                       std::vector<std::vector<std::uint8_t>>& bins) {
  const std::span<const std::size_t> pixels = view.pixels;
  const Eigen::MatrixXf coefficients = ritz_vectors(problem, kDirections).cast<float>();
  std::vector<float> values(pixels.size());
  std::vector<std::uint8_t> value_bins(pixels.size());
  std::vector<Candidate> found;
  for (Eigen::Index k = 0; k < coefficients.cols(); ++k) {
    const float* coefficient = coefficients.col(k).data();
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      const float* row = &block[pixels[p] * stride_of(columns)];
      values[p] = std::inner_product(row, row + columns, coefficient, 0.0f);
    }
    const std::size_t used = bin_values(values, value_bins);
    for (std::size_t p = 0; p < pixels.size(); ++p) bins[k][pixels[p]] = value_bins[p];
    sweep(view, bins[k], used, degree, limits, static_cast<std::size_t>(k), found);
  }
  return best_candidates(std::move(found), wanted, pixels, bins);
}

/// Fills `block`, in rows of `stride` values, with one column for each candidate of a pixel's
/// region: 1 above the candidate's threshold, 0 below.
void fill_indicators(const Candidates& candidates, std::size_t stride, std::vector<float>& block) {
  std::fill(block.begin(), block.end(), 0.0f);
  for (std::size_t r = 1; r < candidates.views.size(); ++r) {
    for (const std::size_t i : candidates.views[r].pixels) {
      for (std::size_t c = 0; c < candidates.of_region[r].size(); ++c) {
        const Candidate& candidate = candidates.of_region[r][c];
        if (candidates.bins[candidate.direction][i] > candidate.threshold) {
          block[i * stride + c] = 1.0f;
        }
      }
    }
  }
}

}  // namespace

RegionCuts best_cuts(const Eigenvectors& eigenvectors, AffinityGraph& graph,
                     const std::vector<std::int32_t>& region, std::int64_t count,
                     const CutLimits& limits) {
  const auto regions = static_cast<std::size_t>(count) + 1;
  const auto width = static_cast<std::size_t>(eigenvectors.width);
  const std::size_t pixels_of_image = region.size();
  RegionCuts cuts;
  cuts.ncut.assign(regions, RegionCuts::kNone);
  cuts.piece.assign(pixels_of_image, 0);
  // The trivial eigenvector is constant on every region. One column of a product is needed for the
  // degrees; eigenvectors beyond the others say little about large regions.
  const std::size_t nontrivial = std::max<std::size_t>(eigenvectors.vectors.size(), 1) - 1;
  const auto columns = std::min(nontrivial, static_cast<std::size_t>(graph.max_columns()) - 1);
  if (columns == 0) return cuts;
  const PixelLists lists(region, count);

  std::vector<Vector> means(regions);
  std::size_t stride = stride_of(columns);
  std::vector<float> block(pixels_of_image * stride, 0.0f);
  std::vector<float> product;
  for (std::int32_t r = 1; r <= count; ++r) {
    means[r] = centre_basis(eigenvectors, lists.of(r), columns, block);
  }
  graph.product_within(region, block, static_cast<int>(stride), product);
  std::vector<float> degree(pixels_of_image);
  for (std::size_t i = 0; i < degree.size(); ++i) {
    degree[i] = std::max(0.0f, product[i * stride + columns] - 1.0f);
  }

  const auto wanted = static_cast<std::size_t>(graph.max_columns());
  Candidates candidates{{{{}, 0, Links({}, region, width, graph), 0}},
                        std::vector<std::vector<Candidate>>(regions),
                        {kDirections, std::vector<std::uint8_t>(pixels_of_image)}};
  for (std::int32_t r = 1; r <= count; ++r) {
    const std::span<const std::size_t> pixels = lists.of(r);
    const RitzProblem problem = ritz_problem(pixels, std::move(means[r]), block, product, degree);
    const Links links(pixels, region, width, graph);
    candidates.views.push_back({pixels, problem.volume, links, links.mean()});
    if (static_cast<std::int64_t>(pixels.size()) < 2 * limits.min_side) continue;
    candidates.of_region[r] = find_candidates(candidates.views[r], problem, block, columns, degree,
                                              limits, wanted, candidates.bins);
  }

  stride = wanted;
  block.resize(pixels_of_image * stride);
  fill_indicators(candidates, stride, block);
  graph.product_within(region, block, static_cast<int>(stride), product);
  for (std::int32_t r = 1; r <= count; ++r) {
    const std::vector<Cut> found = normalized_cuts(
        candidates.views[r], candidates.of_region[r].size(), stride, block, product, degree);
    if (found.empty() || found.front().ncut > limits.max_ncut) continue;
    cuts.ncut[r] = found.front().ncut;
    take_off(candidates.views[r], found, stride, block, limits, cuts.piece);
  }
  return cuts;
}

}  // namespace diacut
