#include "output/outline_sweep.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/connected_parts.hpp"

namespace diacut {
namespace {

bool earlier(const Corner& a, const Corner& b) { return std::tie(a.y, a.x) < std::tie(b.y, b.x); }

/// Whether a ring runs clockwise, as the image is seen. The sum is exact for any picture, because
/// it wraps around.
bool is_outer(const RingCorners& ring) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& a = ring[i];
    const Corner& b = ring[(i + 1) % ring.size()];
    sum += static_cast<std::uint64_t>(std::int64_t{a.x} * b.y - std::int64_t{b.x} * a.y);
  }
  return static_cast<std::int64_t>(sum) > 0;
}

/// What sweep_outlines() does.
class OutlineSweep {
 public:
  OutlineSweep(int width, const RingVertices& vertices, TakeRings take)
      : width_(static_cast<std::size_t>(width)),
        vertices_(vertices),
        take_(std::move(take)),
        above_(width_, 0),
        down_(width_ + 1) {}

  void add(const std::int32_t* labels) {
    const std::vector<std::int32_t> nothing(labels == nullptr ? width_ : 0, 0);
    const std::int32_t* row = labels == nullptr ? nothing.data() : labels;
    sweep(above_.data(), row);
    above_.assign(row, row + width_);
    ++y_;
  }

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

    bool is_junction() const {
      return int{upper_left != upper_right} + int{upper_right != lower_right} +
                 int{lower_right != lower_left} + int{lower_left != upper_left} >
             2;
    }
  };

  void sweep(const std::int32_t* upper, const std::int32_t* lower) {
    Around around{};
    for (std::size_t x = 0; x <= width_; ++x) {
      around.upper_left = around.upper_right;
      around.lower_left = around.lower_right;
      around.upper_right = x < width_ ? upper[x] : 0;
      around.lower_right = x < width_ ? lower[x] : 0;
      if (around.upper_left == around.upper_right && around.upper_left == around.lower_left &&
          around.upper_left == around.lower_right) {
        continue;
      }
      around.corner = {static_cast<std::int32_t>(x), y_};
      around.above = std::exchange(down_[x], {});
      around.left = std::exchange(right_, {});
      visit(around);
    }
  }

  void visit(const Around& around) {
    const auto arrive = [&](std::int32_t label, std::int32_t other, Direction direction) {
      if (label != other && label != 0) pass(around, direction);
    };
    arrive(around.upper_left, around.upper_right, kSouth);
    arrive(around.lower_left, around.upper_left, kEast);
    arrive(around.upper_right, around.lower_right, kWest);
    arrive(around.lower_right, around.lower_left, kNorth);
  }

  /// The walk of a region that arrives at a corner in this direction, and goes on.
  void pass(const Around& around, Direction arrives) {
    // The pixels on the right of the side that leads here, ahead on its right, and ahead on its
    // left.
    const std::int32_t pixels[] = {around.lower_left, around.lower_right, around.upper_right,
                                   around.upper_left};
    constexpr int kOfSide[] = {0, 3, 2, 1};
    const int of_side = kOfSide[arrives];
    const std::int32_t label = pixels[of_side];
    int turn = 1;
    if (pixels[(of_side + 2) % 4] == label) {
      turn = 3;
    } else if (pixels[(of_side + 1) % 4] == label) {
      turn = 0;
    }
    const auto leaves = static_cast<Direction>((arrives + turn) % 4);
    const int along = arrives == kEast || arrives == kWest ? around.corner.x : around.corner.y;
    const bool is_vertex = turn != 0 || (vertices_.junctions && around.is_junction()) ||
                           (vertices_.step > 0 && along % vertices_.step == 0);
    std::int32_t ends = kNone;  // The chain that ends in the side that leads here.
    if (arrives == kSouth) ends = around.above.head;
    if (arrives == kEast) ends = around.left.head;
    std::int32_t begins = kNone;  // The chain that begins with the side that leads away.
    if (leaves == kNorth) begins = around.above.tail;
    if (leaves == kWest) begins = around.left.tail;
    const std::int32_t chain = ends != kNone ? ends : begins != kNone ? begins : make_chain();
    Chain& made = chains_[static_cast<std::size_t>(chain)];
    if (is_vertex)
      (ends != kNone || begins == kNone ? made.after : made.before).push_back(around.corner);
    if (leaves == kEast && earlier(around.corner, made.first)) made.first = around.corner;
    if (ends != kNone && begins != kNone) return join(label, ends, begins);
    if (begins == kNone) {
      made.head =
          leaves == kEast ? &right_.head : &down_[static_cast<std::size_t>(around.corner.x)].head;
      *made.head = chain;
    }
    if (ends == kNone) {
      made.tail =
          arrives == kWest ? &right_.tail : &down_[static_cast<std::size_t>(around.corner.x)].tail;
      *made.tail = chain;
    }
  }

  std::int32_t make_chain() {
    constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();
    if (free_.empty()) {
      free_.push_back(static_cast<std::int32_t>(chains_.size()));
      chains_.emplace_back();
    }
    const std::int32_t chain = free_.back();
    free_.pop_back();
    chains_[static_cast<std::size_t>(chain)].first = {kLast, kLast};
    return chain;
  }

  /// Makes one of two chains, of which the second follows the first, or a ring of one.
  void join(std::int32_t label, std::int32_t first, std::int32_t second) {
    if (first == second) return close(label, first);
    Chain& a = chains_[static_cast<std::size_t>(first)];
    Chain& b = chains_[static_cast<std::size_t>(second)];
    const Corner start = std::min(a.first, b.first, earlier);
    // The shorter one moves.
    if (b.before.size() + b.after.size() <= a.before.size() + a.after.size()) {
      a.after.insert(a.after.end(), b.before.rbegin(), b.before.rend());
      a.after.insert(a.after.end(), b.after.begin(), b.after.end());
      a.first = start;
      a.head = b.head;
      *a.head = first;
      return release(second);
    }
    b.before.insert(b.before.end(), a.after.rbegin(), a.after.rend());
    b.before.insert(b.before.end(), a.before.begin(), a.before.end());
    b.first = start;
    b.tail = a.tail;
    *b.tail = second;
    release(first);
  }

  void close(std::int32_t label, std::int32_t chain) {
    Chain& closed = chains_[static_cast<std::size_t>(chain)];
    RingCorners ring(closed.before.rbegin(), closed.before.rend());
    ring.insert(ring.end(), closed.after.begin(), closed.after.end());
    // A ring meets no corner twice, and turns where it begins.
    std::rotate(ring.begin(), std::find(ring.begin(), ring.end(), closed.first), ring.end());
    release(chain);
    if (!is_outer(ring)) {
      holes_[label].push_back(std::move(ring));
      return;
    }
    // The outer ring closes last, because a region lies on all sides of its holes.
    std::vector<RingCorners> rings;
    rings.push_back(std::move(ring));
    if (const auto holes = holes_.extract(label)) {
      std::move(holes.mapped().begin(), holes.mapped().end(), std::back_inserter(rings));
      std::sort(rings.begin() + 1, rings.end(), [](const RingCorners& a, const RingCorners& b) {
        return earlier(a.front(), b.front());
      });
    }
    take_(label, std::move(rings));
  }

  void release(std::int32_t chain) {
    chains_[static_cast<std::size_t>(chain)] = {};
    free_.push_back(chain);
  }

  std::size_t width_;
  RingVertices vertices_;
  TakeRings take_;
  int y_ = 0;                        ///< The row of corners that is swept.
  std::vector<std::int32_t> above_;  ///< The last row of labels.
  std::vector<Side> down_;           ///< By column of corners: the side that leads down.
  Side right_;                       ///< The side that leads to the right.
  std::vector<Chain> chains_;
  std::vector<std::int32_t> free_;
  std::unordered_map<std::int32_t, std::vector<RingCorners>> holes_;  ///< Of regions not taken.
};

}  // namespace

AddRow sweep_outlines(int width, const RingVertices& vertices, TakeRings take) {
  const auto sweep = std::make_shared<OutlineSweep>(width, vertices, std::move(take));
  return [sweep](const std::int32_t* labels) { sweep->add(labels); };
}

Outlines trace_outlines(const Labels& labels, const RingVertices& vertices) {
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
  OutlineSweep sweep(labels.width, vertices,
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

Outlines trace_outlines(const Labels& labels) { return trace_outlines(labels, {}); }

}  // namespace diacut
