#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "diacut/errors.hpp"
#include "region/basin_pieces.hpp"
#include "region/hierarchy.hpp"
#include "region/leaf_cut.hpp"
#include "region/plateaus.hpp"
#include "region/tile_regions.hpp"
#include "tiles/bytes.hpp"
#include "tiles/summaries.hpp"
#include "tiles/tile_steps.hpp"

namespace diacut {

namespace {

/// What `from` makes of the files of all tiles.
template <class From>
auto read_all(const TileWork& work, TileFile kind, const From& from) {
  std::vector<decltype(from(std::vector<std::uint8_t>()))> all;
  for (std::size_t tile = 0; tile < work.tiling.tiles(); ++tile) {
    all.push_back(from(work.folder.read(kind, tile)));
  }
  return all;
}

/// Calls visit(bits) for the values of all maps with data. The bits of floats that are not negative
/// are in the order of the floats.
template <class Visit>
void each_value(const TileWork& work, const Visit& visit) {
  for (std::size_t tile = 0; tile < work.tiling.tiles(); ++tile) {
    const auto file = work.folder.read(TileFile::kMap, tile);
    for (const float value : ByteReader(file).take<float>()) {
      if (!std::isnan(value)) visit(std::bit_cast<std::uint32_t>(value));
    }
  }
}

/// Finds in which of 2^16 counts the value of a rank, from 1, is, and makes the rank that in it.
std::uint32_t find_rank(const std::vector<std::uint64_t>& counts, std::uint64_t& rank) {
  std::uint32_t at = 0;
  while (at + 1 < counts.size() && counts[at] < rank) rank -= counts[at++];
  return at;
}

/// The quantile of the gradient's magnitude over all pixels with data, to the bit: its upper bits
/// in one pass, then its lower ones.
float magnitude_quantile(const TileWork& work, double quantile) {
  constexpr std::size_t kCounts = std::size_t{1} << 16;
  constexpr int kBits = 16;
  std::vector<std::uint64_t> counts(kCounts, 0);
  std::uint64_t values = 0;
  each_value(work, [&](std::uint32_t bits) {
    ++counts[bits >> kBits];
    ++values;
  });
  if (values == 0) {
    throw InputError(fmt::format("{}: nothing to segment: no pixel has data", work.plan.source));
  }
  auto rank = static_cast<std::uint64_t>(std::ceil(quantile * static_cast<double>(values)));
  rank = std::min(std::max<std::uint64_t>(rank, 1), values);
  const std::uint32_t upper = find_rank(counts, rank);
  counts.assign(kCounts, 0);
  each_value(work, [&](std::uint32_t bits) {
    if (bits >> kBits == upper) ++counts[bits & (kCounts - 1)];
  });
  return std::bit_cast<float>(upper << kBits | find_rank(counts, rank));
}

}  // namespace

void join_maps(const TileWork& work) {
  const CueParameters& cue = work.plan.parameters.cue;
  float full = 1;
  if (cue.kind == CueKind::kGradient) full = magnitude_quantile(work, cue.quantile);
  ByteWriter writer;
  writer.put(std::vector<float>{full});
  work.folder.write(TileFile::kFull, 0, writer.bytes());
}

void join_contours(const TileWork& work) {
  std::vector<TilePlateaus> tiles = read_all(work, TileFile::kPlateaus, plateaus_from);
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    const TileArea area = work.tiling.area(tile);
    const RimPlaces places{static_cast<std::size_t>(area.width),
                           static_cast<std::size_t>(area.height)};
    if (tiles[tile].level.size() == places.count() &&
        tiles[tile].distance.size() == places.count() &&
        tiles[tile].pixels.size() == tiles[tile].distance_of.size()) {
      continue;
    }
    throw InputError(
        fmt::format("the plateaus of tile {} do not fit its size: remove its files and "
                    "run again",
                    tile));
  }
  const std::vector<Rim> rims = settle_plateaus(work.tiling, std::move(tiles));
  for (std::size_t tile = 0; tile < rims.size(); ++tile) {
    work.folder.write(TileFile::kRim, tile, bytes_of(rims[tile]));
  }
  work.folder.write(TileFile::kPlateausJoined, 0, {});
  for (std::size_t tile = 0; tile < rims.size(); ++tile) {
    work.folder.remove(TileFile::kMap, tile);
    work.folder.remove(TileFile::kPlateaus, tile);
  }
}

void join_basins(const TileWork& work) {
  const BasinNumbers numbers =
      number_basins(work.tiling, read_all(work, TileFile::kPieces, pieces_from));
  for (std::size_t tile = 0; tile < work.tiling.tiles(); ++tile) {
    ByteWriter writer;
    writer.put(numbers.of_piece[tile]);
    work.folder.write(TileFile::kNumbers, tile, writer.bytes());
  }
  ByteWriter writer;
  writer.put(std::vector<std::int64_t>{numbers.count, numbers.pixels});
  work.folder.write(TileFile::kSizes, 0, writer.bytes());
  for (std::size_t tile = 0; tile < work.tiling.tiles(); ++tile) {
    work.folder.remove(TileFile::kRim, tile);
    work.folder.remove(TileFile::kPieces, tile);
  }
}

void join_all_regions(const TileWork& work, std::vector<std::string>& notes) {
  const RegionParameters& region = work.plan.parameters.region;
  const BasinSizes basins = read_sizes(work);
  if (basins.count == 0) {
    throw InputError(fmt::format("{}: nothing to segment: no pixel has data", work.plan.source));
  }
  JoinedRegions joined =
      join_regions(read_all(work, TileFile::kRegions, regions_from), region.direction);
  number_leaves(joined);
  const auto count = static_cast<std::int32_t>(joined.leaves.size());
  const std::vector<Merge> merges = merges_of(count, joined.joins);
  std::vector<Join>().swap(joined.joins);
  if (!work.plan.ultrametric.empty()) {
    work.folder.write_arrays<Merge>(TileFile::kTree, 0, {merges});
  }
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
  ByteWriter writer;
  writer.put(std::vector<std::int64_t>{labels.count});
  writer.put(leaves);
  writer.put(labels.of_leaf);
  work.folder.write(TileFile::kLabels, 0, writer.bytes());
  for (std::size_t tile = 0; tile < work.tiling.tiles(); ++tile) {
    work.folder.remove(TileFile::kRegions, tile);
    if (work.plan.contours.empty()) work.folder.remove(TileFile::kContours, tile);
  }
}

}  // namespace diacut
