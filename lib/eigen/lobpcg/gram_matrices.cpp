#include "eigen/lobpcg/gram_matrices.hpp"

#include <cstddef>

namespace diacut {

/// The tiles on and above the diagonals.
const TileList& GramKernels::tiles(const Key& key) {
  const auto known = tiles_.find(key);
  if (known != tiles_.end()) return known->second;
  std::vector<Tile> tiles;
  const auto has_product = [&](int block) { return (key.products >> block & 1U) != 0; };
  for (const bool product : {false, true}) {
    for (int first = 0; first < key.blocks; ++first) {
      for (int second = first; second < key.blocks; ++second) {
        // M is symmetric: the product of one of the two blocks is enough.
        const bool turned = product && !has_product(second);
        if (turned && !has_product(first)) continue;
        for (int i = 0; i < products_.parts_of(first, key.width); ++i) {
          for (int j = first == second ? i : 0; j < products_.parts_of(second, key.width); ++j) {
            const int shift = product ? 3 : 0;
            tiles.push_back(turned ? Tile{second, j, shift + first, i}
                                   : Tile{first, i, shift + second, j});
          }
        }
      }
    }
  }
  return tiles_.emplace(key, products_.upload(std::move(tiles), key.width)).first->second;
}

std::vector<GramMatrices> GramKernels::compute(const BasisBlocks& s, const BasisBlocks& ms,
                                               int width, const Segments& segments) {
  Key key{s.count(), 0, width};
  for (int block = 0; block < key.blocks; ++block) {
    if (ms.at(block) != nullptr) key.products |= 1U << block;
  }
  const TileList& list = tiles(key);
  const std::size_t tile = static_cast<std::size_t>(workspace_->tile());
  const std::size_t values = list.tiles.size() * tile * tile;
  const std::size_t count = workspace_->active().count();
  const std::vector<double> sums =
      products_.launch(s, ms, list, width, segments).download(values * count);
  std::vector<GramMatrices> result;
  for (std::size_t segment = 0; segment < count; ++segment) {
    result.push_back(assembled(std::span(sums).subspan(segment * values, values), list, key));
  }
  return result;
}

/// Both triangles out of the tiles' sums.
GramMatrices GramKernels::assembled(std::span<const double> sums, const TileList& list,
                                    const Key& key) const {
  const int columns = workspace_->columns();
  const int tile = workspace_->tile();
  GramMatrices result;
  result.side = columns + (key.blocks - 1) * key.width;
  const auto side = static_cast<std::size_t>(result.side);
  result.self.assign(side * side, 0);
  result.product.assign(side * side, 0);
  const auto first_of = [&](int block, int part) {
    return (block == 0 ? 0 : columns + (block - 1) * key.width) + part * tile;
  };
  auto value = sums.begin();
  for (const Tile& each : list.tiles) {
    std::vector<double>& out = each.right >= 3 ? result.product : result.self;
    const int first_row = first_of(each.left, each.left_part);
    const int first_column = first_of(each.right % 3, each.right_part);
    for (int i = 0; i < tile; ++i) {
      for (int j = 0; j < tile; ++j, ++value) {
        const auto row = static_cast<std::size_t>(first_row + i);
        const auto column = static_cast<std::size_t>(first_column + j);
        out[row * side + column] = *value;
        out[column * side + row] = *value;
      }
    }
  }
  return result;
}

}  // namespace diacut
