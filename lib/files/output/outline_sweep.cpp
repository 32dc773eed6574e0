#include "output/outline_sweep.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/connected_parts.hpp"

namespace diacut {
namespace {

bool earlier(const Corner& a, const Corner& b) { return std::tie(a.y, a.x) < std::tie(b.y, b.x); }

/// Where a walk leads from a corner: to the right, down, to the left, up.
enum Direction : std::uint8_t { kEast, kSouth, kWest, kNorth };

/// A side of a pixel, with the pixel's region on the right.
struct Side {
  Corner from;
  Direction direction = kEast;
  bool is_vertex = false;  ///< Whether the ring has a corner where it begins, even if it goes on.
  bool is_walked = false;
};

/// The side that follows another one in a ring. `sides`: of the region, in scan order of their
/// beginnings.
Side& following(const Side& side, std::vector<Side>& sides) {
  constexpr int kStepX[] = {1, 0, -1, 0};
  constexpr int kStepY[] = {0, 1, 0, -1};
  const Corner end{side.from.x + kStepX[side.direction], side.from.y + kStepY[side.direction]};
  const auto next = std::lower_bound(
      sides.begin(), sides.end(), end,
      [](const Side& each, const Corner& corner) { return earlier(each.from, corner); });
  // Where two pixels of the region meet at a corner alone, the ring passes from one to the other.
  const auto other = next + 1;
  const bool meets_itself = other != sides.end() && other->from == end;
  return meets_itself && other->direction == (side.direction + 3) % 4 ? *other : *next;
}

/// The rings of a region, each from the first side to the right that a scan meets.
std::vector<RingCorners> rings_of(std::vector<Side>& sides) {
  std::vector<RingCorners> rings;
  for (Side& first : sides) {
    if (first.direction != kEast || first.is_walked) continue;
    RingCorners& ring = rings.emplace_back(RingCorners{first.from});
    const Side* before = &first;
    for (Side* side = &following(first, sides); side != &first; side = &following(*before, sides)) {
      if (side->is_vertex || side->direction != before->direction) ring.push_back(side->from);
      side->is_walked = true;
      before = side;
    }
  }
  return rings;
}

/// What sweep_outlines() does.
class OutlineSweep {
 public:
  OutlineSweep(int width, bool junctions, TakeRings take)
      : junctions_(junctions), take_(std::move(take)), above_(static_cast<std::size_t>(width), 0) {}

  void add(const std::int32_t* labels) {
    const std::size_t width = above_.size();
    const std::vector<std::int32_t> nothing(labels == nullptr ? width : 0, 0);
    const std::int32_t* row = labels == nullptr ? nothing.data() : labels;
    Around around{};
    for (std::size_t x = 0; x <= width; ++x) {
      around.upper_left = around.upper_right;
      around.lower_left = around.lower_right;
      around.upper_right = x < width ? above_[x] : 0;
      around.lower_right = x < width ? row[x] : 0;
      visit({static_cast<std::int32_t>(x), y_}, around);
    }
    for (const std::int32_t label : above_) {
      // A region that goes on has a right side in this row.
      const auto region = open_.find(label);
      if (region == open_.end() || region->second.newest == y_) continue;
      std::vector<RingCorners> rings = rings_of(region->second.sides);
      open_.erase(region);
      take_(label, std::move(rings));
    }
    above_.assign(row, row + width);
    ++y_;
  }

 private:
  /// The pixels around a corner.
  struct Around {
    std::int32_t upper_left, upper_right, lower_right, lower_left;
  };
  /// A region that the sweep has met.
  struct Region {
    std::vector<Side> sides;
    int newest = 0;  ///< The row of its newest right side.
  };

  /// Adds the sides that begin at a corner.
  void visit(const Corner& corner, const Around& around) {
    const auto& [upper_left, upper_right, lower_right, lower_left] = around;
    const int changes = int{upper_left != upper_right} + int{upper_right != lower_right} +
                        int{lower_right != lower_left} + int{lower_left != upper_left};
    if (changes == 0) return;
    const auto leave = [&](std::int32_t label, std::int32_t other, Direction direction) {
      if (label == other || label == 0) return;
      Region& region = open_[label];
      region.sides.push_back({corner, direction, junctions_ && changes > 2});
      if (direction == kSouth) region.newest = corner.y;
    };
    leave(lower_right, upper_right, kEast);
    leave(lower_left, lower_right, kSouth);
    leave(upper_left, lower_left, kWest);
    leave(upper_right, upper_left, kNorth);
  }

  bool junctions_;
  TakeRings take_;
  int y_ = 0;                        ///< The row of corners that is swept.
  std::vector<std::int32_t> above_;  ///< The last row of labels.
  std::unordered_map<std::int32_t, Region> open_;
};

}  // namespace

AddRow sweep_outlines(int width, bool junctions, TakeRings take) {
  const auto sweep = std::make_shared<OutlineSweep>(width, junctions, std::move(take));
  return [sweep](const std::int32_t* labels) { sweep->add(labels); };
}

Outlines trace_outlines(const Labels& labels, bool junctions) {
  const Labels pieces = connected_parts(labels.width, labels.height, labels.values);
  std::vector<std::int32_t> region_of(static_cast<std::size_t>(pieces.count) + 1);
  for (std::size_t i = 0; i < pieces.values.size(); ++i) {
    region_of[static_cast<std::size_t>(pieces.values[i])] = labels.values[i];
  }
  struct Found {
    Ring ring;
    RingCorners corners;
  };
  std::vector<Found> found;
  OutlineSweep sweep(labels.width, junctions,
                     [&](std::int32_t piece, std::vector<RingCorners>&& rings) {
                       const std::int32_t region = region_of[static_cast<std::size_t>(piece)];
                       for (RingCorners& ring : rings) {
                         found.push_back({{region, piece, &ring != rings.data()}, std::move(ring)});
                       }
                     });
  for (int y = 0; y < labels.height; ++y) {
    sweep.add(pieces.values.data() + std::ptrdiff_t{y} * labels.width);
  }
  sweep.add(nullptr);
  // Corners lie in the order in which a scan meets the rings.
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return earlier(a.corners.front(), b.corners.front());
  });
  Outlines outlines;
  outlines.width = labels.width;
  outlines.height = labels.height;
  outlines.first_ring.assign(static_cast<std::size_t>(labels.count) + 2, 0);
  for (Found& each : found) {
    each.ring.first = outlines.corners.size();
    each.ring.count = each.corners.size();
    outlines.rings.push_back(each.ring);
    outlines.corners.insert(outlines.corners.end(), each.corners.begin(), each.corners.end());
    ++outlines.first_ring[static_cast<std::size_t>(each.ring.region) + 1];
    each.corners = {};
  }
  std::stable_sort(outlines.rings.begin(), outlines.rings.end(), [](const Ring& a, const Ring& b) {
    return std::tie(a.region, a.piece) < std::tie(b.region, b.piece);
  });
  std::partial_sum(outlines.first_ring.begin(), outlines.first_ring.end(),
                   outlines.first_ring.begin());
  return outlines;
}

Outlines trace_outlines(const Labels& labels) { return trace_outlines(labels, false); }

}  // namespace diacut
