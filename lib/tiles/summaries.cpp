#include "tiles/summaries.hpp"

#include <cstddef>
#include <tuple>
#include <utility>

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

/// The members that are arrays, in the order in which a file has them.
template <class Summary>
struct Arrays;
template <>
struct Arrays<TilePlateaus> {
  static constexpr std::tuple kAll{&TilePlateaus::level, &TilePlateaus::distance,
                                   &TilePlateaus::pixels, &TilePlateaus::distance_of};
};
template <>
struct Arrays<Rim> {
  static constexpr std::tuple kAll{&Rim::level, &Rim::distance};
};
template <>
struct Arrays<TilePieces> {
  static constexpr std::tuple kAll{&TilePieces::first_pixel, &TilePieces::pixels,
                                   &TilePieces::at_edge, &TilePieces::meetings};
};
template <>
struct Arrays<TileRegions> {  // Without the open boundaries.
  static constexpr std::tuple kAll{&TileRegions::borders, &TileRegions::joins,
                                   &TileRegions::remaining, &TileRegions::leaves};
};

template <class Summary>
void put_arrays(ByteWriter& writer, const Summary& summary) {
  std::apply([&](auto... array) { (writer.put(summary.*array), ...); }, Arrays<Summary>::kAll);
}

template <class Value>
void take_array(ByteReader& reader, std::vector<Value>& values) {
  values = reader.take<Value>();
}

template <class Summary>
Summary take_arrays(ByteReader& reader) {
  Summary summary;
  std::apply([&](auto... array) { (take_array(reader, summary.*array), ...); },
             Arrays<Summary>::kAll);
  return summary;
}

template <class Summary>
std::vector<std::uint8_t> bytes_of_arrays(const Summary& summary) {
  ByteWriter writer;
  put_arrays(writer, summary);
  return std::move(writer).bytes();
}

template <class Summary>
Summary arrays_from(const std::vector<std::uint8_t>& bytes) {
  ByteReader reader(bytes);
  return take_arrays<Summary>(reader);
}

}  // namespace

std::vector<std::uint8_t> bytes_of(const TilePlateaus& plateaus) {
  return bytes_of_arrays(plateaus);
}
std::vector<std::uint8_t> bytes_of(const Rim& rim) { return bytes_of_arrays(rim); }
std::vector<std::uint8_t> bytes_of(const TilePieces& pieces) { return bytes_of_arrays(pieces); }

TilePlateaus plateaus_from(const std::vector<std::uint8_t>& bytes) {
  return arrays_from<TilePlateaus>(bytes);
}
Rim rim_from(const std::vector<std::uint8_t>& bytes) { return arrays_from<Rim>(bytes); }
TilePieces pieces_from(const std::vector<std::uint8_t>& bytes) {
  return arrays_from<TilePieces>(bytes);
}

std::vector<std::uint8_t> bytes_of(const TileRegions& regions) {
  ByteWriter writer;
  put_arrays(writer, regions);
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
  return std::move(writer).bytes();
}

TileRegions regions_from(const std::vector<std::uint8_t>& bytes) {
  ByteReader reader(bytes);
  auto regions = take_arrays<TileRegions>(reader);
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

}  // namespace diacut
