// A hierarchy made in tiles is the one of the whole picture, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "boundary_maps.hpp"
#include "by_pixel.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/parameters.hpp"
#include "label_checks.hpp"
#include "region/cuts/leaf_cut.hpp"
#include "region/tiling/tile_regions.hpp"
#include "region/tree/hierarchy.hpp"
#include "region/watershed/plateaus.hpp"
#include "region/watershed/watershed.hpp"

namespace diacut {
namespace {

/// Of a map with a margin around a tile. Pixels outside of the map get `outside`.
template <class Value>
std::vector<Value> part_of(const std::vector<Value>& map, const BoundaryMaps& maps,
                           const TileArea& area, int margin, Value outside) {
  std::vector<Value> part;
  if (map.empty()) return part;
  for (auto y = area.y - margin; y < area.y + area.height + margin; ++y) {
    for (auto x = area.x - margin; x < area.x + area.width + margin; ++x) {
      const bool inside = x >= 0 && y >= 0 && x < maps.width && y < maps.height;
      part.push_back(inside ? map[y * maps.width + x] : outside);
    }
  }
  return part;
}

/// A hierarchy without its numbers of nodes: merges by their boundaries.
struct Tiled {
  std::vector<std::int32_t> basins;  ///< By pixel.
  BasinNumbers numbers;
  JoinedRegions regions;
  std::map<std::int32_t, std::int32_t> leaf_of;  ///< Of basins that are no leaves.
};

std::vector<std::int32_t> basins_of(const BoundaryMaps& maps, const Tiling& tiling,
                                    BasinNumbers& numbers) {
  std::vector<TilePlateaus> plateaus;
  for (std::size_t tile = 0; tile < tiling.tiles(); ++tile) {
    const TileArea area = tiling.area(tile);
    plateaus.push_back(plateaus_at_edge(part_of(maps.strength, maps, area, 0, 0.0F),
                                        part_of(maps.valid, maps, area, 0, std::uint8_t{0}),
                                        area.width, area.height));
  }
  const std::vector<Rim> rims = join_plateaus(tiling, plateaus);
  std::vector<TileBasins> basins;
  std::vector<TilePieces> pieces;
  for (std::size_t tile = 0; tile < tiling.tiles(); ++tile) {
    const TileArea area = tiling.area(tile);
    basins.push_back(watershed_of_tile(part_of(maps.strength, maps, area, 0, 0.0F),
                                       part_of(maps.valid, maps, area, 0, std::uint8_t{0}),
                                       area.width, area.height, rims[tile]));
    pieces.push_back(pieces_of(basins.back()));
  }
  numbers = number_basins(tiling, pieces);
  std::vector<std::int32_t> result(maps.strength.size());
  for (std::size_t tile = 0; tile < tiling.tiles(); ++tile) {
    const TileArea area = tiling.area(tile);
    const Labels& parts = basins[tile].parts;
    for (int y = 0; y < area.height; ++y) {
      for (int x = 0; x < area.width; ++x) {
        const auto piece = parts.values[y * area.width + x];
        result[(area.y + y) * maps.width + area.x + x] = numbers.of_piece[tile][piece];
      }
    }
  }
  return result;
}

/// `least`: as in unite_small().
Tiled tiled_hierarchy(const BoundaryMaps& maps, int side, double direction, std::int64_t least) {
  const Tiling tiling{maps.width, maps.height, side};
  Tiled result;
  result.basins = basins_of(maps, tiling, result.numbers);
  std::vector<TileRegions> tiles;
  for (std::size_t tile = 0; tile < tiling.tiles(); ++tile) {
    const TileArea area = tiling.area(tile);
    tiles.push_back(regions_of_tile(
        {area, part_of(maps.strength, maps, area, 1, 0.0F),
         part_of(maps.orientation, maps, area, 1, 0.0F), part_of(result.basins, maps, area, 1, 0)},
        direction));
    for (const LeafOfBasin& each : unite_small(tiles.back(), least)) {
      result.leaf_of[each.basin] = each.leaf;
    }
  }
  result.regions = join_regions(std::move(tiles), direction);
  return result;
}

/// Compares cuts without regions of less than `least` pixels.
void expect_the_same_cuts(Tiled tiled, const Hierarchy& whole, int least) {
  number_leaves(tiled.regions);
  std::vector<std::int64_t> sizes = {0};
  std::map<std::int32_t, std::size_t> place;
  for (const Leaf& leaf : tiled.regions.leaves) {
    place[leaf.number] = sizes.size();
    sizes.push_back(leaf.pixels);
  }
  const std::vector<Merge> merges =
      merges_of(static_cast<std::int32_t>(tiled.regions.leaves.size()), tiled.regions.joins);
  for (const int regions : {0, 3}) {
    RegionParameters wanted;
    wanted.regions = regions;
    wanted.threshold = 0.1;
    wanted.min_size = {LeastSize::Unit::kPixels, static_cast<double>(least)};
    std::vector<std::string> notes;
    const LeafLabels labels = cut_leaves(
        {tiled.numbers.count, merges, 0.3}, sizes, [&] { return tiled.regions.borders; }, wanted,
        notes);
    std::vector<std::int32_t> of_basin = {0};
    for (std::int32_t basin = 1; basin <= tiled.numbers.count; ++basin) {
      const auto other = tiled.leaf_of.find(basin);
      const std::int32_t leaf = other == tiled.leaf_of.end() ? basin : other->second;
      of_basin.push_back(labels.of_leaf[place.at(leaf)]);
    }
    EXPECT_TRUE(relabelled(tiled.basins, of_basin) == cut(whole, wanted, notes).values)
        << "least size " << least << ", regions " << regions;
  }
}

void expect_the_same_in_tiles(const BoundaryMaps& maps, std::initializer_list<int> sides) {
  const RegionParameters parameters;
  const double direction = maps.orientation.empty() ? 0.0 : parameters.direction;
  const Hierarchy whole =
      hierarchy(maps.strength, maps.orientation, maps.valid, maps.width, maps.height, parameters);
  for (const int side : sides) {
    SCOPED_TRACE("tiles of " + std::to_string(side));
    const Tiled tiled = tiled_hierarchy(maps, side, direction, 1);
    ASSERT_EQ(tiled.numbers.count, whole.leaves.count);
    ASSERT_TRUE(tiled.basins == whole.leaves.values);
    EXPECT_TRUE(tiled.leaf_of.empty());
    const std::vector<std::int64_t> sizes = region_sizes(whole.leaves);
    EXPECT_EQ(tiled.numbers.pixels, std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
    ASSERT_EQ(tiled.regions.leaves.size() + 1, sizes.size());
    for (std::size_t k = 1; k < sizes.size(); ++k) {
      ASSERT_EQ(tiled.regions.leaves[k - 1].number, static_cast<std::int32_t>(k));
      ASSERT_EQ(tiled.regions.leaves[k - 1].pixels, sizes[k]);
    }
    const std::vector<Border> borders = find_borders(whole.leaves);
    ASSERT_EQ(tiled.regions.borders.size(), borders.size());
    for (std::size_t k = 0; k < borders.size(); ++k) {
      ASSERT_EQ(tiled.regions.borders[k].first, borders[k].first) << k;
      ASSERT_EQ(tiled.regions.borders[k].second, borders[k].second) << k;
      ASSERT_EQ(tiled.regions.borders[k].length, borders[k].length) << k;
    }
    testing::expect_same(merges_of(tiled.numbers.count, tiled.regions.joins), whole.merges);
    for (const int least : {1, 2, 20, 150}) {
      expect_the_same_cuts(tiled_hierarchy(maps, side, direction, least), whole, least);
    }
  }
}

/// A map whose strength is given at each pixel, with an orientation that turns.
template <class Strength>
BoundaryMaps map_of(int width, int height, const Strength& strength) {
  const auto value = [&](int x, int y) { return static_cast<float>(strength(x, y)); };
  const auto angle = [](int x, int y) {
    return 0.01F * static_cast<float>((7 * x + 13 * y) % 314);
  };
  return {width, height, testing::by_pixel(width, height, value),
          testing::by_pixel(width, height, angle)};
}

TEST(TiledHierarchy, OfPlainMaps) {
  using Strength = std::function<double(int, int)>;
  for (const auto& [what, strength] : std::map<std::string, Strength>{
           {"nothing", [](int, int) { return 0.0; }},
           {"a constant", [](int, int) { return 0.4; }},
           {"the greatest strength", [](int, int) { return 1.0; }},
           {"a ramp", [](int x, int y) { return (x + 2 * y) / 300.0; }},
           {"stairs", [](int x, int) { return (x / 10) / 10.0; }},
           {"a pyramid",
            [](int x, int y) { return std::max(std::abs(x - 45), std::abs(y - 35)) / 50.0; }},
           // Basins in a lattice, with crests of one level between them: all arcs are tied.
           {"a lattice", [](int x, int y) { return x % 4 == 3 || y % 4 == 3 ? 0.5 : 0.1; }}}) {
    SCOPED_TRACE(what);
    expect_the_same_in_tiles(map_of(90, 70, strength), {16, 31, 64});
  }
}

/// A spiral of one level with a hole at its end or at none, between walls.
BoundaryMaps spiral(bool drained) {
  constexpr int kSide = 75;
  const auto strength = [&](int x, int y) {
    const int ring = std::min({x, y, kSide - 1 - x, kSide - 1 - y});
    const bool gap = y == 5 * ring / 4 + 1 && x == ring;
    if (drained && x == kSide / 2 && y == kSide / 2) return 0.2;
    return ring % 4 == 3 && !gap ? 0.9 : 0.5;
  };
  return map_of(kSide, kSide, strength);
}

TEST(TiledHierarchy, OfPlateausThatWindAcrossSeams) {
  // Rings of one level with gaps between them, so that distances come from far.
  for (const bool drained : {false, true}) expect_the_same_in_tiles(spiral(drained), {16, 20, 64});
  // Corridors to and fro, of which only the last has a lower end.
  const auto corridors = [](int x, int y) {
    const bool wall = y % 3 == 2 && x != (y % 6 == 2 ? 79 : 0);
    if (x == 40 && y == 69) return 0.1;
    return wall ? 0.8 : 0.5;
  };
  expect_the_same_in_tiles(map_of(80, 71, corridors), {16, 33, 64});
}

TEST(TiledHierarchy, WithIslandsOfData) {
  std::mt19937 random(5);
  for (const int steps : {2, 9, 1000}) {
    BoundaryMaps maps = random_maps(random, 83, 61, steps, 0);
    maps.valid = testing::by_pixel(83, 61, [](int x, int y) -> std::uint8_t {
      return (x / 9 + y / 7) % 3 == 0 || x % 16 == 15 ? 0 : 1;
    });
    expect_the_same_in_tiles(maps, {16, 24});
    maps.valid.assign(maps.valid.size(), 0);
    expect_the_same_in_tiles(maps, {16});
  }
}

TEST(TiledHierarchy, WithoutOrientations) {
  BoundaryMaps maps =
      map_of(70, 66, [](int x, int y) { return x % 5 == 3 || y % 3 == 1 ? 0.5 : 0.0; });
  maps.orientation.clear();
  expect_the_same_in_tiles(maps, {16, 18, 64});
}

TEST(TiledHierarchy, OfPicturesOnePixelWide) {
  const auto wave = [](int x, int y) { return 0.5 + 0.4 * std::sin(0.7 * (x + y)); };
  expect_the_same_in_tiles(map_of(1, 100, wave), {16, 64, 200});
  expect_the_same_in_tiles(map_of(100, 1, wave), {16, 64, 200});
  expect_the_same_in_tiles(map_of(1, 1, wave), {1, 16});
  expect_the_same_in_tiles(map_of(9, 7, wave), {1, 2, 3});
}

/// Large basins with boundaries that go through many tiles, straight, curved and around.
TEST(TiledHierarchy, OfBoundariesThroughManyTiles) {
  const auto rings = [](int x, int y) {
    const double r = std::hypot(x - 60, y - 50);
    const double crest = std::exp(-std::pow(std::remainder(r - 14, 24.0), 2) / 8);
    return std::min(1.0, crest * (0.7 + 0.2 * std::sin(0.1 * x)));
  };
  expect_the_same_in_tiles(map_of(121, 99, rings), {16, 20, 50});
  const auto halves = [](int x, int y) {
    return std::exp(-std::pow(y - 0.3 * x - 20 - 6 * std::sin(0.2 * x), 2) / 20);
  };
  expect_the_same_in_tiles(map_of(150, 90, halves), {16, 20, 50});
}

TEST(TiledHierarchy, OfNoise) {
  std::mt19937 random(11);
  const auto any = [&](int low, int high) { return random_int(random, low, high); };
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const int steps = any(0, 1) == 0 ? any(1, 6) : 5000;
    const BoundaryMaps maps =
        random_maps(random, any(1, 70), any(1, 70), steps, any(0, 2) == 0 ? 0.1 : 0);
    expect_the_same_in_tiles(maps, {any(1, 9), 16, any(10, 70)});
  }
}

TEST(TiledHierarchy, OfAPhotograph) {
  for (const int steps : {0, 255}) {
    expect_the_same_in_tiles(gradient_of(repository_photograph("astronaut.jpg"), steps),
                             {37, 64, 200});
  }
}

}  // namespace
}  // namespace diacut
