#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "region/cuts/leaf_cut.hpp"
#include "region/tiling/tile_regions.hpp"
#include "region/tree/hierarchy.hpp"
#include "region/watershed/plateaus.hpp"
#include "tiles/tile_steps.hpp"

namespace diacut {

namespace {

/// Removes files of all tiles, on all cores: the system takes 0.2 s for a gigabyte.
void remove_all(const TileWork& work, std::initializer_list<TileFile> kinds) {
  parallel_for(work.tiling.tiles(), [&](std::size_t tile) {
    for (const TileFile kind : kinds) work.folder.remove(kind, tile);
  });
}

/// What the tiles have left in their files of a kind.
template <class Summary>
std::vector<Summary> read_all(const TileWork& work, TileFile kind) {
  std::vector<Summary> all;
  for (std::size_t tile = 0; tile < work.tiling.tiles(); ++tile) {
    all.push_back(read_summary<Summary>(work.folder, kind, tile));
  }
  return all;
}

constexpr std::size_t kCounts = std::size_t{1} << 16;
using Counts = std::vector<std::uint64_t>;

/// How many of the values of all maps with data have each place(bits), from 0 to kCounts - 1; a
/// place of kCounts is not counted. The bits of floats that are not negative are in the order of
/// the floats.
template <class Place>
Counts count_values(const TileWork& work, const Place& place) {
  constexpr std::size_t kLeastValues = std::size_t{1} << 22;  // Many more than the counts.
  Counts all(kCounts, 0);
  for (std::size_t tile = 0; tile < work.tiling.tiles(); ++tile) {
    std::vector<float> values;
    work.folder.read(TileFile::kMap, tile, values);
    const auto count = [&](std::size_t begin, std::size_t end) {
      Counts counts(kCounts + 1, 0);
      for (std::size_t i = begin; i < end; ++i) {
        if (!std::isnan(values[i])) ++counts[place(std::bit_cast<std::uint32_t>(values[i]))];
      }
      return counts;
    };
    for (const Counts& some : results_of_ranges(values.size(), kLeastValues, count)) {
      std::transform(all.begin(), all.end(), some.begin(), all.begin(), std::plus<>());
    }
  }
  return all;
}

/// Finds in which of 2^16 counts the value of a rank, from 1, is, and makes the rank that in it.
std::uint32_t find_rank(const Counts& counts, std::uint64_t& rank) {
  std::uint32_t at = 0;
  while (at + 1 < counts.size() && counts[at] < rank) rank -= counts[at++];
  return at;
}

/// The quantile of the gradient's magnitude over all pixels with data, to the bit: its upper bits
/// in one pass, then its lower ones.
float magnitude_quantile(const TileWork& work, double quantile) {
  constexpr int kBits = 16;
  const Counts uppers = count_values(work, [](std::uint32_t bits) { return bits >> kBits; });
  const std::uint64_t values = std::accumulate(uppers.begin(), uppers.end(), std::uint64_t{0});
  if (values == 0) {
    throw InputError(fmt::format("{}: nothing to segment: no pixel has data", work.plan.source));
  }
  auto rank = static_cast<std::uint64_t>(std::ceil(quantile * static_cast<double>(values)));
  rank = std::min(std::max<std::uint64_t>(rank, 1), values);
  const std::uint32_t upper = find_rank(uppers, rank);
  const Counts lowers = count_values(work, [&](std::uint32_t bits) {
    return bits >> kBits == upper ? bits & (kCounts - 1) : kCounts;
  });
  return std::bit_cast<float>(upper << kBits | find_rank(lowers, rank));
}

}  // namespace

void join_maps(const TileWork& work) {
  const BoundaryParameters& boundary = work.plan.parameters.boundary;
  float full = 1;
  if (boundary.kind == BoundaryKind::kGradient) full = magnitude_quantile(work, boundary.quantile);
  work.folder.write(TileFile::kFull, 0, std::vector<float>{full});
}

void join_contours(const TileWork& work) {
  auto tiles = read_all<TilePlateaus>(work, TileFile::kPlateaus);
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    const TilePlateaus& own = tiles[tile];
    const std::size_t places = places_of(work.tiling.area(tile)).count();
    if (own.level.size() == places && own.distance.size() == places &&
        own.pixels.size() == own.distance_of.size()) {
      continue;
    }
    throw InputError(fmt::format(
        "the plateaus of tile {} do not fit its size: remove its files and run again", tile));
  }
  std::vector<Rim> rims = join_plateaus(work.tiling, std::move(tiles));
  for (std::size_t tile = 0; tile < rims.size(); ++tile) {
    write_summary(work.folder, TileFile::kRim, tile, std::move(rims[tile]));
  }
  work.folder.write(TileFile::kPlateausJoined, 0);
  remove_all(work, {TileFile::kMap, TileFile::kPlateaus});
}

void join_basins(const TileWork& work) {
  const BasinNumbers numbers =
      number_basins(work.tiling, read_all<TilePieces>(work, TileFile::kPieces));
  for (std::size_t tile = 0; tile < work.tiling.tiles(); ++tile) {
    work.folder.write(TileFile::kNumbers, tile, numbers.of_piece[tile]);
  }
  work.folder.write(TileFile::kSizes, 0, std::vector<std::int64_t>{numbers.count, numbers.pixels});
  remove_all(work, {TileFile::kRim, TileFile::kPieces});
}

void join_all_regions(const TileWork& work, std::vector<std::string>& notes) {
  const RegionParameters& region = work.plan.parameters.region;
  const BasinSizes basins = read_sizes(work);
  if (basins.count == 0) {
    throw InputError(fmt::format("{}: nothing to segment: no pixel has data", work.plan.source));
  }
  JoinedRegions joined =
      join_regions(read_all<TileRegions>(work, TileFile::kRegions), region.direction);
  number_leaves(joined);
  const auto count = static_cast<std::int32_t>(joined.leaves.size());
  const std::vector<Merge> merges = merges_of(count, joined.joins);
  std::vector<Join>().swap(joined.joins);
  std::vector<std::int64_t> sizes = {0};
  std::vector<std::int32_t> leaves;
  for (const Leaf& leaf : joined.leaves) {
    sizes.push_back(leaf.pixels);
    leaves.push_back(leaf.number);
  }
  std::vector<Leaf>().swap(joined.leaves);
  const auto borders = [&] { return std::move(joined.borders); };
  const LeafTree tree{static_cast<std::int32_t>(basins.count), merges,
                      region.threshold.value_or(kStrengthThreshold)};
  LeafLabels labels = cut_leaves(tree, sizes, borders, region, notes);
  labels.of_leaf.erase(labels.of_leaf.begin());
  work.folder.write(TileFile::kLabels, 0, std::vector<std::int64_t>{labels.count}, leaves,
                    labels.of_leaf);
  remove_all(work, {TileFile::kRegions});
  if (work.plan.contours.empty()) remove_all(work, {TileFile::kContours});
}

}  // namespace diacut
