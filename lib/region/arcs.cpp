#include "region/arcs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace diacut {

namespace {

/// How far a boundary may leave the chord of a straight piece: a fraction of the chord's length,
/// or some pixels, whichever is more. The steps of a straight line on the grid do not leave its
/// chord by more than those pixels.
constexpr double kFraction = 0.1;
constexpr double kLeastDistance = 1.0;

/// A corner of pixels: (0, 0) is the upper left one of the first pixel.
struct Corner {
  int x = 0;
  int y = 0;
};

/// `length`: the length of the chord.
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
    // Chains that end at a crossing come first; all chains that are left then are closed.
    for (int y = 0; y <= parts_.height; ++y) {
      for (int x = 0; x <= width_; ++x) {
        const Corner corner{x, y};
        if (within_a_part(corner)) continue;
        const Sides sides = sides_at(corner);
        if (goes_on(sides)) continue;
        for (std::size_t way = 0; way < sides.size(); ++way) {
          if (sides[way] != kNone && seen_[sides[way]] == 0) follow(sides[way], corner, way);
        }
      }
    }
    std::size_t side = 0;
    for (int y = 0; y < parts_.height; ++y) {
      for (int x = 0; x < width_; ++x, side += 2) {
        if (x + 1 < width_ && seen_[side] == 0 && parts_two(side)) follow(side, {x + 1, y}, kDown);
        if (y + 1 < parts_.height && seen_[side + 1] == 0 && parts_two(side + 1)) {
          follow(side + 1, {x, y + 1}, kRight);
        }
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
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  /// The sides that meet in a corner and part two regions, by where they lead from there: up, left,
  /// right, down. kNone: there is none.
  using Sides = std::array<std::size_t, 4>;
  static constexpr std::size_t kRight = 2;
  static constexpr std::size_t kDown = 3;
  static constexpr std::array<Corner, 4> kSteps = {{{0, -1}, {-1, 0}, {1, 0}, {0, 1}}};

  std::pair<std::size_t, std::size_t> pixels(std::size_t side) const {
    const std::size_t i = side / 2;
    return {i, side % 2 == 0 ? i + 1 : i + static_cast<std::size_t>(width_)};
  }

  std::pair<std::int32_t, std::int32_t> regions(std::size_t side) const {
    const auto [p, q] = pixels(side);
    return std::minmax({parts_.of_pixel[p], parts_.of_pixel[q]});
  }

  /// Precondition: the image has both pixels.
  bool parts_two(std::size_t side) const {
    const auto [a, b] = regions(side);
    return a != b && a != 0;
  }

  Sides sides_at(const Corner& corner) const {
    Sides found = {kNone, kNone, kNone, kNone};
    const bool left = corner.x > 0;
    const bool above = corner.y > 0;
    const bool right = corner.x < width_;
    const bool below = corner.y < parts_.height;
    // The side to the right of the upper left pixel of the four around the corner.
    const std::size_t row = 2 * static_cast<std::size_t>(width_);
    const std::size_t side =
        static_cast<std::size_t>(corner.y) * row + 2 * static_cast<std::size_t>(corner.x) - row - 2;
    const auto add = [&](std::size_t way, std::size_t candidate) {
      if (parts_two(candidate)) found[way] = candidate;
    };
    if (left && right && above) add(0, side);
    if (above && below && left) add(1, side + 1);
    if (above && below && right) add(2, side + 2 + 1);
    if (left && right && below) add(3, side + row);
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
  bool goes_on(const Sides& sides) const {
    std::size_t count = 0;
    std::size_t last = 0;
    bool alike = true;
    for (const std::size_t side : sides) {
      if (side == kNone) continue;
      alike = count == 0 || (alike && regions(side) == regions(last));
      last = side;
      ++count;
    }
    return count == 2 && alike;
  }

  /// `way`: where the side leads from `at`, as in Sides.
  void follow(std::size_t side, Corner at, std::size_t way) {
    sides_.clear();
    corners_.assign(1, at);
    for (;;) {
      seen_[side] = 1;
      sides_.push_back(side);
      at = {at.x + kSteps[way].x, at.y + kSteps[way].y};
      corners_.push_back(at);
      const Sides sides = sides_at(at);
      if (!goes_on(sides)) break;
      const std::size_t before = side;
      for (std::size_t k = 0; k < sides.size(); ++k) {
        if (sides[k] == kNone || seen_[sides[k]] != 0) continue;
        side = sides[k];
        way = k;
      }
      if (side == before) break;  // The chain is closed.
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
  // The sides of the chain that is followed, and the corners before, between and after them.
  std::vector<std::size_t> sides_;
  std::vector<Corner> corners_;
  std::vector<std::pair<std::size_t, std::size_t>> pieces_;
};

}  // namespace

std::vector<Arc> find_arcs(const Parts& parts, const BoundaryStrength& strength) {
  return Boundaries(parts, strength).arcs();
}

}  // namespace diacut
