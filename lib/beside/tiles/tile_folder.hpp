#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/large_memory.hpp"
#include "region/tiling/tiling.hpp"

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
  kRim,       ///< Of a tile, by the join: Rim.
  kNumbers,   ///< Of a tile, by the join: the basin of each piece.
  kFull,      ///< Of the run: the magnitude that becomes 1.
  kPlateausJoined,
  kSizes,   ///< Of the run: how many basins there are, and their pixels.
  kLabels,  ///< Of the run: the number of regions, the leaves' numbers, and their labels.
  kPainted,
};

/// What a tile has of a window.
struct WindowPart {
  std::size_t tile = 0;
  TileArea area;          ///< In the tile.
  std::size_t first = 0;  ///< The place of its first pixel in the window.
  std::size_t width = 0;  ///< Of the window.

  /// Its row y of the window's values.
  template <class Value>
  std::span<Value> row(std::vector<Value>& values, int y) const {
    return std::span(values).subspan(first + static_cast<std::size_t>(y) * width,
                                     static_cast<std::size_t>(area.width));
  }
};

/// The files of one run. Each has a header that says what it holds, of which plan and device, and
/// a checksum; it appears when it is complete. Errors name the file and say what to do.
class TileFolder {
 public:
  /// `plan`: a number that other plans have not.
  TileFolder(std::string path, const Tiling& tiling, std::uint64_t plan);

  /// The device that all files of the run are from, a number that other devices have not.
  void set_device(std::uint64_t device) { device_ = device; }

  /// Whether a file is there, of this plan and not cut off.
  bool has(TileFile kind, std::size_t tile = 0) const;
  /// Writes arrays one after another, each behind its length, as they are in memory.
  template <class... Values>
  void write(TileFile kind, std::size_t tile, const std::vector<Values>&... arrays) const;
  /// Reads the arrays that write() wrote. Throws InputError where the file is missing, cut off,
  /// damaged, or of another plan, version or device.
  template <class... Values>
  void read(TileFile kind, std::size_t tile, std::vector<Values>&... arrays) const;
  /// The device that a file is from.
  std::uint64_t device_of(TileFile kind, std::size_t tile = 0) const;
  void remove(TileFile kind, std::size_t tile = 0) const;

  /// The values around and in a tile out of the files of the tiles that have them: `margin` pixels
  /// more on each side, `outside` beyond the picture. The files hold arrays of 4-byte values, one
  /// for each pixel; `array`: which of them. Uses all cores.
  template <class Value>
  std::vector<Value> window(TileFile kind, std::size_t array, const TileArea& area, int margin,
                            Value outside) const;
  /// The parts of the tiles that have pixels of an area with a margin.
  std::vector<WindowPart> window_parts(const TileArea& area, int margin) const;

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
  std::vector<std::uint8_t> read_payload(TileFile kind, std::size_t tile) const;
  [[noreturn]] void refuse_cut_off(TileFile kind, std::size_t tile) const;
  std::string path(TileFile kind, std::size_t tile) const;
  /// The header of a file that is open. Throws InputError where it has a fault.
  template <class File>
  Header header_of(const File& file, TileFile kind, std::size_t tile) const;
  /// Why a file of so many bytes with this header is not the one that is asked for, and what to do;
  /// empty: it is.
  std::string fault(const Header& header, TileFile kind, std::size_t tile,
                    std::uint64_t bytes) const;

  std::string folder_;
  Tiling tiling_;
  std::uint64_t plan_ = 0;
  std::uint64_t device_ = 0;
};

template <class... Values>
void TileFolder::write(TileFile kind, std::size_t tile,
                       const std::vector<Values>&... arrays) const {
  static_assert((std::is_trivially_copyable_v<Values> && ...));
  std::vector<std::uint64_t> counts;
  counts.reserve(sizeof...(arrays));  // So that the counts stay where they are.
  std::vector<Bytes> parts;
  [[maybe_unused]] const auto add = [&]<class Value>(const std::vector<Value>& values) {
    counts.push_back(values.size());
    parts.push_back({&counts.back(), sizeof(std::uint64_t)});
    parts.push_back({values.data(), values.size() * sizeof(Value)});
  };
  (add(arrays), ...);
  write_parts(kind, tile, parts);
}

template <class... Values>
void TileFolder::read(TileFile kind, std::size_t tile, std::vector<Values>&... arrays) const {
  static_assert((std::is_trivially_copyable_v<Values> && ...));
  const std::vector<std::uint8_t> payload = read_payload(kind, tile);
  std::size_t at = 0;
  const auto copy = [&](void* to, std::size_t size) {
    if (size > payload.size() - at) refuse_cut_off(kind, tile);
    if (size > 0) std::memcpy(to, payload.data() + at, size);
    at += size;
  };
  const auto take = [&]<class Value>(std::vector<Value>& values) {
    std::uint64_t count = 0;
    copy(&count, sizeof(count));
    if (count > (payload.size() - at) / sizeof(Value)) refuse_cut_off(kind, tile);
    values.resize(static_cast<std::size_t>(count));
    copy(values.data(), values.size() * sizeof(Value));
  };
  (take(arrays), ...);
}

/// A number for a text, which other texts have with a chance of 2^-64 (FNV-1a).
std::uint64_t number_of(const std::string& text);

template <class Value>
std::vector<Value> TileFolder::window(TileFile kind, std::size_t array, const TileArea& area,
                                      int margin, Value outside) const {
  static_assert(sizeof(Value) == 4);
  const auto width = static_cast<std::size_t>(area.width) + 2 * static_cast<std::size_t>(margin);
  const auto height = static_cast<std::size_t>(area.height) + 2 * static_cast<std::size_t>(margin);
  std::vector<Value> values = large_vector<Value>(width * height, outside);
  for (const WindowPart& part : window_parts(area, margin)) {
    read_part(kind, part.tile, array, part.area, values.data() + part.first, width);
  }
  return values;
}

}  // namespace diacut
