#include "boundary/walls.hpp"

#include <cstddef>

namespace diacut {

void add_walls(BoundaryMap& map, const std::vector<std::uint8_t>& walls) {
  std::vector<float> values = map.values.download();
  std::vector<std::uint8_t> valid = map.valid.download();
  const auto width = static_cast<std::size_t>(map.grid.width);
  for (std::size_t i = 0; i < walls.size(); ++i) {
    if (walls[i] == 0) continue;
    const std::size_t element = i / width * static_cast<std::size_t>(map.grid.stride) + i % width;
    values[element] = kWall;
    valid[element] = 0;
  }
  map.values.upload(values);
  map.valid.upload(valid);
}

}  // namespace diacut
