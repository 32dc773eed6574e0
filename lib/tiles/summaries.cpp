#include "tiles/summaries.hpp"

#include <algorithm>
#include <cstddef>

#include "diacut/errors.hpp"
#include "tiles/bytes.hpp"

namespace diacut {

namespace {

/// An OpenBoundary without its corners and sides.
struct OpenHead {
  std::int32_t first = 0;
  std::int32_t second = 0;
  std::uint32_t front_open = 0;
  std::uint32_t back_open = 0;
  std::uint64_t corners = 0;
};

}  // namespace

std::vector<std::uint8_t> bytes_of(const TilePlateaus& plateaus) {
  ByteWriter writer;
  writer.put(plateaus.level);
  writer.put(plateaus.distance);
  writer.put(plateaus.pixels);
  writer.put(plateaus.distance_of);
  return writer.bytes();
}

TilePlateaus plateaus_from(const std::vector<std::uint8_t>& bytes) {
  ByteReader reader(bytes);
  TilePlateaus plateaus;
  plateaus.level = reader.take<Level>();
  plateaus.distance = reader.take<std::uint32_t>();
  plateaus.pixels = reader.take<std::uint32_t>();
  plateaus.distance_of = reader.take<std::uint32_t>();
  return plateaus;
}

std::vector<std::uint8_t> bytes_of(const Rim& rim) {
  ByteWriter writer;
  writer.put(rim.level);
  writer.put(rim.distance);
  return writer.bytes();
}

Rim rim_from(const std::vector<std::uint8_t>& bytes) {
  ByteReader reader(bytes);
  Rim rim;
  rim.level = reader.take<Level>();
  rim.distance = reader.take<std::uint32_t>();
  return rim;
}

std::vector<std::uint8_t> bytes_of(const TilePieces& pieces) {
  ByteWriter writer;
  writer.put(pieces.first_pixel);
  writer.put(pieces.pixels);
  writer.put(pieces.at_edge);
  writer.put(pieces.meetings);
  return writer.bytes();
}

TilePieces pieces_from(const std::vector<std::uint8_t>& bytes) {
  ByteReader reader(bytes);
  TilePieces pieces;
  pieces.first_pixel = reader.take<std::uint32_t>();
  pieces.pixels = reader.take<std::uint32_t>();
  pieces.at_edge = reader.take<std::int32_t>();
  pieces.meetings = reader.take<RimMeeting>();
  return pieces;
}

std::vector<std::uint8_t> bytes_of(const TileRegions& regions) {
  ByteWriter writer;
  writer.put(regions.borders);
  writer.put(regions.joins);
  writer.put(regions.remaining);
  writer.put(regions.leaves);
  std::vector<OpenHead> heads;
  std::vector<Corner> corners;
  std::vector<SideStrength> sides;
  for (const OpenBoundary& open : regions.open) {
    heads.push_back({open.first, open.second, open.front_open ? 1U : 0U, open.back_open ? 1U : 0U,
                     open.corners.size()});
    corners.insert(corners.end(), open.corners.begin(), open.corners.end());
    sides.insert(sides.end(), open.sides.begin(), open.sides.end());
  }
  writer.put(heads);
  writer.put(corners);
  writer.put(sides);
  return writer.bytes();
}

TileRegions regions_from(const std::vector<std::uint8_t>& bytes) {
  ByteReader reader(bytes);
  TileRegions regions;
  regions.borders = reader.take<Border>();
  regions.joins = reader.take<Join>();
  regions.remaining = reader.take<Boundary>();
  regions.leaves = reader.take<Leaf>();
  const auto heads = reader.take<OpenHead>();
  const auto corners = reader.take<Corner>();
  const auto sides = reader.take<SideStrength>();
  std::size_t corner = 0;
  std::size_t side = 0;
  for (const OpenHead& head : heads) {
    const auto count = static_cast<std::size_t>(head.corners);
    if (count < 2 || count > corners.size() - corner || count - 1 > sides.size() - side) {
      throw InputError("it is cut off");
    }
    OpenBoundary open{head.first, head.second, head.front_open != 0, head.back_open != 0, {}, {}};
    open.corners.assign(corners.begin() + static_cast<std::ptrdiff_t>(corner),
                        corners.begin() + static_cast<std::ptrdiff_t>(corner + count));
    open.sides.assign(sides.begin() + static_cast<std::ptrdiff_t>(side),
                      sides.begin() + static_cast<std::ptrdiff_t>(side + count - 1));
    corner += count;
    side += count - 1;
    regions.open.push_back(std::move(open));
  }
  return regions;
}

BasinTree tree_of(std::vector<Join> joins) {
  BasinTree tree;
  for (const Join& join : joins) {
    tree.basins.push_back(join.removed.first);
    tree.basins.push_back(join.removed.second);
  }
  std::sort(tree.basins.begin(), tree.basins.end());
  tree.basins.erase(std::unique(tree.basins.begin(), tree.basins.end()), tree.basins.end());
  const auto number = [&](std::int32_t& basin) {
    const auto found = std::lower_bound(tree.basins.begin(), tree.basins.end(), basin);
    basin = static_cast<std::int32_t>(found - tree.basins.begin()) + 1;
  };
  for (Join& join : joins) {
    number(join.removed.first);
    number(join.removed.second);
  }
  tree.merges = merges_of(static_cast<std::int32_t>(tree.basins.size()), joins);
  return tree;
}

std::vector<std::uint8_t> bytes_of(const BasinTree& tree) {
  ByteWriter writer;
  writer.put(tree.basins);
  writer.put(tree.merges);
  return writer.bytes();
}

BasinTree tree_from(const std::vector<std::uint8_t>& bytes) {
  ByteReader reader(bytes);
  BasinTree tree;
  tree.basins = reader.take<std::int32_t>();
  tree.merges = reader.take<Merge>();
  return tree;
}

}  // namespace diacut
