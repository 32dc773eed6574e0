#include "region/arcs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace diacut {

namespace {

/// A chord may be left by this fraction of its length, and by so many pixels at least: the steps of
/// a straight line on the grid do not leave it by more.
constexpr double kFraction = 0.1;
constexpr double kLeastDistance = 1.0;

/// A corner of pixels: (0, 0) is the upper left one of the first pixel.
struct Corner {
  int x = 0;
  int y = 0;
};

bool operator==(const Corner& a, const Corner& b) { return a.x == b.x && a.y == b.y; }

/// `length`: the chord's.
double distance_to_chord(const Corner& point, const Corner& from, const Corner& to, double length) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double px = point.x - from.x;
  const double py = point.y - from.y;
  return length > 0 ? std::abs(dx * py - dy * px) / length : std::hypot(px, py);
}

/// The sides of pixels that part two regions, and the chains they form. Side 2i lies between pixel
/// i and its right neighbour, side 2i + 1 between i and its lower one.
class Boundaries {
 public:
  Boundaries(const Parts& parts, const BoundaryStrength& strength)
      : parts_(parts),
        strength_(strength),
        width_(parts.width),
        seen_(2 * parts.of_pixel.size(), 0) {
    // First the chains that end somewhere, then the closed ones that are left.
    for (int y = 0; y <= parts_.height; ++y) {
      for (int x = 0; x <= width_; ++x) {
        const Corner corner{x, y};
        if (within_a_part(corner) || goes_on(corner)) continue;
        for (const std::optional<std::size_t>& side : sides_at(corner)) {
          if (side && seen_[*side] == 0) follow(*side, corner);
        }
      }
    }
    const std::size_t pixels = parts_.of_pixel.size();
    const auto row = static_cast<std::size_t>(width_);
    for (std::size_t i = 0; i < pixels; ++i) {
      // Most sides lie within a part. Where a row ends, the next one's first pixel is asked in
      // vain.
      const std::int32_t mine = parts_.of_pixel[i];
      const bool right = i + 1 < pixels && parts_.of_pixel[i + 1] != mine;
      const bool down = i + row < pixels && parts_.of_pixel[i + row] != mine;
      if (right && seen_[2 * i] == 0 && parts_two(2 * i)) follow(2 * i, ends(2 * i).first);
      if (down && seen_[2 * i + 1] == 0 && parts_two(2 * i + 1)) {
        follow(2 * i + 1, ends(2 * i + 1).first);
      }
    }
  }

  std::vector<Arc> arcs() && {
    const auto key = [](const Arc& arc) { return std::pair(arc.first, arc.second); };
    std::stable_sort(chains_.begin(), chains_.end(),
                     [&](const Arc& a, const Arc& b) { return key(a) < key(b); });
    std::vector<Arc> arcs;
    for (const Arc& chain : chains_) {
      if (arcs.empty() || key(arcs.back()) != key(chain)) {
        arcs.push_back(chain);
      } else {
        arcs.back().strength += chain.strength;
        arcs.back().length += chain.length;
      }
    }
    return arcs;
  }

 private:
  std::pair<std::size_t, std::size_t> pixels(std::size_t side) const {
    const std::size_t i = side / 2;
    return {i, side % 2 == 0 ? i + 1 : i + static_cast<std::size_t>(width_)};
  }

  std::pair<std::int32_t, std::int32_t> regions(std::size_t side) const {
    const auto [p, q] = pixels(side);
    return std::minmax({parts_.of_pixel[p], parts_.of_pixel[q]});
  }

  bool parts_two(std::size_t side) const {
    const auto x = static_cast<int>(side / 2 % static_cast<std::size_t>(width_));
    if (side % 2 == 0 ? x + 1 == width_ : pixels(side).second >= parts_.of_pixel.size()) {
      return false;
    }
    const auto [a, b] = regions(side);
    return a != b && a != 0;
  }

  std::pair<Corner, Corner> ends(std::size_t side) const {
    const auto i = static_cast<int>(side / 2);
    const Corner lower_right{i % width_ + 1, i / width_ + 1};
    if (side % 2 == 0) return {{lower_right.x, lower_right.y - 1}, lower_right};
    return {{lower_right.x - 1, lower_right.y}, lower_right};
  }

  /// The up to four sides that meet in a corner and part two regions.
  std::array<std::optional<std::size_t>, 4> sides_at(const Corner& corner) const {
    std::array<std::optional<std::size_t>, 4> found;
    const auto add = [&](std::size_t place, int x, int y, std::size_t kind) {
      if (x < 0 || y < 0 || x >= width_ || y >= parts_.height) return;
      const std::size_t side = 2 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                                    static_cast<std::size_t>(x)) +
                               kind;
      if (parts_two(side)) found[place] = side;
    };
    add(0, corner.x - 1, corner.y - 1, 0);
    add(1, corner.x - 1, corner.y - 1, 1);
    add(2, corner.x, corner.y - 1, 1);
    add(3, corner.x - 1, corner.y, 0);
    return found;
  }

  /// Whether the corner has four pixels and no side that parts them.
  bool within_a_part(const Corner& corner) const {
    if (corner.x == 0 || corner.y == 0 || corner.x == width_ || corner.y == parts_.height) {
      return false;
    }
    const auto row = static_cast<std::size_t>(width_);
    const std::int32_t* below =
        parts_.of_pixel.data() + static_cast<std::size_t>(corner.y) * row + corner.x;
    const std::int32_t* above = below - row;
    return above[-1] == above[0] && below[-1] == below[0] && above[0] == below[0];
  }

  /// Whether exactly two sides meet here and part the same two regions.
  bool goes_on(const Corner& corner) const {
    std::size_t count = 0;
    std::size_t last = 0;
    bool alike = true;
    for (const std::optional<std::size_t>& side : sides_at(corner)) {
      if (!side) continue;
      alike = count == 0 || (alike && regions(*side) == regions(last));
      last = *side;
      ++count;
    }
    return count == 2 && alike;
  }

  void follow(std::size_t side, const Corner& start) {
    sides_.clear();
    corners_.assign(1, start);
    for (;;) {
      seen_[side] = 1;
      sides_.push_back(side);
      const auto [a, b] = ends(side);
      corners_.push_back(corners_.back() == a ? b : a);
      if (!goes_on(corners_.back())) break;
      const std::size_t before = side;
      for (const std::optional<std::size_t>& next : sides_at(corners_.back())) {
        if (next && seen_[*next] == 0) side = *next;
      }
      if (side == before) break;  // Closed.
    }
    measure();
  }

  /// Divides the chain into straight pieces and sums the strength along them.
  void measure() {
    const auto [first, second] = regions(sides_.front());
    Arc arc{first, second, 0, static_cast<std::int64_t>(sides_.size())};
    pieces_.assign(1, {0, sides_.size()});
    while (!pieces_.empty()) {
      const auto [from, to] = pieces_.back();
      pieces_.pop_back();
      const Corner& a = corners_[from];
      const Corner& b = corners_[to];
      const double length = std::hypot(b.x - a.x, b.y - a.y);
      std::size_t farthest = from;
      double distance = 0;
      for (std::size_t k = from + 1; k < to; ++k) {
        const double d = distance_to_chord(corners_[k], a, b, length);
        if (d > distance) {
          distance = d;
          farthest = k;
        }
      }
      if (length == 0 || distance > std::max(kLeastDistance, kFraction * length)) {
        pieces_.emplace_back(farthest, to);
        pieces_.emplace_back(from, farthest);
        continue;
      }
      const double nx = (a.y - b.y) / length;
      const double ny = (b.x - a.x) / length;
      for (std::size_t k = from; k < to; ++k) {
        const auto [p, q] = pixels(sides_[k]);
        arc.strength += strength_(p, q, nx, ny);
      }
    }
    chains_.push_back(arc);
  }

  const Parts& parts_;
  const BoundaryStrength& strength_;
  int width_;
  std::vector<std::uint8_t> seen_;
  std::vector<Arc> chains_;
  // Of the chain at hand: its sides, and the corners before, between and after them.
  std::vector<std::size_t> sides_;
  std::vector<Corner> corners_;
  std::vector<std::pair<std::size_t, std::size_t>> pieces_;
};

}  // namespace

std::vector<Arc> find_arcs(const Parts& parts, const BoundaryStrength& strength) {
  return Boundaries(parts, strength).arcs();
}

}  // namespace diacut
