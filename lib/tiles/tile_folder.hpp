#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "region/tiling.hpp"

namespace diacut {

/// What a file of a tiled run holds.
enum class TileFile : std::uint32_t {
  kMap = 1,   ///< Of a tile: the map before it is divided; NaN without data.
  kContours,  ///< Of a tile: strength (NaN without data), then orientation.
  kPlateaus,  ///< Of a tile: TilePlateaus.
  kBasins,    ///< Of a tile: the piece of each pixel.
  kPieces,    ///< Of a tile: TilePieces.
  kRegions,   ///< Of a tile: TileRegions.
  kLeaves,    ///< Of a tile: the leaf of basins that are not leaves themselves.
  kUnited,    ///< Of a tile, for the ultrametric map: basins and their merges within leaves.
  kRim,       ///< Of a tile, by the join: Rim.
  kNumbers,   ///< Of a tile, by the join: the basin of each piece.
  kFull,      ///< Of the run: the magnitude that becomes 1.
  kPlateausJoined,
  kSizes,   ///< Of the run: how many basins there are, and their pixels.
  kTree,    ///< Of the run, for the ultrametric map: the merges of its leaves.
  kLabels,  ///< Of the run: the number of regions, the leaves' numbers, and their labels.
  kPainted,
};

/// The files of one run. Each has a header that tells what it holds, of which plan and device, and
/// a checksum; it appears when it is complete. Errors name the file and tell what to do.
class TileFolder {
 public:
  /// `plan`: a number that other plans have not.
  TileFolder(std::string path, const Tiling& tiling, std::uint64_t plan);

  /// The device that all files of the run are from, a number that other devices have not.
  void set_device(std::uint64_t device) { device_ = device; }

  /// Whether a file is there, of this plan and not cut off.
  bool has(TileFile kind, std::size_t tile = 0) const;
  void write(TileFile kind, std::size_t tile, const std::vector<std::uint8_t>& payload) const {
    write_parts(kind, tile, {{payload.data(), payload.size()}});
  }
  /// Writes arrays as ByteWriter puts them, without a copy of them.
  template <class Value>
  void write_arrays(
      TileFile kind, std::size_t tile,
      std::initializer_list<std::reference_wrapper<const std::vector<Value>>> arrays) const;
  /// Throws InputError where the file is missing, cut off, damaged, or of another plan, version or
  /// device.
  std::vector<std::uint8_t> read(TileFile kind, std::size_t tile = 0) const;
  /// The device that a file is from.
  std::uint64_t device_of(TileFile kind, std::size_t tile = 0) const;
  void remove(TileFile kind, std::size_t tile = 0) const;

  /// The values around and in a tile out of the files of the tiles that have them: `margin` pixels
  /// more on each side, `outside` beyond the picture. The files hold arrays of 4-byte values, one
  /// for each pixel; `array`: which of them. change(tile, values) is called for each row of what
  /// was read of a tile, one tile after another.
  template <class Value, class Change>
  std::vector<Value> window(TileFile kind, std::size_t array, const TileArea& area, int margin,
                            Value outside, const Change& change) const;
  template <class Value>
  std::vector<Value> window(TileFile kind, std::size_t array, const TileArea& area, int margin,
                            Value outside) const {
    return window(kind, array, area, margin, outside, [](std::size_t, std::span<Value>) {});
  }
  /// The tiles that have pixels of an area with a margin.
  std::vector<std::size_t> tiles_around(const TileArea& area, int margin) const;

  /// Reads a rectangle of an array of a tile's file: pixels from (x, y) on in the tile, to rows of
  /// `stride` values.
  void read_part(TileFile kind, std::size_t tile, std::size_t array, const TileArea& part, void* to,
                 std::size_t stride) const;

 private:
  struct Header;
  struct Bytes {
    const void* data;
    std::size_t size;
  };
  /// Writes a file of which the payload is in several places.
  void write_parts(TileFile kind, std::size_t tile, const std::vector<Bytes>& parts) const;
  std::string path(TileFile kind, std::size_t tile) const;
  /// The header of a file that is open, after check().
  template <class File>
  Header header_of(const File& file, TileFile kind, std::size_t tile) const;
  void check(const Header& header, TileFile kind, std::size_t tile, std::uint64_t bytes) const;

  std::string folder_;
  Tiling tiling_;
  std::uint64_t plan_ = 0;
  std::uint64_t device_ = 0;
};

template <class Value>
void TileFolder::write_arrays(
    TileFile kind, std::size_t tile,
    std::initializer_list<std::reference_wrapper<const std::vector<Value>>> arrays) const {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<std::uint64_t> counts;
  counts.reserve(arrays.size());  // So that the counts stay where they are.
  std::vector<Bytes> parts;
  for (const std::vector<Value>& values : arrays) {
    counts.push_back(values.size());
    parts.push_back({&counts.back(), sizeof(std::uint64_t)});
    parts.push_back({values.data(), values.size() * sizeof(Value)});
  }
  write_parts(kind, tile, parts);
}

/// A number for a text, which other texts have with a chance of 2^-64 (FNV-1a).
std::uint64_t number_of(const std::string& text);

template <class Value, class Change>
std::vector<Value> TileFolder::window(TileFile kind, std::size_t array, const TileArea& area,
                                      int margin, Value outside, const Change& change) const {
  static_assert(sizeof(Value) == 4);
  const std::int64_t left = area.x - margin;
  const std::int64_t top = area.y - margin;
  const auto width = static_cast<std::size_t>(area.width) + 2 * static_cast<std::size_t>(margin);
  const auto height = static_cast<std::size_t>(area.height) + 2 * static_cast<std::size_t>(margin);
  std::vector<Value> values(width * height, outside);
  for (const std::size_t tile : tiles_around(area, margin)) {
    const TileArea other = tiling_.area(tile);
    const std::int64_t x = std::max(left, other.x);
    const std::int64_t y = std::max(top, other.y);
    const auto end_x = std::min(left + static_cast<std::int64_t>(width), other.x + other.width);
    const auto end_y = std::min(top + static_cast<std::int64_t>(height), other.y + other.height);
    const TileArea wanted{x - other.x, y - other.y, static_cast<int>(end_x - x),
                          static_cast<int>(end_y - y)};
    Value* const first = values.data() + static_cast<std::size_t>(y - top) * width +
                         static_cast<std::size_t>(x - left);
    read_part(kind, tile, array, wanted, first, width);
    for (std::size_t row = 0; row < static_cast<std::size_t>(wanted.height); ++row) {
      change(tile, std::span(first + row * width, static_cast<std::size_t>(wanted.width)));
    }
  }
  return values;
}

}  // namespace diacut
