#include "region/basin_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <span>

#include "core/disjoint_sets.hpp"
#include "core/large_memory.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "region/pixel_counts.hpp"
#include "region/plateaus.hpp"

namespace diacut {

namespace {

/// Fewer are not worth another thread.
constexpr std::size_t kLeastPixels = std::size_t{1} << 16;
constexpr std::size_t kLeastPieces = std::size_t{1} << 14;

/// Makes a number the least of itself and another one. Several threads may do that at once.
template <class Number>
void lower(Number& number, Number other) {
  std::atomic_ref<Number> least(number);
  Number known = least.load(std::memory_order_relaxed);
  while (other < known && !least.compare_exchange_weak(known, other, std::memory_order_relaxed)) {
  }
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

  /// Calls visit(tile, piece, number) for all pieces, in parallel.
  template <class Visit>
  void each(const Visit& visit) const {
    parallel_for(static_cast<int>(tiles_.size()), [&](int k) {
      const auto tile = static_cast<std::size_t>(k);
      parallel_ranges(tiles_[tile].count(), kLeastPieces, [&](std::size_t piece, std::size_t end) {
        for (; piece < end; ++piece) {
          visit(tile, piece, static_cast<std::int32_t>(begin_[tile] + piece));
        }
      });
    });
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

/// Counts the pixels from number `first` on, and notes the first one of each piece. Several threads
/// may do that at once.
void add_pixels(std::span<const std::int32_t> piece_of, std::size_t first, TilePieces& pieces) {
  each_run(piece_of, [&](std::int32_t piece, std::size_t begin, std::size_t end) {
    if (piece == 0) return;
    const auto k = static_cast<std::size_t>(piece) - 1;
    std::atomic_ref<std::uint32_t>(pieces.pixels[k])
        .fetch_add(static_cast<std::uint32_t>(end - begin), std::memory_order_relaxed);
    lower(pieces.first_pixel[k], static_cast<std::uint32_t>(first + begin));
  });
}

/// The place in the picture of a pixel of a tile.
std::uint64_t place_of(const Tiling& tiling, std::size_t tile, std::uint32_t pixel) {
  const TileArea area = tiling.area(tile);
  const auto width = static_cast<std::uint32_t>(area.width);
  const auto row = static_cast<std::uint64_t>(area.y) + pixel / width;
  return row * static_cast<std::uint64_t>(tiling.width) + static_cast<std::uint64_t>(area.x) +
         pixel % width;
}

/// The names of all sets in the order of their first pixels, of `pixels`: put into buckets by
/// counting, each of which is sorted.
std::vector<std::int32_t> in_order(const DisjointSets& sets,
                                   const std::vector<std::uint64_t>& first, std::uint64_t pixels) {
  constexpr std::uint64_t kBuckets = 1024;
  const std::uint64_t in_bucket = pixels / kBuckets + 1;
  const auto each_set = [&](const auto& visit) {
    for (std::size_t k = 0; k < first.size(); ++k) {
      const auto set = static_cast<std::int32_t>(k);
      if (sets.name(set) == set) visit(set, static_cast<std::size_t>(first[k] / in_bucket));
    }
  };
  std::vector<std::size_t> begin(kBuckets + 1, 0);
  each_set([&](std::int32_t, std::size_t bucket) { ++begin[bucket + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  auto order = large_vector<std::int32_t>(begin.back());
  std::vector<std::size_t> next = begin;
  each_set([&](std::int32_t set, std::size_t bucket) { order[next[bucket]++] = set; });
  parallel_for(static_cast<int>(kBuckets), [&](int k) {
    const auto bucket = static_cast<std::size_t>(k);
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin[bucket]),
              order.begin() + static_cast<std::ptrdiff_t>(begin[bucket + 1]),
              [&](std::int32_t a, std::int32_t b) { return first[a] < first[b]; });
  });
  return order;
}

}  // namespace

TilePieces pieces_of(const TileBasins& basins) {
  const Parts& parts = basins.parts;
  TilePieces result;
  result.meetings = basins.meetings;
  result.first_pixel.resize(static_cast<std::size_t>(parts.count),
                            std::numeric_limits<std::uint32_t>::max());
  result.pixels.resize(result.first_pixel.size(), 0);
  parallel_ranges(parts.of_pixel.size(), kLeastPixels, [&](std::size_t begin, std::size_t end) {
    add_pixels(std::span(parts.of_pixel).subspan(begin, end - begin), begin, result);
  });
  const RimPlaces places{static_cast<std::size_t>(parts.width),
                         static_cast<std::size_t>(parts.height)};
  result.at_edge.resize(places.count());
  places.each([&](std::size_t place, std::size_t x, std::size_t y) {
    result.at_edge[place] = parts.of_pixel[y * places.width + x];
  });
  return result;
}

BasinNumbers number_basins(const Tiling& tiling, const std::vector<TilePieces>& tiles) {
  const AllPieces all(tiling, tiles);
  DisjointSets sets = all.united();
  sets.settle_names();
  // By set: its first pixel in the picture.
  auto first = large_vector<std::uint64_t>(all.count(), std::numeric_limits<std::uint64_t>::max());
  all.each([&](std::size_t tile, std::size_t piece, std::int32_t number) {
    lower(first[sets.name(number)], place_of(tiling, tile, tiles[tile].first_pixel[piece]));
  });
  const std::vector<std::int32_t> order = in_order(sets, first, tiling.pixels());
  std::vector<std::uint64_t>().swap(first);
  BasinNumbers result;
  result.count = static_cast<std::int32_t>(order.size());
  auto basin_of = large_vector<std::int32_t>(all.count());  // By set.
  parallel_ranges(order.size(), kLeastPixels, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) basin_of[order[k]] = static_cast<std::int32_t>(k) + 1;
  });
  result.of_piece.resize(tiles.size());
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    result.of_piece[tile].resize(tiles[tile].count() + 1, 0);
    result.pixels =
        std::accumulate(tiles[tile].pixels.begin(), tiles[tile].pixels.end(), result.pixels);
  }
  all.each([&](std::size_t tile, std::size_t piece, std::int32_t number) {
    result.of_piece[tile][piece + 1] = basin_of[sets.name(number)];
  });
  return result;
}

}  // namespace diacut
