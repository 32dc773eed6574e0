#include "region/arcs.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/parallel.hpp"

namespace diacut {

namespace {

/// How far a boundary may leave the chord of a straight piece: a tenth of the chord's length, or a
/// pixel, whichever is more. The steps of a straight line on the grid do not leave its chord by
/// more than a pixel.
constexpr std::int64_t kInverseFraction = 10;
/// Fewer corners are not worth another thread.
constexpr std::size_t kLeastCorners = 8192;

/// A corner of pixels: (0, 0) is the upper left one of the first pixel.
struct Corner {
  int x = 0;
  int y = 0;
};

/// The sides of pixels that meet in a corner lead up, left, right or down from there.
using Way = unsigned;
constexpr Way kRight = 2;
constexpr Corner kSteps[4] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};
constexpr Way opposite(Way way) { return 3 - way; }

/// A boundary between two parts from one crossing to another, or around a part.
struct Chain {
  Arc arc;
  std::uint64_t start = 0;  ///< Of its two ends the first; names the chain.
};

/// For each corner in scan order, which of its sides part two regions: bit k for way k. kEnd: they
/// are not just two sides that part the same two regions. kSeen: of other corners, that the chain
/// through them was followed.
class CornerMap {
 public:
  static constexpr std::uint8_t kSides = 15;
  static constexpr std::uint8_t kEnd = 16;
  static constexpr std::uint8_t kSeen = 32;

  explicit CornerMap(const Parts& parts)
      : columns_(static_cast<std::size_t>(parts.width) + 1),
        rows_(static_cast<std::size_t>(parts.height) + 1),
        corners_(std::make_unique_for_overwrite<std::uint8_t[]>(columns_ * rows_)) {
    const std::vector<std::int32_t> outside(columns_ - 1, 0);
    parallel_ranges(rows_, 1 + kLeastCorners / columns_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t y = begin; y < end; ++y) {
        const std::int32_t* below = parts.of_pixel.data() + y * (columns_ - 1);
        const std::int32_t* above = y == 0 ? outside.data() : below - (columns_ - 1);
        find_row(above, y + 1 == rows_ ? outside.data() : below, &corners_[y * columns_]);
      }
    });
  }

  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return rows_; }
  std::size_t index(const Corner& corner) const {
    return static_cast<std::size_t>(corner.y) * columns_ + static_cast<std::size_t>(corner.x);
  }
  std::uint8_t at(std::size_t index) const {
    return std::atomic_ref<std::uint8_t>(corners_[index]).load(std::memory_order_relaxed);
  }
  /// Several threads may do that at once: nothing but kSeen ever changes.
  void see(std::size_t index, std::uint8_t corner) {
    std::atomic_ref<std::uint8_t>(corners_[index])
        .store(static_cast<std::uint8_t>(corner | kSeen), std::memory_order_relaxed);
  }

 private:
  /// The corner amid the parts a b above and c d below.
  static std::uint8_t corner(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    const int has_a = a != 0 ? 1 : 0;
    const int has_b = b != 0 ? 1 : 0;
    const int has_c = c != 0 ? 1 : 0;
    const int has_d = d != 0 ? 1 : 0;
    const int up = (a != b ? 1 : 0) & has_a & has_b;
    const int left = (a != c ? 1 : 0) & has_a & has_c;
    const int right = (b != d ? 1 : 0) & has_b & has_d;
    const int down = (c != d ? 1 : 0) & has_c & has_d;
    const int count = up + left + right + down;
    // Two sides part the same two regions, unless they meet at a corner without data.
    const int differ =
        ((1 - (has_a & has_d)) & (b != c ? 1 : 0)) | ((1 - (has_b & has_c)) & (a != d ? 1 : 0));
    const int end = (count & 1) | (count == 4 ? 1 : 0) | ((count == 2 ? 1 : 0) & differ);
    return static_cast<std::uint8_t>(up | left << 1 | right << 2 | down << 3 | end << 4);
  }

  void find_row(const std::int32_t* above, const std::int32_t* below, std::uint8_t* row) const {
    const std::size_t width = columns_ - 1;
    row[0] = corner(0, above[0], 0, below[0]);
    for (std::size_t x = 1; x < width; ++x) {
      row[x] = corner(above[x - 1], above[x], below[x - 1], below[x]);
    }
    row[width] = corner(above[width - 1], 0, below[width - 1], 0);
  }

  std::size_t columns_;
  std::size_t rows_;
  std::unique_ptr<std::uint8_t[]> corners_;
};

/// Follows chains, divides them into straight pieces and sums the strength along them.
class Follower {
 public:
  Follower(const Parts& parts, const BoundaryStrength& strength, CornerMap& map)
      : parts_(parts), strength_(strength), map_(map) {}

  std::vector<Chain> chains() && { return std::move(chains_); }

  /// Follows the chains that end in the corners of a row.
  void follow_open(std::size_t row) {
    const std::size_t first = row * map_.columns();
    for (std::size_t x = 0; x < map_.columns(); ++x) {
      const std::uint8_t corner = map_.at(first + x);
      if ((corner & CornerMap::kEnd) == 0) continue;
      for (Way way = 0; way < 4; ++way) {
        if ((corner >> way & 1) != 0) {
          follow_from_end({static_cast<int>(x), static_cast<int>(row)}, way);
        }
      }
    }
  }

  /// Follows the chains through a row that have no ends, when all that have were followed.
  void follow_closed(std::size_t row) {
    const std::size_t first = row * map_.columns();
    for (std::size_t x = 0; x < map_.columns(); ++x) {
      const std::uint8_t corner = map_.at(first + x);
      if (corner == 0 || (corner & (CornerMap::kEnd | CornerMap::kSeen)) != 0) continue;
      follow_around({static_cast<int>(x), static_cast<int>(row)});
    }
  }

 private:
  std::uint64_t name(const Corner& corner, Way way) const {
    return static_cast<std::uint64_t>(map_.index(corner)) * 4 + way;
  }

  static Corner step(const Corner& corner, Way way) {
    return {corner.x + kSteps[way].x, corner.y + kSteps[way].y};
  }

  /// Where a chain that came to a corner by `way` leads on.
  static Way way_on(std::uint8_t corner, Way way) {
    const unsigned others = (corner & CornerMap::kSides) & ~(1U << opposite(way));
    return static_cast<Way>(std::countr_zero(others));
  }

  /// A chain is followed from its first end, so that its pieces are the same for any number of
  /// threads. Where two threads follow it from its two ends at once, there are two of it for a
  /// while.
  void follow_from_end(const Corner& from, Way way) {
    const std::uint64_t start = name(from, way);
    corners_.assign(1, from);
    for (;;) {
      corners_.push_back(step(corners_.back(), way));
      const std::size_t index = map_.index(corners_.back());
      const std::uint8_t corner = map_.at(index);
      if ((corner & CornerMap::kEnd) != 0) break;
      if (corners_.size() == 2 && (corner & CornerMap::kSeen) != 0) return;
      map_.see(index, corner);
      way = way_on(corner, way);
    }
    const std::uint64_t end = name(corners_.back(), opposite(way));
    if (end < start) {
      if (corners_.size() == 2) return;  // No corner between the ends tells that it was followed.
      std::reverse(corners_.begin(), corners_.end());
    }
    measure(std::min(start, end));
  }

  /// A closed chain begins at its first corner in scan order, to the right.
  void follow_around(const Corner& from) {
    corners_.assign(1, from);
    Way way = way_on(map_.at(map_.index(from)), 0);
    std::size_t first = 0;
    do {
      const std::size_t index = map_.index(corners_.back());
      map_.see(index, map_.at(index));
      if (index < map_.index(corners_[first])) first = corners_.size() - 1;
      corners_.push_back(step(corners_.back(), way));
      way = way_on(map_.at(map_.index(corners_.back())), way);
    } while (map_.index(corners_.back()) != map_.index(from));
    corners_.pop_back();
    std::rotate(corners_.begin(), corners_.begin() + static_cast<std::ptrdiff_t>(first),
                corners_.end());
    if (corners_[1].y != corners_[0].y) std::reverse(corners_.begin() + 1, corners_.end());
    corners_.push_back(corners_.front());
    measure(name(corners_.front(), kRight));
  }

  /// The pixels on either side of the step between two corners.
  std::pair<std::size_t, std::size_t> pixels(const Corner& a, const Corner& b) const {
    const auto width = static_cast<std::size_t>(parts_.width);
    const auto x = static_cast<std::size_t>(std::min(a.x, b.x));
    const auto y = static_cast<std::size_t>(std::min(a.y, b.y));
    const std::size_t pixel = y * width + x;  // To the lower right of the first corner.
    return a.x == b.x ? std::pair(pixel - 1, pixel) : std::pair(pixel - width, pixel);
  }

  /// The corner that is farthest from the chord, the first of them; `from` if all lie on it and the
  /// piece is straight enough.
  std::size_t where_to_divide(std::size_t from, std::size_t to) const {
    const Corner& a = corners_[from];
    const std::int64_t dx = corners_[to].x - a.x;
    const std::int64_t dy = corners_[to].y - a.y;
    const std::int64_t length2 = dx * dx + dy * dy;
    std::size_t farthest = from;
    std::int64_t most = 0;  // The distance times the length, or its square where that is 0.
    for (std::size_t k = from + 1; k < to; ++k) {
      const std::int64_t px = corners_[k].x - a.x;
      const std::int64_t py = corners_[k].y - a.y;
      const std::int64_t d = length2 > 0 ? std::abs(dx * py - dy * px) : px * px + py * py;
      if (d > most) {
        most = d;
        farthest = k;
      }
    }
    const bool near_a_pixel =
        static_cast<double>(most) * static_cast<double>(most) <= static_cast<double>(length2);
    const bool straight = near_a_pixel || kInverseFraction * most <= length2;
    return length2 > 0 && straight ? from : farthest;
  }

  void measure(std::uint64_t start) {
    const auto [p, q] = pixels(corners_[0], corners_[1]);
    const auto [first, second] = std::minmax({parts_.of_pixel[p], parts_.of_pixel[q]});
    Arc arc{first, second, 0, static_cast<std::int64_t>(corners_.size() - 1)};
    pieces_.assign(1, {0, corners_.size() - 1});
    while (!pieces_.empty()) {
      const auto [from, to] = pieces_.back();
      pieces_.pop_back();
      if (const std::size_t at = where_to_divide(from, to); at != from) {
        pieces_.emplace_back(at, to);
        pieces_.emplace_back(from, at);
      } else {
        arc.strength += strength_of(from, to);
      }
    }
    chains_.push_back({arc, start});
  }

  std::int64_t strength_of(std::size_t from, std::size_t to) const {
    const Corner& a = corners_[from];
    const Corner& b = corners_[to];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const double nx = (a.y - b.y) / length;
    const double ny = (b.x - a.x) / length;
    std::int64_t sum = 0;
    for (std::size_t k = from; k < to; ++k) {
      const auto [p, q] = pixels(corners_[k], corners_[k + 1]);
      sum += fixed_point(strength_(p, q, nx, ny));
    }
    return sum;
  }

  const Parts& parts_;
  const BoundaryStrength& strength_;
  CornerMap& map_;
  std::vector<Chain> chains_;
  std::vector<Corner> corners_;  ///< Of the chain that is followed.
  std::vector<std::pair<std::size_t, std::size_t>> pieces_;
};

/// Arcs from chains, each arc's united: sorted by counting the first parts, then each part's by the
/// second.
std::vector<Arc> united(const std::vector<std::vector<Chain>>& chains, std::int32_t parts) {
  std::vector<std::size_t> begin(static_cast<std::size_t>(parts) + 2, 0);
  for (const std::vector<Chain>& some : chains) {
    for (const Chain& chain : some) ++begin[static_cast<std::size_t>(chain.arc.first) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Chain> sorted(begin.back());
  std::vector<std::size_t> next = begin;
  for (const std::vector<Chain>& some : chains) {
    for (const Chain& chain : some) {
      sorted[next[static_cast<std::size_t>(chain.arc.first)]++] = chain;
    }
  }
  std::vector<Arc> arcs;
  arcs.reserve(sorted.size());
  for (std::size_t part = 0; part + 1 < begin.size(); ++part) {
    const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(begin[part]);
    const auto to = sorted.begin() + static_cast<std::ptrdiff_t>(begin[part + 1]);
    const auto key = [](const Chain& chain) { return std::tie(chain.arc.second, chain.start); };
    std::sort(from, to, [&](const Chain& a, const Chain& b) { return key(a) < key(b); });
    for (auto chain = from; chain != to; ++chain) {
      if (chain != from && chain->start == (chain - 1)->start) continue;
      if (chain == from || chain->arc.second != arcs.back().second) {
        arcs.push_back(chain->arc);
      } else {
        arcs.back().strength += chain->arc.strength;
        arcs.back().length += chain->arc.length;
      }
    }
  }
  return arcs;
}

}  // namespace

std::vector<Arc> find_arcs(const Parts& parts, const BoundaryStrength& strength) {
  CornerMap map(parts);
  const std::vector<IndexRange> ranges = ranges_of(map.rows(), 1 + kLeastCorners / map.columns());
  std::vector<std::vector<Chain>> chains(2 * ranges.size());
  const auto follow = [&](std::size_t from, auto each_row) {
    parallel_for(static_cast<int>(ranges.size()), [&](int k) {
      Follower follower(parts, strength, map);
      const IndexRange& rows = ranges[static_cast<std::size_t>(k)];
      for (std::size_t row = rows.begin; row < rows.end; ++row) (follower.*each_row)(row);
      chains[from + static_cast<std::size_t>(k)] = std::move(follower).chains();
    });
  };
  follow(0, &Follower::follow_open);
  follow(ranges.size(), &Follower::follow_closed);
  return united(chains, parts.count);
}

}  // namespace diacut
