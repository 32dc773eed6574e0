#include "region/tiling/tile_regions.hpp"

#include <fmt/format.h>

#include <iterator>
#include <tuple>
#include <utility>

#include "core/disjoint_sets.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "region/arcs/pair_graph.hpp"

namespace diacut {

namespace {

/// The basins of a tile, numbered 1..count in the order of their numbers in the picture.
struct LocalBasins {
  std::vector<std::int32_t> numbers;  ///< In the picture. Element 0 is 0.
  Labels parts;                       ///< With the pixels around the tile.
};

/// Fewer pixels are not worth another thread.
constexpr std::size_t kTileRegionsLeastPixels = std::size_t{1} << 16;

void sort_and_unite(std::vector<std::int32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// The numbers of basins in rows of `width` pixels, each once, ascending, and 0.
std::vector<std::int32_t> distinct(const std::vector<std::int32_t>& basins, std::size_t width) {
  std::vector<std::int32_t> numbers = {0};
  for (std::size_t i = 0; i < basins.size(); ++i) {
    // Others stand beside an equal one to the left or above.
    const std::int32_t basin = basins[i];
    if (i > 0 && basins[i - 1] == basin) continue;
    if (i < width || basins[i - width] != basin) numbers.push_back(basin);
  }
  sort_and_unite(numbers);
  return numbers;
}

LocalBasins local_basins(const TileArea& area, std::vector<std::int32_t> basins) {
  LocalBasins local;
  local.numbers = distinct(basins, static_cast<std::size_t>(area.width) + 2);
  local.parts = {area.width + 2, area.height + 2,
                 static_cast<std::int32_t>(local.numbers.size()) - 1, std::move(basins)};
  const Places places(local.numbers);
  std::vector<std::int32_t>& of_pixel = local.parts.values;
  parallel_ranges(of_pixel.size(), kTileRegionsLeastPixels,
                  [&](std::size_t begin, std::size_t end) {
                    std::int32_t before = 0;
                    std::int32_t number = 0;
                    for (std::size_t i = begin; i < end; ++i) {
                      if (of_pixel[i] != before) {
                        before = of_pixel[i];
                        number = static_cast<std::int32_t>(places.of(before));
                      }
                      of_pixel[i] = number;
                    }
                  });
  return local;
}

/// For each local basin, whether other tiles have a part in its boundaries: those around the tile,
/// and those that touch pixels with data there.
std::vector<char> shared_basins(const Labels& parts) {
  std::vector<char> shared(static_cast<std::size_t>(parts.count) + 1, 0);
  const auto width = static_cast<std::size_t>(parts.width);
  const auto height = static_cast<std::size_t>(parts.height);
  const auto note = [&](std::size_t outer, std::size_t inner) {
    const std::int32_t around = parts.values[outer];
    shared[around] = 1;
    if (around != 0) shared[parts.values[inner]] = 1;
  };
  for (std::size_t x = 0; x < width; ++x) {
    // A corner touches no pixel of the tile: the basin there is noted twice.
    const bool corner = x == 0 || x + 1 == width;
    note(x, corner ? x : width + x);
    const std::size_t last = (height - 1) * width + x;
    note(last, corner ? last : last - width);
  }
  for (std::size_t y = 1; y + 1 < height; ++y) {
    note(y * width, y * width + 1);
    note(y * width + width - 1, y * width + width - 2);
  }
  return shared;
}

/// The basins with pixels in the tile itself, and how many.
std::vector<Leaf> leaves_of(const LocalBasins& local, const TileArea& area) {
  std::vector<std::int64_t> pixels(local.numbers.size(), 0);
  const auto width = static_cast<std::size_t>(area.width);
  const std::span all(local.parts.values);
  for (std::size_t y = 1; y <= static_cast<std::size_t>(area.height); ++y) {
    add_counts(all.subspan(y * (width + 2) + 1, width), pixels);
  }
  std::vector<Leaf> leaves;
  for (std::size_t k = 1; k < pixels.size(); ++k) {
    if (pixels[k] > 0) leaves.push_back({pixels[k], local.numbers[k]});
  }
  return leaves;
}

std::vector<std::int32_t> numbers_of(const std::vector<Leaf>& leaves) {
  std::vector<std::int32_t> numbers(leaves.size());
  std::transform(leaves.begin(), leaves.end(), numbers.begin(),
                 [](const Leaf& leaf) { return leaf.number; });
  return numbers;
}

/// Gives what lies between two basins their numbers by number(old).
template <class OfTwo, class Number>
void renumber(OfTwo& of_two, const Number& number) {
  of_two.first = number(of_two.first);
  of_two.second = number(of_two.second);
}

template <class OfTwo>
void put_in_order(OfTwo& of_two) {
  if (of_two.first > of_two.second) std::swap(of_two.first, of_two.second);
}

/// The places of numbers that are in the list, as numbers.
auto place_in(const Places& places) {
  return [&places](std::int32_t number) { return static_cast<std::int32_t>(places.of(number)); };
}

/// The leaves in the order of their numbers, each once.
std::vector<Leaf> united_leaves(std::vector<Leaf> leaves) {
  return united(std::move(leaves), [](const Leaf& leaf) { return leaf.number; });
}

/// An end of a boundary: that of boundary k is 2k at its front and 2k + 1 at its back.
using End = std::size_t;

/// A boundary from crossing to crossing, or around.
struct OpenBoundariesChain {
  std::vector<Corner> corners;
  std::vector<SideStrength> sides;

  void add(std::span<const Corner> more_corners, std::span<const SideStrength> more_sides,
           bool backwards) {
    if (!corners.empty()) corners.pop_back();
    if (backwards) {
      corners.insert(corners.end(), more_corners.rbegin(), more_corners.rend());
      sides.insert(sides.end(), more_sides.rbegin(), more_sides.rend());
    } else {
      corners.insert(corners.end(), more_corners.begin(), more_corners.end());
      sides.insert(sides.end(), more_sides.begin(), more_sides.end());
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

/// Puts the boundaries together that tiles have cut, each from crossing to crossing or around, and
/// sums the strengths along them as find_arcs() does for the whole picture. Corners and parts are
/// numbered as in the whole picture. Throws InputError where one does not go on in another tile.
class Joiner {
 public:
  Joiner(const OpenBoundaries& open, double direction)
      : all_(open), open_(open.pieces), direction_(direction), used_(open_.size(), 0) {
    std::size_t begin = 0;
    for (std::size_t k = 0; k < open_.size(); ++k) {
      if (open_[k].front_open != 0) ends_.push_back(2 * k);
      if (open_[k].back_open != 0) ends_.push_back(2 * k + 1);
      begins_.push_back(begin);
      if (open_[k].corners < 2 || open_[k].corners > open.corners.size() - begin) refuse_cut_off();
      begin += static_cast<std::size_t>(open_[k].corners);
    }
    if (open.sides.size() + open_.size() != begin) refuse_cut_off();
    std::sort(ends_.begin(), ends_.end(), [&](End a, End b) { return key(a) < key(b); });
    for (std::size_t k = 0; k < ends_.size(); k += 2) {
      const bool pair = k + 1 < ends_.size() && key(ends_[k]) == key(ends_[k + 1]);
      const bool more = k + 2 < ends_.size() && key(ends_[k]) == key(ends_[k + 2]);
      if (!pair || more) throw not_one(ends_[k]);
    }
  }

  std::vector<Arc> arcs() {
    for (std::size_t k = 0; k < open_.size(); ++k) {
      if (used_[k] == 0 && open_[k].front_open + open_[k].back_open < 2) follow(k);
    }
    for (std::size_t k = 0; k < open_.size(); ++k) {
      if (used_[k] == 0) follow(k);
    }
    return std::move(arcs_);
  }

 private:
  [[noreturn]] static void refuse_cut_off() {
    throw InputError("the boundaries of a tile are cut off: remove its files and run again");
  }

  std::span<const Corner> corners(std::size_t k) const {
    return std::span(all_.corners).subspan(begins_[k], static_cast<std::size_t>(open_[k].corners));
  }
  /// Each boundary has one side fewer than corners.
  std::span<const SideStrength> sides(std::size_t k) const {
    return std::span(all_.sides)
        .subspan(begins_[k] - k, static_cast<std::size_t>(open_[k].corners) - 1);
  }
  const Corner& corner(End end) const {
    return end % 2 == 0 ? corners(end / 2).front() : corners(end / 2).back();
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
    End entered = 2 * from + (open_[from].front_open > open_[from].back_open ? 1 : 0);
    bool around = false;
    for (;;) {
      const OpenBoundary& open = open_[entered / 2];
      if (std::tie(open.first, open.second) != std::tie(open_[from].first, open_[from].second)) {
        throw not_one(entered);
      }
      used_[entered / 2] = 1;
      chain.add(corners(entered / 2), sides(entered / 2), entered % 2 == 1);
      const End left = entered ^ 1U;
      if ((left % 2 == 0 ? open.front_open : open.back_open) == 0) break;
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

  const OpenBoundaries& all_;
  const std::vector<OpenBoundary>& open_;
  std::vector<std::size_t> begins_;  ///< By boundary its first corner.
  double direction_;
  std::vector<char> used_;
  std::vector<End> ends_;  ///< The open ones, by corner.
  std::vector<Arc> arcs_;
  std::vector<std::pair<std::size_t, std::size_t>> pieces_;
};

/// The joins of regions that are left when tiles have merged what they can.
std::vector<Join> remaining_joins(std::vector<Boundary> boundaries) {
  std::vector<std::int32_t> names = {0};
  for (const Boundary& boundary : boundaries) {
    names.push_back(boundary.first);
    names.push_back(boundary.second);
  }
  sort_and_unite(names);
  const Places places(names);
  for (Boundary& boundary : boundaries) renumber(boundary, place_in(places));
  std::vector<Join> joins =
      merge_boundaries(static_cast<std::int32_t>(names.size()) - 1, std::move(boundaries), {})
          .joins;
  for (Join& join : joins) {
    renumber(join.removed, [&](std::int32_t place) { return names[place]; });
  }
  return joins;
}

}  // namespace

TileRegions regions_of_tile(SurroundedTile tile, double direction) {
  const LocalBasins local = local_basins(tile.area, std::move(tile.basins));
  const auto side = [&](std::size_t p, std::size_t q) {
    return side_strength(tile.strength, tile.orientation, p, q);
  };
  TileArcs found = find_arcs_of_tile(local.parts, side, direction);
  TileRegions result;
  std::vector<Boundary> boundaries = boundaries_of(found.arcs);
  for (Boundary& boundary : boundaries) {
    const std::int32_t first = local.numbers[boundary.first];
    const std::int32_t second = local.numbers[boundary.second];
    boundary.earliest = arc_order(first, second);
    result.borders.push_back({first, second, boundary.length});
  }
  PartialMerging merged = merge_boundaries(static_cast<std::int32_t>(local.parts.count),
                                           std::move(boundaries), shared_basins(local.parts));
  const auto in_picture = [&](std::int32_t basin) { return local.numbers[basin]; };
  for (Join& join : merged.joins) renumber(join.removed, in_picture);
  for (Boundary& boundary : merged.remaining) renumber(boundary, in_picture);
  result.joins = std::move(merged.joins);
  result.remaining = std::move(merged.remaining);
  result.open = std::move(found.open);
  for (OpenBoundary& open : result.open.pieces) renumber(open, in_picture);
  for (Corner& corner : result.open.corners) {
    corner.x += static_cast<int>(tile.area.x) - 1;
    corner.y += static_cast<int>(tile.area.y) - 1;
  }
  result.leaves = leaves_of(local, tile.area);
  return result;
}

std::vector<LeafOfBasin> unite_small(TileRegions& tile, std::int64_t least) {
  std::vector<LeafOfBasin> result;
  const std::vector<std::int32_t> numbers = numbers_of(tile.leaves);
  const Places places(numbers);
  const auto place = place_in(places);
  DisjointSets nodes(numbers.size());
  DisjointSets leaves(numbers.size());
  std::vector<std::int64_t> pixels;
  for (const Leaf& leaf : tile.leaves) pixels.push_back(leaf.pixels);
  std::erase_if(tile.joins, [&](const Join& join) {
    const std::int32_t a = nodes.find(place(join.removed.first));
    const std::int32_t b = nodes.find(place(join.removed.second));
    const std::int64_t both = pixels[a] + pixels[b];
    pixels[nodes.unite(a, b)] = both;
    if (both >= least) return false;
    leaves.unite(a, b);
    return true;
  });
  // Basins of other tiles are leaves by themselves here.
  const auto leaf_of = [&](std::int32_t number) {
    const std::size_t at = places.of(number);
    return at < numbers.size() && numbers[at] == number ? numbers[leaves.find(place(number))]
                                                        : number;
  };
  for (Join& join : tile.joins) renumber(join.removed, leaf_of);
  for (Boundary& boundary : tile.remaining) renumber(boundary, leaf_of);
  for (Border& border : tile.borders) {
    renumber(border, leaf_of);
    put_in_order(border);
  }
  std::erase_if(tile.borders, [](const Border& border) { return border.first == border.second; });
  tile.borders = united_pairs(std::move(tile.borders));
  for (Leaf& leaf : tile.leaves) {
    const std::int32_t basin = std::exchange(leaf.number, leaf_of(leaf.number));
    if (basin != leaf.number) result.push_back({basin, leaf.number});
  }
  tile.leaves = united_leaves(std::move(tile.leaves));
  return result;
}

JoinedRegions join_regions(std::vector<TileRegions> tiles, double direction) {
  OpenBoundaries open;
  std::vector<Boundary> boundaries;
  JoinedRegions result;
  const auto take = [](auto& into, auto& from) {
    into.insert(into.end(), std::make_move_iterator(from.begin()),
                std::make_move_iterator(from.end()));
    std::remove_reference_t<decltype(from)>().swap(from);
  };
  for (TileRegions& tile : tiles) {
    take(open.pieces, tile.open.pieces);
    take(open.corners, tile.open.corners);
    take(open.sides, tile.open.sides);
    take(boundaries, tile.remaining);
    take(result.borders, tile.borders);
    take(result.joins, tile.joins);
    take(result.leaves, tile.leaves);
  }
  result.leaves = united_leaves(std::move(result.leaves));
  const std::vector<Arc> closed = Joiner(open, direction).arcs();
  open = {};
  for (const Boundary& boundary : boundaries_of(closed)) {
    boundaries.push_back(boundary);
    result.borders.push_back({boundary.first, boundary.second, boundary.length});
  }
  result.borders = united_pairs(std::move(result.borders));
  for (Boundary& boundary : boundaries) put_in_order(boundary);
  std::vector<Join> joins = remaining_joins(united_pairs(std::move(boundaries)));
  take(result.joins, joins);
  std::sort(result.joins.begin(), result.joins.end(), before);
  return result;
}

void number_leaves(JoinedRegions& regions) {
  const std::vector<std::int32_t> numbers = numbers_of(regions.leaves);
  const Places places(numbers);
  const auto number = [&](std::int32_t name) {
    return static_cast<std::int32_t>(places.of(name)) + 1;
  };
  for (Join& join : regions.joins) renumber(join.removed, number);
  for (Border& border : regions.borders) renumber(border, number);
}

}  // namespace diacut
