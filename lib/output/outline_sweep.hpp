#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "diacut/outlines.hpp"

namespace diacut {

/// The corners of a ring, the first not repeated.
using RingCorners = std::vector<Corner>;

/// Which corners of pixels a ring has beside those where it turns.
struct RingVertices {
  bool junctions = false;  ///< Those where three regions or more meet.
  int step = 0;            ///< Those at every multiple of so many pixels along a side; 0: none.
};

/// trace_outlines() with more vertices.
Outlines trace_outlines(const Labels& labels, const RingVertices& vertices);

/// The outlines of regions, found in one sweep over the rows of a picture. Each region must be
/// 4-connected. What is held are the outlines of the regions that rows above and below the sweep
/// share, and two rows.
class OutlineSweep {
 public:
  /// Takes a region whose rings are complete: the outer ring first, then the holes.
  using Take = std::function<void(std::int32_t label, std::vector<RingCorners>&& rings)>;

  OutlineSweep(int width, const RingVertices& vertices, Take take);
  OutlineSweep(const OutlineSweep&) = delete;
  OutlineSweep& operator=(const OutlineSweep&) = delete;

  /// Adds the next row of labels, from the top.
  void add(const std::int32_t* labels);
  /// To be called after the last row: takes the regions that reach the lower edge.
  void finish();

 private:
  static constexpr std::int32_t kNone = -1;

  /// Where a walk leads from a corner: to the right, down, to the left, up.
  enum Direction { kEast, kSouth, kWest, kNorth };

  /// A part of a ring, with its region on the right; it grows at both ends.
  struct Chain {
    std::vector<Corner> before;  ///< What comes before `after`, backwards.
    std::vector<Corner> after;
    Corner first;                  ///< Where its first side to the right begins, in scan order.
    std::int32_t* head = nullptr;  ///< The place that knows the chain by its last side.
    std::int32_t* tail = nullptr;  ///< The place that knows it by its first side.
  };
  /// The chains of a side that is crossed by the sweep.
  struct Side {
    std::int32_t head = kNone;  ///< The one that walks down or to the right.
    std::int32_t tail = kNone;  ///< The one that walks up or to the left.
  };
  /// The pixels around a corner, from the upper left one clockwise, and the sides above it and to
  /// the left of it.
  struct Around {
    Corner corner;
    std::int32_t upper_left, upper_right, lower_right, lower_left;
    Side above, left;

    bool is_junction() const;
  };

  void sweep(const std::int32_t* upper, const std::int32_t* lower);
  void visit(const Around& around);
  /// The walk of a region that arrives at a corner in this direction, and goes on.
  void pass(const Around& around, Direction arrives);
  std::int32_t make_chain();
  /// Makes one of two chains, of which the second follows the first, or a ring of one.
  void join(std::int32_t label, std::int32_t first, std::int32_t second);
  void close(std::int32_t label, std::int32_t chain);
  void release(std::int32_t chain);

  std::size_t width_;
  RingVertices vertices_;
  Take take_;
  int y_ = 0;                        ///< The row of corners that is swept.
  std::vector<std::int32_t> above_;  ///< The last row of labels.
  std::vector<Side> down_;           ///< By column of corners: the side that leads down.
  Side right_;                       ///< The side that leads to the right.
  std::vector<Chain> chains_;
  std::vector<std::int32_t> free_;
  std::unordered_map<std::int32_t, std::vector<RingCorners>> holes_;  ///< Of regions not taken.
};

}  // namespace diacut
