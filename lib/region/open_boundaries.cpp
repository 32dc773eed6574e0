
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "diacut/errors.hpp"
#include "region/arcs.hpp"

namespace diacut {

namespace {

/// An end of a boundary: that of boundary k is 2k at its front and 2k + 1 at its back.
using End = std::size_t;

/// A boundary from crossing to crossing, or around.
struct OpenBoundariesChain {
  std::vector<Corner> corners;
  std::vector<SideStrength> sides;

  void add(const OpenBoundary& open, bool backwards) {
    if (!corners.empty()) corners.pop_back();
    if (backwards) {
      corners.insert(corners.end(), open.corners.rbegin(), open.corners.rend());
      sides.insert(sides.end(), open.sides.rbegin(), open.sides.rend());
    } else {
      corners.insert(corners.end(), open.corners.begin(), open.corners.end());
      sides.insert(sides.end(), open.sides.begin(), open.sides.end());
    }
  }

  void reverse() {
    std::reverse(corners.begin(), corners.end());
    std::reverse(sides.begin(), sides.end());
  }
};

/// The order of the ends of chains: by corners in scan order, then by the way that leads on: up,
/// left, right or down.
std::tuple<int, int, int> end_order(const Corner& end, const Corner& next) {
  const int dx = next.x - end.x;
  const int dy = next.y - end.y;
  const int way = dy < 0 ? 0 : dx < 0 ? 1 : dx > 0 ? 2 : 3;
  return {end.y, end.x, way};
}

/// A chain is divided from the first of its ends on, and one without ends from its first corner
/// to the right.
void begin_at_first(OpenBoundariesChain& chain, bool around) {
  std::vector<Corner>& corners = chain.corners;
  if (!around) {
    const std::size_t last = corners.size() - 1;
    if (end_order(corners[last], corners[last - 1]) < end_order(corners[0], corners[1])) {
      chain.reverse();
    }
    return;
  }
  corners.pop_back();
  const auto first = std::min_element(
      corners.begin(), corners.end(),
      [](const Corner& a, const Corner& b) { return std::tie(a.y, a.x) < std::tie(b.y, b.x); });
  const auto steps = first - corners.begin();
  std::rotate(corners.begin(), first, corners.end());
  std::rotate(chain.sides.begin(), chain.sides.begin() + steps, chain.sides.end());
  corners.push_back(corners.front());
  if (corners[1].y != corners[0].y) chain.reverse();
}

class Joiner {
 public:
  Joiner(const std::vector<OpenBoundary>& open, double direction)
      : open_(open), direction_(direction), used_(open.size(), 0) {
    for (std::size_t k = 0; k < open.size(); ++k) {
      if (open[k].front_open) ends_.push_back(2 * k);
      if (open[k].back_open) ends_.push_back(2 * k + 1);
    }
    std::sort(ends_.begin(), ends_.end(), [&](End a, End b) { return key(a) < key(b); });
    for (std::size_t k = 0; k < ends_.size(); k += 2) {
      const bool pair = k + 1 < ends_.size() && key(ends_[k]) == key(ends_[k + 1]);
      const bool more = k + 2 < ends_.size() && key(ends_[k]) == key(ends_[k + 2]);
      if (!pair || more) throw not_one(ends_[k]);
    }
  }

  std::vector<Arc> arcs() {
    for (std::size_t k = 0; k < open_.size(); ++k) {
      if (used_[k] == 0 && !(open_[k].front_open && open_[k].back_open)) follow(k);
    }
    for (std::size_t k = 0; k < open_.size(); ++k) {
      if (used_[k] == 0) follow(k);
    }
    return std::move(arcs_);
  }

 private:
  const Corner& corner(End end) const {
    const std::vector<Corner>& corners = open_[end / 2].corners;
    return end % 2 == 0 ? corners.front() : corners.back();
  }
  std::pair<int, int> key(End end) const { return {corner(end).y, corner(end).x}; }

  InputError not_one(End end) const {
    return InputError(fmt::format(
        "the boundary between basins {} and {} does not go on beyond the tile's edge at "
        "column {}, row {}: the tiles are not of one run",
        open_[end / 2].first, open_[end / 2].second, corner(end).x, corner(end).y));
  }

  /// The end that meets an open end.
  End other_side(End end) const {
    const auto found = std::lower_bound(ends_.begin(), ends_.end(), key(end),
                                        [&](End a, const auto& wanted) { return key(a) < wanted; });
    return *found == end ? *(found + 1) : *found;
  }

  /// Follows a chain from a boundary that begins or ends at a crossing, or from any.
  void follow(std::size_t from) {
    OpenBoundariesChain chain;
    End entered = open_[from].front_open && !open_[from].back_open ? 2 * from + 1 : 2 * from;
    bool around = false;
    for (;;) {
      const OpenBoundary& open = open_[entered / 2];
      if (std::tie(open.first, open.second) != std::tie(open_[from].first, open_[from].second)) {
        throw not_one(entered);
      }
      used_[entered / 2] = 1;
      chain.add(open, entered % 2 == 1);
      const End left = entered ^ 1U;
      if (!(left % 2 == 0 ? open.front_open : open.back_open)) break;
      entered = other_side(left);
      around = entered / 2 == from;
      if (around) break;
    }
    begin_at_first(chain, around);
    const auto strength = [&](std::size_t k, double nx, double ny) {
      return chain.sides[k].along(nx, ny, direction_);
    };
    arcs_.push_back({open_[from].first, open_[from].second,
                     chain_strength(chain.corners, strength, pieces_),
                     static_cast<std::int64_t>(chain.sides.size())});
  }

  const std::vector<OpenBoundary>& open_;
  double direction_;
  std::vector<char> used_;
  std::vector<End> ends_;  ///< The open ones, by corner.
  std::vector<Arc> arcs_;
  std::vector<std::pair<std::size_t, std::size_t>> pieces_;
};

}  // namespace

std::vector<Arc> join_open_boundaries(const std::vector<OpenBoundary>& open, double direction) {
  return Joiner(open, direction).arcs();
}

}  // namespace diacut
