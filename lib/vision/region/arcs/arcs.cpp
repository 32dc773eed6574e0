#include "region/arcs/arcs.hpp"

#include <atomic>
#include <bit>
#include <memory>

#include "core/large_memory.hpp"
#include "core/parallel.hpp"
#include "region/arcs/pair_graph.hpp"

namespace diacut {

namespace {

/// Fewer corners are not worth another thread.
constexpr std::size_t kLeastCorners = 8192;

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

/// A chain of which one end at least is where the tile ends.
struct OpenChain {
  OpenBoundary boundary;
  std::uint64_t start = 0;  ///< As Chain::start.
  std::vector<Corner> corners;
};

/// For each corner in scan order, which of its sides part two regions: bit k for way k. kEnd: they
/// are not just two sides that part the same two regions. kSeen: of other corners, that the chain
/// through them was followed. kCut: kEnd is set because a side belongs to another tile.
class CornerMap {
 public:
  static constexpr std::uint8_t kSides = 15;
  static constexpr std::uint8_t kEnd = 16;
  static constexpr std::uint8_t kSeen = 32;
  static constexpr std::uint8_t kCut = 64;

  explicit CornerMap(const Labels& parts)
      : columns_(static_cast<std::size_t>(parts.width) + 1),
        rows_(static_cast<std::size_t>(parts.height) + 1),
        corners_(large_array<std::uint8_t>(columns_ * rows_)) {
    const std::vector<std::int32_t> outside(columns_ - 1, 0);
    parallel_ranges(rows_, 1 + kLeastCorners / columns_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t y = begin; y < end; ++y) {
        const std::int32_t* below = parts.values.data() + y * (columns_ - 1);
        const std::int32_t* above = y == 0 ? outside.data() : below - (columns_ - 1);
        find_row(above, y + 1 == rows_ ? outside.data() : below, &corners_[y * columns_]);
      }
    });
  }

  /// Leaves the sides between two pixels of which the right or the lower one is not in the
  /// outermost rows and columns: of the sides in a picture, each belongs to one tile.
  void keep_inner_sides() {
    const std::size_t right = columns_ - 2;  // Corners on the tile's own edges.
    const std::size_t bottom = rows_ - 2;
    for (std::size_t y = 0; y < rows_; ++y) {
      const bool whole_row = y < 2 || y >= bottom;
      for (std::size_t x = 0; x < columns_; ++x) {
        if (!whole_row && x == 2 && right > 2) x = right;
        const bool within = x >= 1 && x < right && y >= 1 && y < bottom;
        const bool up = x >= 1 && x < right && y >= 2 && y <= bottom;
        const bool left = x >= 2 && x <= right && y >= 1 && y < bottom;
        const unsigned mine =
            (up ? 1U : 0U) | (left ? 2U : 0U) | (within ? 4U : 0U) | (within ? 8U : 0U);
        keep_sides(corners_[y * columns_ + x], mine);
      }
    }
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
  static void keep_sides(std::uint8_t& corner, unsigned sides) {
    const unsigned kept = corner & sides & kSides;
    if (kept == (corner & kSides)) return;
    const unsigned end = (corner & kEnd) != 0 ? unsigned{kEnd} : unsigned{kEnd} | kCut;
    corner = static_cast<std::uint8_t>(kept == 0 ? 0U : kept | end);
  }

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

/// The pixels on either side of the step between two corners.
std::pair<std::size_t, std::size_t> pixels_beside(const Corner& a, const Corner& b,
                                                  int picture_width) {
  const auto width = static_cast<std::size_t>(picture_width);
  const auto x = static_cast<std::size_t>(std::min(a.x, b.x));
  const auto y = static_cast<std::size_t>(std::min(a.y, b.y));
  const std::size_t pixel = y * width + x;  // To the lower right of the first corner.
  return a.x == b.x ? std::pair(pixel - 1, pixel) : std::pair(pixel - width, pixel);
}

/// Follows chains, divides them into straight pieces and sums the strength along them.
class Follower {
 public:
  Follower(const Labels& parts, const BoundaryStrength& strength, CornerMap& map)
      : parts_(parts), strength_(strength), map_(map) {}

  /// What was followed since the last call.
  std::vector<Chain> take_chains() { return std::exchange(chains_, {}); }
  std::vector<OpenChain> take_open() { return std::exchange(open_, {}); }

  /// Follows the chains that end in the corners of a row.
  void follow_open(std::size_t row) {
    for (std::size_t x = 0; x < map_.columns(); ++x) {
      const std::uint8_t corner = map_.at(row * map_.columns() + x);
      for (Way way = 0; way < 4; ++way) {
        if ((corner & CornerMap::kEnd) == 0 || (corner >> way & 1) == 0) continue;
        follow_from_end({static_cast<int>(x), static_cast<int>(row)}, way);
      }
    }
  }

  /// Follows the chains through a row that have no ends, when all that have were followed.
  void follow_closed(std::size_t row) {
    for (std::size_t x = 0; x < map_.columns(); ++x) {
      const std::uint8_t corner = map_.at(row * map_.columns() + x);
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
      if (corners_.size() == 2) return;  // No corner between the ends shows how it was followed.
      std::reverse(corners_.begin(), corners_.end());
    }
    const auto cut = [this](const Corner& corner) {
      return (map_.at(map_.index(corner)) & CornerMap::kCut) != 0 ? 1U : 0U;
    };
    const auto [first, second] = sides();
    const OpenBoundary open{first, second, cut(corners_.front()), cut(corners_.back()),
                            corners_.size()};
    if (open.front_open + open.back_open == 0) return measure(std::min(start, end));
    open_.push_back({open, std::min(start, end), corners_});
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

  /// The parts on either side of the chain that is followed.
  std::pair<std::int32_t, std::int32_t> sides() const {
    const auto [p, q] = pixels_beside(corners_[0], corners_[1], parts_.width);
    return std::minmax({parts_.values[p], parts_.values[q]});
  }

  void measure(std::uint64_t start) {
    const auto [first, second] = sides();
    const auto strength = [this](std::size_t k, double nx, double ny) {
      const auto [p, q] = pixels_beside(corners_[k], corners_[k + 1], parts_.width);
      return strength_(p, q, nx, ny);
    };
    chains_.push_back({{first, second, chain_strength(corners_, strength, pieces_),
                        static_cast<std::int64_t>(corners_.size() - 1)},
                       start});
  }

  const Labels& parts_;
  const BoundaryStrength& strength_;
  CornerMap& map_;
  std::vector<Chain> chains_;
  std::vector<OpenChain> open_;
  std::vector<Corner> corners_;  ///< Of the chain that is followed.
  std::vector<std::pair<std::size_t, std::size_t>> pieces_;
};

/// The chains of all ranges, each once: two threads may have followed one from its two ends.
template <class Chain>
std::vector<Chain> each_once(std::vector<std::vector<Chain>> found) {
  std::vector<Chain> chains;
  for (std::vector<Chain>& some : found) {
    std::move(some.begin(), some.end(), std::back_inserter(chains));
  }
  std::sort(chains.begin(), chains.end(),
            [](const Chain& a, const Chain& b) { return a.start < b.start; });
  const auto same = [](const Chain& a, const Chain& b) { return a.start == b.start; };
  chains.erase(std::unique(chains.begin(), chains.end(), same), chains.end());
  return chains;
}

std::vector<Arc> arcs_of(std::vector<std::vector<Chain>> found) {
  std::vector<Arc> arcs;
  for (const Chain& chain : each_once(std::move(found))) arcs.push_back(chain.arc);
  return united_pairs(std::move(arcs));
}

/// Chains by the ranges of rows from where they were followed.
struct Found {
  std::vector<std::vector<Chain>> chains;
  std::vector<std::vector<OpenChain>> open;
};

Found follow_all(const Labels& parts, const BoundaryStrength& strength, CornerMap& map) {
  const std::vector<IndexRange> ranges = ranges_of(map.rows(), 1 + kLeastCorners / map.columns());
  Found found{std::vector<std::vector<Chain>>(2 * ranges.size()),
              std::vector<std::vector<OpenChain>>(2 * ranges.size())};
  const auto follow = [&](std::size_t from, auto each_row) {
    parallel_for(ranges.size(), [&](std::size_t k) {
      Follower follower(parts, strength, map);
      const IndexRange& rows = ranges[k];
      for (std::size_t row = rows.begin; row < rows.end; ++row) (follower.*each_row)(row);
      found.open[from + k] = follower.take_open();
      found.chains[from + k] = follower.take_chains();
    });
  };
  follow(0, &Follower::follow_open);
  follow(ranges.size(), &Follower::follow_closed);
  return found;
}

}  // namespace

std::vector<Arc> find_arcs(const Labels& parts, const BoundaryStrength& strength) {
  CornerMap map(parts);
  return arcs_of(follow_all(parts, strength, map).chains);
}

TileArcs find_arcs_of_tile(const Labels& parts,
                           const std::function<SideStrength(std::size_t, std::size_t)>& side,
                           double direction) {
  CornerMap map(parts);
  map.keep_inner_sides();
  const auto strength = [&](std::size_t p, std::size_t q, double nx, double ny) {
    return side(p, q).along(nx, ny, direction);
  };
  Found found = follow_all(parts, strength, map);
  TileArcs result{arcs_of(std::move(found.chains)), {}};
  for (const auto& [boundary, start, corners] : each_once(std::move(found.open))) {
    result.open.pieces.push_back(boundary);
    result.open.corners.insert(result.open.corners.end(), corners.begin(), corners.end());
    for (std::size_t at = 0; at + 1 < corners.size(); ++at) {
      const auto [p, q] = pixels_beside(corners[at], corners[at + 1], parts.width);
      result.open.sides.push_back(side(p, q));
    }
  }
  return result;
}

}  // namespace diacut
