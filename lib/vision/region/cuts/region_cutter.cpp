#include "region/cuts/region_cutter.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "core/parallel.hpp"
#include "eigen/dense/symmetric_eigenpairs.hpp"
#include "region/arcs/borders.hpp"

namespace diacut {

namespace {

constexpr std::size_t kStride = RegionCutter::kStride;

/// Neighbouring pixels of one row that belong to one region.
struct Run {
  std::size_t begin = 0;  ///< Pixel of the image.
  std::size_t end = 0;
  std::size_t at = 0;  ///< The pixels of the region before it, in scan order.
};

/// The pixels of a region, in scan order.
struct Pixels {
  std::span<const Run> runs;
  std::size_t count = 0;

  template <class F>
  void for_each(const F& f) const {
    for (const Run& run : runs) {
      for (std::size_t i = run.begin; i < run.end; ++i) f(i);
    }
  }
};

class PixelLists {
 public:
  PixelLists(const std::vector<std::int32_t>& region, std::int64_t count, std::size_t width)
      : start_(static_cast<std::size_t>(count) + 2, 0), pixels_(start_.size(), 0) {
    for_each_run(region, width, [&](std::int32_t r, std::size_t, std::size_t) { ++start_[r + 1]; });
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    runs_.resize(start_.back());
    std::vector<std::size_t> next = start_;
    for_each_run(region, width, [&](std::int32_t r, std::size_t begin, std::size_t end) {
      runs_[next[r]++] = {begin, end, pixels_[r]};
      pixels_[r] += end - begin;
    });
  }

  Pixels of(std::int32_t r) const {
    return {std::span(runs_).subspan(start_[r], start_[r + 1] - start_[r]), pixels_[r]};
  }

 private:
  template <class F>
  static void for_each_run(const std::vector<std::int32_t>& region, std::size_t width, const F& f) {
    for (std::size_t row = 0; row < region.size(); row += width) {
      each_run(std::span(region).subspan(row, width),
               [&](std::int32_t r, std::size_t begin, std::size_t end) {
                 if (r != 0) f(r, row + begin, row + end);
               });
    }
  }

  std::vector<std::size_t> start_;
  std::vector<std::size_t> pixels_;
  std::vector<Run> runs_;
};

/// Runs of a piece of a region, at least. Pieces do not depend on the number of cores.
constexpr std::size_t kLeastRuns = 16;
/// Calls work(piece) for pieces of a region, in parallel.
template <class Work>
void in_pieces(const Pixels& pixels, const Work& work) {
  parallel_ranges(pixels.runs.size(), kLeastRuns, [&](std::size_t begin, std::size_t end) {
    work(Pixels{pixels.runs.subspan(begin, end - begin), 0});
  });
}

/// The sum of what add(sum, pixels) adds up for pieces of a region, in their order.
template <class Sum, class Add>
Sum sum_of_pieces(const Pixels& pixels, const Sum& zero, const Add& add) {
  auto sums = results_of_ranges(pixels.runs.size(), kLeastRuns, [&](auto begin, auto end) {
    Sum sum = zero;
    add(sum, Pixels{pixels.runs.subspan(begin, end - begin), 0});
    return sum;
  });
  Sum total = std::move(sums.front());
  for (std::size_t k = 1; k < sums.size(); ++k) total += sums[k];
  return total;
}

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Directions of the basis with less than this share of the largest direction's variance are
/// rounding errors of other directions.
constexpr double kIndependent = 1e-6;

/// The small matrices of a region R, in the basis Y of the whole image's eigenvectors restricted to
/// R, with columns centred on R. D and W are those of R.
struct RitzProblem {
  Vector mean;        ///< What was subtracted from each column.
  Matrix mass;        ///< Y^T D Y
  Matrix stiffness;   ///< Y^T (D - W) Y
  Vector first;       ///< Y^T D 1
  double volume = 0;  ///< 1^T D 1

  RitzProblem& operator+=(const RitzProblem& other) {
    mass += other.mass;
    stiffness += other.stiffness;
    first += other.first;
    volume += other.volume;
    return *this;
  }
};

/// The means of the first `columns` columns of the rows of `basis` that are the region's.
Vector means_of(const Pixels& pixels, std::size_t columns, const std::vector<float>& basis) {
  const Vector sum =
      sum_of_pieces<Vector>(pixels, Vector::Zero(columns), [&](Vector& part, const Pixels& piece) {
        piece.for_each([&](std::size_t i) {
          for (std::size_t c = 0; c < columns; ++c) part[c] += basis[i * kStride + c];
        });
      });
  return sum / static_cast<double>(pixels.count);
}

/// Rows of `basis` hold Y, rows of `laplacian` (D - W) Y.
RitzProblem ritz_problem(const Pixels& pixels, std::size_t columns, const std::vector<float>& basis,
                         const std::vector<float>& laplacian, const std::vector<double>& degree) {
  constexpr std::size_t kRows = 128;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Vector mean = means_of(pixels, columns, basis);
  const RitzProblem zero{mean, Matrix::Zero(columns, columns), Matrix::Zero(columns, columns),
                         Vector::Zero(columns), 0};
  return sum_of_pieces(pixels, zero, [&](RitzProblem& problem, const Pixels& piece) {
    Rows y(kRows, columns);
    Rows dy(kRows, columns);
    Rows ly(kRows, columns);
    std::size_t rows = 0;
    const auto add = [&] {
      problem.mass.noalias() += y.topRows(rows).transpose() * dy.topRows(rows);
      problem.stiffness.noalias() += y.topRows(rows).transpose() * ly.topRows(rows);
      problem.first += dy.topRows(rows).colwise().sum().transpose();
      rows = 0;
    };
    piece.for_each([&](std::size_t i) {
      for (std::size_t c = 0; c < columns; ++c) {
        y(rows, c) = basis[i * kStride + c] - mean[c];
        dy(rows, c) = degree[i] * y(rows, c);
        ly(rows, c) = laplacian[i * kStride + c];
      }
      problem.volume += degree[i];
      if (++rows == kRows) add();
    });
    add();
  });
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
    // A column that differs from its mean by rounding errors alone says nothing of the region.
    const double noise = 1e-6 * std::abs(problem.mean[c]);
    const double variance = covariance(c, c);
    scale[c] = variance > noise * noise ? 1.0 / std::sqrt(variance) : 0.0;
  }
  const Matrix correlation = scale.asDiagonal() * covariance * scale.asDiagonal();
  const SymmetricEigenpairs independent = symmetric_eigenpairs(correlation);
  const Vector& size = independent.values;
  if (!(size[n - 1] > 0)) return Matrix(n, 0);
  Eigen::Index dropped = 0;
  while (size[dropped] <= kIndependent * size[n - 1]) ++dropped;
  const Eigen::Index kept = n - dropped;
  const Matrix white = scale.asDiagonal() * independent.vectors.rightCols(kept) *
                       size.tail(kept).cwiseSqrt().cwiseInverse().asDiagonal();
  const Matrix reduced = white.transpose() * problem.stiffness * white;
  const SymmetricEigenpairs ritz = symmetric_eigenpairs(reduced);
  const auto most = static_cast<Eigen::Index>(wanted);
  return white * ritz.vectors.leftCols(std::min(most, kept));
}

/// Ritz vectors of each region whose thresholds are tried.
constexpr std::size_t kDirections = 4;
/// Bins of a Ritz vector's values, and how many of their edges are thresholds to try: half of them
/// evenly spaced in value, half in rank.
constexpr std::size_t kFineBins = 4096;
constexpr std::size_t kThresholds = 128;
/// The most cuts of a region that are compared by all of W, a bit of a pixel's mask each.
constexpr std::size_t kCandidates = 16;
/// Pixels of a region, spread evenly, by which two cuts are compared, and the most candidates that
/// are kept for about one cut.
constexpr std::size_t kRegionCutterSample = 256;
constexpr std::ptrdiff_t kVariants = 3;

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

/// What cuts of one region are made from.
struct RegionView {
  Pixels pixels;
  const std::vector<std::int32_t>& region;
  const AffinityGraph& graph;
  const std::vector<double>& degree;
  double volume = 0;
  double mean_link = 0;

  /// Calls f(i, j, weight) for each pair of direct neighbours of the region in these pixels of it,
  /// i being one of them.
  template <class F>
  void for_each_link(const Pixels& some, const F& f) const {
    const auto width = static_cast<std::size_t>(graph.grid().width);
    const std::span<const float> right = graph.right();
    const std::span<const float> down = graph.down();
    for (const Run& run : some.runs) {
      for (std::size_t i = run.begin; i < run.end; ++i) {
        const std::size_t below = i + width;
        if (i + 1 < run.end) f(i, i + 1, right[i]);
        if (below < region.size() && region[below] == region[i]) f(i, below, down[i]);
      }
    }
  }
};

/// Affinities of direct neighbours.
struct LinkSum {
  double weight = 0;
  double count = 0;

  void add(double each) {
    weight += each;
    ++count;
  }
  LinkSum& operator+=(const LinkSum& other) {
    weight += other.weight;
    count += other.count;
    return *this;
  }
};

double mean_link(const RegionView& view) {
  const LinkSum sum =
      sum_of_pieces(view.pixels, LinkSum(), [&](LinkSum& part, const Pixels& piece) {
        view.for_each_link(piece, [&](std::size_t, std::size_t, float w) { part.add(w); });
      });
  return sum.count > 0 ? sum.weight / sum.count : 0;
}

/// The cut of a region between the bins 0..threshold of a direction and those above.
struct Candidate {
  std::size_t direction = 0;
  std::size_t threshold = 0;
  /// The normalized cut by the affinities of direct neighbours alone, by which candidates are
  /// ranked.
  double price = 0;
};

/// The thresholds of one direction that are within the limits. `bin` by pixel of the image.
std::vector<Candidate> sweep(const RegionView& view, const std::vector<std::uint8_t>& bin,
                             std::size_t bins, const CutLimits& limits, std::size_t direction) {
  std::vector<double> volumes(bins, 0.0);
  std::vector<std::int64_t> sizes(bins, 0);
  view.pixels.for_each([&](std::size_t i) {
    volumes[bin[i]] += view.degree[i];
    ++sizes[bin[i]];
  });
  // Of what crosses a threshold, the change from the threshold before.
  std::vector<double> cut(bins, 0.0);
  std::vector<std::int64_t> length(bins, 0);
  view.for_each_link(view.pixels, [&](std::size_t i, std::size_t j, float weight) {
    if (bin[i] == bin[j]) return;
    const auto [low, high] = std::minmax(bin[i], bin[j]);
    cut[low] += weight;
    cut[high] -= weight;
    ++length[low];
    --length[high];
  });
  std::vector<Candidate> found;
  double below_volume = 0;
  std::int64_t below = 0;
  double crossing = 0;
  std::int64_t crossed = 0;
  for (std::size_t t = 0; t + 1 < bins; ++t) {
    below_volume += volumes[t];
    below += sizes[t];
    crossing += cut[t];
    crossed += length[t];
    const std::int64_t above = static_cast<std::int64_t>(view.pixels.count) - below;
    if (sizes[t] == 0 || below < limits.min_side || above < limits.min_side) continue;
    const double flat = view.mean_link * static_cast<double>(crossed);
    if (crossing > limits.max_flatness * flat) continue;
    const double above_volume = view.volume - below_volume;
    if (!(below_volume > 0 && above_volume > 0)) continue;
    found.push_back({direction, t, crossing / below_volume + crossing / above_volume});
  }
  return found;
}

/// Bins of all pixels of the image, by direction.
using Bins = std::array<std::vector<std::uint8_t>, kDirections>;

/// The best candidates, at most kCandidates. Where many candidates stand for about one cut, only a
/// few of them are taken, so that there is room for candidates of other cuts; the normalized cut by
/// all of W chooses among them later.
std::vector<Candidate> best_candidates(std::vector<Candidate> found, const Pixels& pixels,
                                       const Bins& bins) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.price < b.price; });
  std::array<std::size_t, kRegionCutterSample> sample{};
  auto run = pixels.runs.begin();
  for (std::size_t s = 0; s < sample.size(); ++s) {
    const std::size_t at = s * pixels.count / sample.size();
    while (at >= run->at + (run->end - run->begin)) ++run;
    sample[s] = run->begin + (at - run->at);
  }
  using Side = std::bitset<kRegionCutterSample>;
  std::vector<Candidate> best;
  std::vector<Side> sides;
  for (const Candidate& candidate : found) {
    if (best.size() == kCandidates) break;
    Side side;
    for (std::size_t s = 0; s < sample.size(); ++s) {
      side[s] = bins[candidate.direction][sample[s]] > candidate.threshold;
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

/// The candidates of one region. Rows of `basis` hold the problem's basis before it was centred.
/// Writes the bins of the region's pixels.
std::vector<Candidate> find_candidates(const RegionView& view, const RitzProblem& problem,
                                       const std::vector<float>& basis, const CutLimits& limits,
                                       Bins& bins) {
  const Pixels& pixels = view.pixels;
  const Eigen::MatrixXf coefficients = ritz_vectors(problem, kDirections).cast<float>();
  const auto directions = static_cast<std::size_t>(coefficients.cols());
  std::array<std::vector<float>, kDirections> values;
  for (std::size_t k = 0; k < directions; ++k) values[k].resize(pixels.count);
  in_pieces(pixels, [&](const Pixels& piece) {
    Eigen::VectorXf row(problem.mean.size());
    std::size_t p = piece.runs.empty() ? 0 : piece.runs.front().at;
    piece.for_each([&](std::size_t i) {
      for (Eigen::Index c = 0; c < row.size(); ++c) {
        row[c] =
            static_cast<float>(basis[i * kStride + static_cast<std::size_t>(c)] - problem.mean[c]);
      }
      for (std::size_t k = 0; k < directions; ++k) {
        values[k][p] = row.dot(coefficients.col(static_cast<Eigen::Index>(k)));
      }
      ++p;
    });
  });
  std::array<std::vector<Candidate>, kDirections> found;
  parallel_for(directions, [&](std::size_t k) {
    std::vector<std::uint8_t> own(pixels.count);
    const std::size_t used = bin_values(values[k], own);
    std::size_t p = 0;
    pixels.for_each([&](std::size_t i) { bins[k][i] = own[p++]; });
    found[k] = sweep(view, bins[k], used, limits, k);
  });
  std::vector<Candidate> all;
  for (const std::vector<Candidate>& each : found) all.insert(all.end(), each.begin(), each.end());
  return best_candidates(std::move(all), pixels, bins);
}

/// A cut with its cost by all of W.
struct Cut {
  std::size_t column = 0;  ///< The bit of masks that has its sides.
  bool above = false;      ///< Whether the bit is 1 on the lighter side.
  double crossing = 0;
  double ncut = 0;
  double volume = 0;      ///< The lighter side's volume.
  std::int64_t size = 0;  ///< The lighter side's pixels.
};

template <class F>
void for_each_bit(unsigned mask, const F& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::size_t>(std::countr_zero(mask)));
}

/// Volume and size of the side of each candidate cut where its bit is 1, and the weight that
/// crosses the cut.
struct Sides {
  std::array<double, kCandidates> volume{};
  std::array<std::int64_t, kCandidates> size{};
  std::array<double, kCandidates> crossing{};

  Sides& operator+=(const Sides& other) {
    for (std::size_t c = 0; c < kCandidates; ++c) {
      volume[c] += other.volume[c];
      size[c] += other.size[c];
      crossing[c] += other.crossing[c];
    }
    return *this;
  }
};

/// The normalized cuts of the first `count` bits of the region's masks, cheapest first.
std::vector<Cut> normalized_cuts(const RegionView& view, std::size_t count,
                                 const std::vector<std::uint16_t>& masks) {
  const std::uint16_t* const mask = masks.data();
  const Sides sides = sum_of_pieces(view.pixels, Sides(), [&](Sides& part, const Pixels& piece) {
    piece.for_each([&](std::size_t i) {
      for_each_bit(mask[i], [&](std::size_t c) {
        part.volume[c] += view.degree[i];
        ++part.size[c];
      });
    });
    for (const Run& run : piece.runs) {
      view.graph.for_each_later(
          run.begin, run.end,
          [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t step,
              const float* weights) {
            const std::size_t bytes = static_cast<std::size_t>(last - first) * sizeof(*mask);
            if (std::memcmp(mask + first, mask + first + step, bytes) == 0) return;
            for (std::ptrdiff_t i = first; i < last; ++i) {
              const unsigned differs = mask[i] ^ mask[i + step];
              if (differs == 0 || view.region[i] != view.region[i + step]) continue;
              for_each_bit(differs, [&](std::size_t c) { part.crossing[c] += weights[i - first]; });
            }
          });
    }
  });
  std::vector<Cut> cuts;
  for (std::size_t c = 0; c < count; ++c) {
    const double below = view.volume - sides.volume[c];
    Cut cut;
    cut.column = c;
    cut.above = sides.volume[c] <= below;
    cut.crossing = sides.crossing[c];
    cut.ncut = cut.crossing / sides.volume[c] + cut.crossing / below;
    cut.volume = std::min(sides.volume[c], below);
    cut.size = sides.size[c];
    if (!cut.above) cut.size = static_cast<std::int64_t>(view.pixels.count) - cut.size;
    if (cut.volume > 0) cuts.push_back(cut);
  }
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const Cut& a, const Cut& b) { return a.ncut < b.ncut; });
  return cuts;
}

/// Whether a cut of what is left of a region, the pixels with piece 0, follows a boundary.
template <class Side>
bool follows_boundary(const RegionView& view, const std::vector<std::uint8_t>& piece,
                      double max_flatness, const Side& side) {
  const LinkSum crossing =
      sum_of_pieces(view.pixels, LinkSum(), [&](LinkSum& part, const Pixels& some) {
        view.for_each_link(some, [&](std::size_t i, std::size_t j, float weight) {
          if (piece[i] == 0 && piece[j] == 0 && side(i) != side(j)) part.add(weight);
        });
      });
  return crossing.weight <= max_flatness * view.mean_link * crossing.count;
}

/// Takes off the lighter sides of a region's cuts, cheapest first, as long as they do not overlap
/// and the cut of what is then left stays within the limits.
void take_off(const RegionView& view, const std::vector<Cut>& cuts,
              const std::vector<std::uint16_t>& masks, const CutLimits& limits,
              std::vector<std::uint8_t>& piece) {
  double rest = view.volume;
  auto rest_size = static_cast<std::int64_t>(view.pixels.count);
  int made = 0;
  for (const Cut& cut : cuts) {
    if (made == limits.max_cuts) return;
    rest -= cut.volume;
    rest_size -= cut.size;
    const auto taken_off = [&](std::size_t i) {
      return ((masks[i] >> cut.column & 1) != 0) == cut.above;
    };
    const auto overlaps = [&] {
      return std::any_of(view.pixels.runs.begin(), view.pixels.runs.end(), [&](const Run& run) {
        for (std::size_t i = run.begin; i < run.end; ++i) {
          if (piece[i] != 0 && taken_off(i)) return true;
        }
        return false;
      });
    };
    const bool allowed =
        made == 0 || (rest_size >= limits.min_side && rest > 0 &&
                      cut.crossing / cut.volume + cut.crossing / rest <= limits.max_ncut &&
                      !overlaps() && follows_boundary(view, piece, limits.max_flatness, taken_off));
    if (!allowed) {
      rest += cut.volume;
      rest_size += cut.size;
      continue;
    }
    ++made;
    view.pixels.for_each([&](std::size_t i) {
      if (taken_off(i)) piece[i] = static_cast<std::uint8_t>(made);
    });
  }
}

/// Elements of a range for parallel_ranges(), and of what stays in the cache while all neighbours
/// are visited.
constexpr std::size_t kRange = 2048;
constexpr std::size_t kBlock = 256;

}  // namespace

RegionCutter::RegionCutter(const Eigenvectors& eigenvectors, const AffinityGraph& graph)
    : graph_(graph),
      columns_(std::min(kColumns, std::max<std::size_t>(eigenvectors.vectors.size(), 1) - 1)) {
  const std::size_t pixels = graph.grid().rows();
  basis_.assign(pixels * kStride, 0.0f);
  laplacian_.assign(pixels * kStride, 0.0f);
  degree_.assign(pixels, 0.0);
  parallel_ranges(pixels, kRange, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!(eigenvectors.sqrt_degree[i] > 0)) continue;
      const float scale = 1.0f / eigenvectors.sqrt_degree[i];
      for (std::size_t c = 0; c < columns_; ++c) {
        basis_[i * kStride + c] = eigenvectors.vectors[c + 1][i] * scale;
      }
    }
  });
  const auto add = [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t step,
                       const float* weights) {
    for (std::ptrdiff_t i = first; i < last; ++i) {
      const float weight = weights[i - first];
      const float* const own = &basis_[static_cast<std::size_t>(i) * kStride];
      const float* const other = &basis_[static_cast<std::size_t>(i + step) * kStride];
      float* const sum = &laplacian_[static_cast<std::size_t>(i) * kStride];
      for (std::size_t c = 0; c < kStride; ++c) sum[c] += weight * (own[c] - other[c]);
      degree_[i] += weight;
    }
  };
  parallel_ranges(pixels, kRange, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += kBlock) {
      graph.for_each_neighbour(at, std::min(at + kBlock, end), add);
    }
  });
}

void RegionCutter::restrict_to(const std::vector<std::int32_t>& region) {
  region_laplacian_.resize(laplacian_.size());
  region_degree_.resize(degree_.size());
  parallel_ranges(region.size(), kRange, [&](std::size_t begin, std::size_t end) {
    std::copy(&laplacian_[begin * kStride], laplacian_.data() + end * kStride,
              &region_laplacian_[begin * kStride]);
    std::copy(&degree_[begin], degree_.data() + end, &region_degree_[begin]);
    graph_.for_each_parted(region, begin, end, [&](std::size_t i, std::size_t j, float weight) {
      for (std::size_t c = 0; c < kStride; ++c) {
        region_laplacian_[i * kStride + c] -=
            weight * (basis_[i * kStride + c] - basis_[j * kStride + c]);
      }
      region_degree_[i] -= weight;
    });
  });
}

RegionCuts RegionCutter::best_cuts(const std::vector<std::int32_t>& region, std::int64_t count,
                                   const CutLimits& limits) {
  const auto regions = static_cast<std::size_t>(count) + 1;
  RegionCuts cuts;
  cuts.ncut.assign(regions, RegionCuts::kNone);
  cuts.piece.assign(region.size(), 0);
  // The trivial eigenvector is constant on every region.
  if (columns_ == 0) return cuts;
  restrict_to(region);
  const PixelLists lists(region, count, static_cast<std::size_t>(graph_.grid().width));

  std::vector<RegionView> views(regions, RegionView{{}, region, graph_, region_degree_, 0, 0});
  std::vector<std::size_t> candidates(regions, 0);
  Bins bins;
  for (std::vector<std::uint8_t>& each : bins) each.resize(region.size());
  above_.assign(region.size(), 0);
  const auto each_region = [&](const auto& work) {
    parallel_for(static_cast<int>(count), [&](int r) { work(r + 1); });
  };
  each_region([&](std::int32_t r) {
    RegionView& view = views[r];
    view.pixels = lists.of(r);
    if (static_cast<std::int64_t>(view.pixels.count) < 2 * limits.min_side) return;
    const RitzProblem problem =
        ritz_problem(view.pixels, columns_, basis_, region_laplacian_, region_degree_);
    view.volume = problem.volume;
    view.mean_link = mean_link(view);
    const std::vector<Candidate> found = find_candidates(view, problem, basis_, limits, bins);
    candidates[r] = found.size();
    in_pieces(view.pixels, [&](const Pixels& piece) {
      piece.for_each([&](std::size_t i) {
        unsigned mask = 0;
        for (std::size_t c = 0; c < found.size(); ++c) {
          mask |= unsigned{bins[found[c].direction][i] > found[c].threshold} << c;
        }
        above_[i] = static_cast<std::uint16_t>(mask);
      });
    });
  });
  each_region([&](std::int32_t r) {
    const std::vector<Cut> found = normalized_cuts(views[r], candidates[r], above_);
    if (found.empty() || found.front().ncut > limits.max_ncut) return;
    cuts.ncut[r] = found.front().ncut;
    take_off(views[r], found, above_, limits, cuts.piece);
  });
  return cuts;
}

}  // namespace diacut
