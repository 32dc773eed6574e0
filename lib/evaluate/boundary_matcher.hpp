#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace diacut
