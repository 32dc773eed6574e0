#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluate/ground_truth.hpp"

/// Boundary scores of D. Martin, C. Fowlkes and J. Malik, 2004, as the Berkeley benchmark (P.
/// Arbelaez, M. Maire, C. Fowlkes, J. Malik, 2011) computes them.
namespace diacut {

/// Matches the boundary pixels of two masks one to one, within a distance, at the least cost. The
/// cost is the sum of the distances of matched pixels plus half the cost of an outlier for each
/// unmatched pixel. This is the assignment of D. Martin, C. Fowlkes and J. Malik, "Learning to
/// detect natural image boundaries", 2004, solved exactly.
///
/// The mask of the ground truth is fixed. The mask that was found may change, and a call takes time
/// only for the pixels that changed: the matching is kept as a pair of optimal primal and dual
/// solutions of the linear program
///   minimise   sum of d(t, f) over matched pairs + outlier / 2 for each unmatched pixel
///   maximise   sum of all duals  with  dual(t) + dual(f) <= d(t, f),  dual <= outlier / 2,
/// to which a pixel is added, and from which it is removed, by one shortest augmenting path (J.
/// Edmonds and R. M. Karp, 1972; G. A. Mills-Tettey, A. Stentz and M. B. Dias, "The dynamic
/// Hungarian algorithm", 2007). Distances are whole multiples of 2^-20 pixels, so sums are exact.
class BoundaryMatcher {
 public:
  /// `truth` has width * height values, row by row; a boundary pixel is not 0. Pixels at most
  /// `max_distance` > 0 pixels apart can be matched; an outlier costs 100 times max_distance.
  BoundaryMatcher(std::span<const std::uint8_t> truth, int width, int height, double max_distance);

  /// Matches the mask that was found, width * height values, to the truth.
  void match(std::span<const std::uint8_t> found);

  std::int64_t matched() const { return matched_; }  ///< The number of matched pairs.
  /// Whether the found boundary pixel `pixel` (y * width + x) is matched.
  bool is_matched(std::size_t pixel) const { return mate_[kFound][framed(pixel)] != kNone; }

 private:
  friend struct MatcherCheck;  // Of the tests.
  using Index = std::int32_t;  ///< A pixel of a grid with a frame as wide as the distance.
  using Cost = std::int64_t;
  enum Side : std::uint8_t { kTruth = 0, kFound = 1 };
  static constexpr Index kNone = -1;
  static constexpr double kUnitsPerPixel = 1 << 20;

  struct Neighbour {
    Index step;
    Cost cost;
  };
  struct Visit {
    Cost cost;
    Index node;
  };

  static Side other(Side side) { return side == kTruth ? kFound : kTruth; }
  std::size_t framed(std::size_t pixel) const {
    return (pixel / width_ + reach_) * stride_ + pixel % width_ + reach_;
  }
  void insert(Side side, Index node);
  void reach_end(Side side, Index start, Index end, bool end_is_free);

  std::size_t width_;
  std::size_t height_;
  std::size_t reach_;
  std::size_t stride_;
  Cost half_outlier_;
  std::vector<Neighbour> neighbours_;  ///< In ascending order of cost.
  std::int64_t matched_ = 0;

  // For each side and pixel: whether it is a boundary pixel, its partner, its dual.
  std::array<std::vector<std::uint8_t>, 2> present_;
  std::array<std::vector<Index>, 2> mate_;
  std::array<std::vector<Cost>, 2> dual_;

  // The search for a shortest path, for pixels of the side opposite to where it starts.
  std::vector<std::uint32_t> seen_;  ///< The number of the last search that reached a pixel.
  std::vector<Cost> cost_to_;
  std::vector<Index> from_;
  std::uint32_t search_ = 0;
  std::vector<Visit> queue_;
  std::vector<Visit> settled_;
};

/// The greatest distance at which pixels can be matched, as a share of the diagonal of the image.
inline constexpr double kMatchShare = 0.0075;

/// `count` thresholds, evenly spaced: 1 / (count + 1), 2 / (count + 1), ...
std::vector<double> spaced_thresholds(int count);

/// Counts of boundary pixels over the annotators of one image, or over several images.
struct BoundaryCounts {
  std::int64_t truth_matched = 0;  ///< Matched pixels of the truth, summed over annotators.
  std::int64_t truth = 0;          ///< Pixels of the truth, summed over annotators.
  std::int64_t found_matched = 0;  ///< Found pixels that match the truth of an annotator.
  std::int64_t found = 0;          ///< Found pixels.

  double recall() const;     ///< truth_matched / truth; 0 if there is no truth.
  double precision() const;  ///< found_matched / found; 0 if nothing was found.
  double f() const;          ///< The harmonic mean of both; 0 if both are 0.
  BoundaryCounts& operator+=(const BoundaryCounts& other);
};

/// The counts of a boundary map at each threshold: pixels of at least the threshold are thinned and
/// matched to the boundaries of each annotator. `strength` is the map, of the size of the truth.
/// Precondition: ascending thresholds.
std::vector<BoundaryCounts> match_boundaries(std::span<const double> strength,
                                             const GroundTruth& truth,
                                             std::span<const double> thresholds);

/// The counts of a mask of boundary pixels, which is thinned and matched as at one threshold.
BoundaryCounts match_boundaries(std::span<const std::uint8_t> boundaries, const GroundTruth& truth);

struct BoundaryPoint {
  double threshold = 0;
  double recall = 0;
  double precision = 0;
  double f = 0;
};

/// The point of the curve with the largest F; of equal ones the first. The curve is interpolated at
/// 100 points between neighbouring thresholds. Precondition: curve.size() == thresholds.size()
/// >= 1.
BoundaryPoint best_point(std::span<const BoundaryCounts> curve, std::span<const double> thresholds);

struct BoundarySummary {
  std::vector<BoundaryCounts> curve;  ///< Counts summed over the images.
  BoundaryPoint ods;                  ///< The best single threshold for all images.
  BoundaryPoint ois;                  ///< Each image at its own best threshold; `threshold` is 0.
  std::optional<double> ap;           ///< Average precision; none for a single threshold.
};

/// The scores of several images. `curves` holds the counts of each image at each threshold.
BoundarySummary summarise_boundaries(std::span<const std::vector<BoundaryCounts>> curves,
                                     std::span<const double> thresholds);

}  // namespace diacut
