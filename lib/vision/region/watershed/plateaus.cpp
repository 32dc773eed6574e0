#include "region/watershed/plateaus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "core/disjoint_sets.hpp"
#include "core/large_memory.hpp"
#include "diacut/errors.hpp"
#include "region/arcs/borders.hpp"

namespace diacut {

namespace {

class TileLevels {
 public:
  TileLevels(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid, int width,
             int height)
      : strength_(strength),
        valid_(valid),
        width_(static_cast<std::uint32_t>(width)),
        height_(static_cast<std::uint32_t>(height)) {}

  bool has_data(std::uint32_t pixel) const { return valid_.empty() || valid_[pixel] != 0; }
  Level at(std::uint32_t pixel) const { return level_of(strength_[pixel]); }

  bool has_lower_neighbour(std::uint32_t pixel) const {
    const Level mine = at(pixel);
    bool found = false;
    each_neighbour(pixel, width_, height_, [&](std::uint32_t next) {
      found = found || (has_data(next) && at(next) < mine);
    });
    return found;
  }

 private:
  const std::vector<float>& strength_;
  const std::vector<std::uint8_t>& valid_;
  std::uint32_t width_;
  std::uint32_t height_;
};

std::size_t place_of(const std::vector<std::uint32_t>& pixels, std::uint32_t pixel) {
  const auto found = std::lower_bound(pixels.begin(), pixels.end(), pixel);
  return found != pixels.end() && *found == pixel ? static_cast<std::size_t>(found - pixels.begin())
                                                  : pixels.size();
}

/// A distance that a pixel of TilePlateaus::pixels may have: the pixel by its place there.
using Offer = std::pair<std::uint32_t, std::size_t>;
using Offers = std::priority_queue<Offer, std::vector<Offer>, std::greater<>>;

/// Gives each pixel the least distance that follows from the offers.
void spread(TilePlateaus& tile, std::uint32_t width, std::uint32_t height, Offers offers) {
  while (!offers.empty()) {
    const std::uint32_t distance = offers.top().first;
    const std::size_t place = offers.top().second;
    offers.pop();
    if (distance >= tile.distance_of[place]) continue;
    tile.distance_of[place] = distance;
    // Of two neighbours in the list none is lower than the other: they are on one plateau.
    each_neighbour(tile.pixels[place], width, height, [&](std::uint32_t next) {
      const std::size_t there = place_of(tile.pixels, next);
      if (there == tile.pixels.size() || distance + 1 >= tile.distance_of[there]) return;
      offers.emplace(distance + 1, there);
    });
  }
}

/// Brings the distances of the outermost pixels up to date. Returns whether any has changed.
bool refresh_edge(TilePlateaus& tile, const RimPlaces& places) {
  bool changed = false;
  places.each([&](std::size_t place, std::size_t x, std::size_t y) {
    const std::size_t listed =
        place_of(tile.pixels, static_cast<std::uint32_t>(y * places.width + x));
    if (listed == tile.pixels.size() || tile.distance[place] == tile.distance_of[listed]) return;
    tile.distance[place] = tile.distance_of[listed];
    changed = true;
  });
  return changed;
}

/// The distances that the neighbours of a tile offer to its outermost pixels.
Offers offers_from_around(const Tiling& tiling, std::size_t tile,
                          const std::vector<TilePlateaus>& tiles,
                          const std::vector<std::uint32_t>& pixel_at) {
  const TilePlateaus& mine = tiles[tile];
  Offers offers;
  each_neighbouring_pixel(
      tiling, tile, [&](std::size_t place, std::size_t other, std::size_t there) {
        const std::uint32_t distance = tiles[other].distance[there];
        if (distance == kNoPixel || mine.distance[place] == 0) return;
        const Level level = tiles[other].level[there];
        const bool lower = level < mine.level[place];
        if (!lower && (level > mine.level[place] || distance == kNoLowerNeighbour)) return;
        const std::size_t listed = place_of(mine.pixels, pixel_at[place]);
        if (listed == mine.pixels.size()) return;
        const std::uint32_t offered = lower ? 0 : distance + 1;
        if (offered < mine.distance_of[listed]) offers.emplace(offered, listed);
      });
  return offers;
}

/// The pieces of all tiles, numbered from 0.
class AllPieces {
 public:
  AllPieces(const Tiling& tiling, const std::vector<TilePieces>& tiles)
      : tiling_(tiling), tiles_(tiles), begin_(tiles.size() + 1, 0) {
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
      begin_[tile + 1] = begin_[tile] + tiles[tile].count();
    }
    if (begin_.back() >= std::size_t{std::numeric_limits<std::int32_t>::max()}) {
      throw InputError(fmt::format(
          "the picture has {} pieces of basins, and 2^31 or more cannot be numbered: smooth it, or "
          "reduce its size",
          begin_.back()));
    }
  }

  std::size_t count() const { return begin_.back(); }
  std::int32_t number(std::size_t tile, std::int32_t piece) const {
    return static_cast<std::int32_t>(begin_[tile]) + piece - 1;
  }

  DisjointSets united() const {
    DisjointSets sets(count());
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) unite_around(tile, sets);
    return sets;
  }

  /// Calls visit(tile, piece, number) for all pieces.
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      for (std::size_t piece = 0; piece < tiles_[tile].count(); ++piece) {
        visit(tile, piece, static_cast<std::int32_t>(begin_[tile] + piece));
      }
    }
  }

 private:
  void unite_around(std::size_t tile, DisjointSets& sets) const {
    const std::vector<RimMeeting>& meetings = tiles_[tile].meetings;
    if (meetings.empty()) return;
    std::vector<std::int32_t> beside(tiles_[tile].at_edge.size(), -1);
    each_neighbouring_pixel(tiling_, tile,
                            [&](std::size_t place, std::size_t other, std::size_t there) {
                              const std::int32_t piece = tiles_[other].at_edge[there];
                              if (piece > 0) beside[place] = number(other, piece);
                            });
    for (const RimMeeting& meeting : meetings) {
      if (beside[meeting.place] < 0) {
        throw InputError(fmt::format(
            "a basin of tile {} leads to pixel {} beside it, which has no data in its own tile",
            tile, meeting.place));
      }
      sets.unite(number(tile, meeting.part), beside[meeting.place]);
    }
  }

  const Tiling& tiling_;
  const std::vector<TilePieces>& tiles_;
  std::vector<std::size_t> begin_;
};

/// The place in the picture of a pixel of a tile.
std::uint64_t place_of(const Tiling& tiling, std::size_t tile, std::uint32_t pixel) {
  const TileArea area = tiling.area(tile);
  const auto width = static_cast<std::uint32_t>(area.width);
  const auto row = static_cast<std::uint64_t>(area.y) + pixel / width;
  return row * static_cast<std::uint64_t>(tiling.width) + static_cast<std::uint64_t>(area.x) +
         pixel % width;
}

}  // namespace

TilePlateaus plateaus_at_edge(const std::vector<float>& strength,
                              const std::vector<std::uint8_t>& valid, int width, int height) {
  const TileLevels levels(strength, valid, width, height);
  const RimPlaces places = places_of({0, 0, width, height});
  TilePlateaus result;
  result.level.resize(places.count());
  result.distance.resize(places.count(), 0);
  auto seen = large_vector<char>(static_cast<std::size_t>(width) * height);
  places.each([&](std::size_t place, std::size_t x, std::size_t y) {
    const auto pixel = static_cast<std::uint32_t>(y * places.width + x);
    if (!levels.has_data(pixel)) {
      result.distance[place] = kNoPixel;
      return;
    }
    result.level[place] = levels.at(pixel);
    if (levels.has_lower_neighbour(pixel)) return;
    result.distance[place] = kNoLowerNeighbour;
    if (result.level[place] == 0 || seen[pixel] != 0) return;
    seen[pixel] = 1;
    result.pixels.push_back(pixel);
  });
  std::vector<std::uint32_t> beside_lower;
  for (std::size_t k = 0; k < result.pixels.size(); ++k) {
    const std::uint32_t pixel = result.pixels[k];
    const Level mine = levels.at(pixel);
    each_neighbour<std::uint32_t>(pixel, width, height, [&](std::uint32_t next) {
      if (seen[next] != 0 || !levels.has_data(next) || levels.at(next) != mine) return;
      if (levels.has_lower_neighbour(next)) {
        beside_lower.push_back(pixel);
      } else {
        seen[next] = 1;
        result.pixels.push_back(next);
      }
    });
  }
  std::sort(result.pixels.begin(), result.pixels.end());
  result.distance_of.assign(result.pixels.size(), kNoLowerNeighbour);
  Offers offers;
  for (const std::uint32_t pixel : beside_lower) offers.emplace(1, place_of(result.pixels, pixel));
  spread(result, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height),
         std::move(offers));
  refresh_edge(result, places);
  return result;
}

std::vector<Rim> join_plateaus(const Tiling& tiling, std::vector<TilePlateaus> tiles) {
  std::deque<std::size_t> waiting;
  std::vector<char> waits(tiles.size(), 1);
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) waiting.push_back(tile);
  while (!waiting.empty()) {
    const std::size_t tile = waiting.front();
    waiting.pop_front();
    waits[tile] = 0;
    const TileArea area = tiling.area(tile);
    const RimPlaces places = places_of(area);
    std::vector<std::uint32_t> pixel_at(places.count());
    places.each([&](std::size_t place, std::size_t x, std::size_t y) {
      pixel_at[place] = static_cast<std::uint32_t>(y * places.width + x);
    });
    spread(tiles[tile], static_cast<std::uint32_t>(area.width),
           static_cast<std::uint32_t>(area.height),
           offers_from_around(tiling, tile, tiles, pixel_at));
    if (!refresh_edge(tiles[tile], places)) continue;
    each_neighbouring_pixel(tiling, tile, [&](std::size_t, std::size_t other, std::size_t) {
      if (std::exchange(waits[other], 1) == 0) waiting.push_back(other);
    });
  }
  std::vector<Rim> rims(tiles.size());
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    Rim& rim = rims[tile];
    const std::size_t count = places_of(tiling.area(tile)).count();
    rim.level.assign(count, 0);
    rim.distance.assign(count, kNoPixel);
    each_neighbouring_pixel(tiling, tile,
                            [&](std::size_t place, std::size_t other, std::size_t there) {
                              rim.level[place] = tiles[other].level[there];
                              rim.distance[place] = tiles[other].distance[there];
                            });
  }
  return rims;
}

TilePieces pieces_of(const TileBasins& basins) {
  const Labels& parts = basins.parts;
  TilePieces result;
  result.meetings = basins.meetings;
  result.first_pixel.resize(static_cast<std::size_t>(parts.count),
                            std::numeric_limits<std::uint32_t>::max());
  result.pixels.resize(result.first_pixel.size(), 0);
  each_run(parts.values, [&](std::int32_t piece, std::size_t begin, std::size_t end) {
    if (piece == 0) return;
    const auto k = static_cast<std::size_t>(piece) - 1;
    result.pixels[k] += static_cast<std::uint32_t>(end - begin);
    result.first_pixel[k] = std::min(result.first_pixel[k], static_cast<std::uint32_t>(begin));
  });
  const RimPlaces places = places_of({0, 0, parts.width, parts.height});
  result.at_edge.resize(places.count());
  places.each([&](std::size_t place, std::size_t x, std::size_t y) {
    result.at_edge[place] = parts.values[y * places.width + x];
  });
  return result;
}

BasinNumbers number_basins(const Tiling& tiling, const std::vector<TilePieces>& tiles) {
  const AllPieces all(tiling, tiles);
  DisjointSets sets = all.united();
  // By set: its first pixel in the picture.
  auto first = large_vector<std::uint64_t>(all.count(), std::numeric_limits<std::uint64_t>::max());
  all.each([&](std::size_t tile, std::size_t piece, std::int32_t number) {
    std::uint64_t& least = first[sets.find(number)];
    least = std::min(least, place_of(tiling, tile, tiles[tile].first_pixel[piece]));
  });
  std::vector<std::int32_t> order;
  for (std::int32_t set = 0; set < static_cast<std::int32_t>(all.count()); ++set) {
    if (sets.find(set) == set) order.push_back(set);
  }
  std::sort(order.begin(), order.end(),
            [&](std::int32_t a, std::int32_t b) { return first[a] < first[b]; });
  BasinNumbers result;
  auto basin_of = large_vector<std::int32_t>(all.count());  // By set.
  for (const std::int32_t set : order) basin_of[set] = ++result.count;
  result.of_piece.resize(tiles.size());
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    result.of_piece[tile].resize(tiles[tile].count() + 1, 0);
    result.pixels =
        std::accumulate(tiles[tile].pixels.begin(), tiles[tile].pixels.end(), result.pixels);
  }
  all.each([&](std::size_t tile, std::size_t piece, std::int32_t number) {
    result.of_piece[tile][piece + 1] = basin_of[sets.find(number)];
  });
  return result;
}

}  // namespace diacut
