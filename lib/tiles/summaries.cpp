#include "tiles/summaries.hpp"

#include <cstdint>
#include <vector>

#include "diacut/errors.hpp"

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

template <>
void write_summary(const TileFolder& folder, TileFile kind, std::size_t tile, TileRegions regions) {
  std::vector<OpenHead> heads;
  std::vector<Corner> corners;
  std::vector<SideStrength> sides;
  for (const OpenBoundary& open : regions.open) {
    heads.push_back({open.first, open.second, open.front_open ? 1U : 0U, open.back_open ? 1U : 0U,
                     open.corners.size()});
    corners.insert(corners.end(), open.corners.begin(), open.corners.end());
    sides.insert(sides.end(), open.sides.begin(), open.sides.end());
  }
  folder.write(kind, tile, regions.borders, regions.joins, regions.remaining, regions.leaves, heads,
               corners, sides);
}

template <>
TileRegions read_summary(const TileFolder& folder, TileFile kind, std::size_t tile) {
  TileRegions regions;
  std::vector<OpenHead> heads;
  std::vector<Corner> corners;
  std::vector<SideStrength> sides;
  folder.read(kind, tile, regions.borders, regions.joins, regions.remaining, regions.leaves, heads,
              corners, sides);
  auto corner = corners.begin();
  auto side = sides.begin();
  for (const OpenHead& head : heads) {
    const auto count = static_cast<std::ptrdiff_t>(head.corners);
    if (count < 2 || count > corners.end() - corner || count - 1 > sides.end() - side) {
      throw InputError("it is cut off");
    }
    regions.open.push_back({head.first,
                            head.second,
                            head.front_open != 0,
                            head.back_open != 0,
                            {corner, corner + count},
                            {side, side + count - 1}});
    corner += count;
    side += count - 1;
  }
  return regions;
}

}  // namespace diacut
