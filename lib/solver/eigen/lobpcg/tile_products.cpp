#include "eigen/lobpcg/tile_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace diacut {

namespace {

/// Work-items of a group on a GPU: with blocks of 24 vectors all 342 tiles.
constexpr std::size_t kMostInGroup = 352;
constexpr char kProjection[] = "eigen/lobpcg/projection.cl";

/// Elements of all six blocks that fit half of the local memory.
std::size_t lines_at_once(const DeviceInfo& device, int columns) {
  if (device.kind == DeviceKind::kCpu) return kFloatsSummed;
  const std::size_t bytes = 6 * static_cast<std::size_t>(columns) * sizeof(float);
  return std::clamp<std::size_t>(std::bit_floor(device.local_memory / 2 / bytes), 1, kFloatsSummed);
}

}  // namespace

TileProducts::TileProducts(Workspace& workspace)
    : workspace_(&workspace),
      lines_(lines_at_once(workspace.device(), workspace.columns())),
      total_values_(workspace.cpu() ? 8 : 16),
      total_lanes_(workspace.cpu() || workspace.device().max_work_group < 256 ? 1 : 16),
      kernels_(workspace.context(), "eigen/lobpcg/tile_products.cl",
               fmt::format("{} -DLINES={} -DVALUES={} -DLANES={}", workspace.options(), lines_,
                           total_values_, total_lanes_)) {
  workspace.kernels(kProjection);
}

int TileProducts::parts_of(int block, int width) const {
  return (block % 3 == 0 ? workspace_->columns() : width) / workspace_->tile();
}

/// On a GPU the tiles name parts of a line that holds those blocks alone which have tiles.
TileList TileProducts::upload(std::vector<Tile> tiles, int width) {
  std::array<int, 6> first{};
  std::vector<std::pair<int, int>> parts;
  for (int block = 0; block < 6; ++block) {
    const bool used = std::any_of(tiles.begin(), tiles.end(), [block](const Tile& tile) {
      return tile.left == block || tile.right == block;
    });
    first[static_cast<std::size_t>(block)] = static_cast<int>(parts.size());
    for (int i = 0; used && i < parts_of(block, width); ++i) parts.emplace_back(block, i);
  }
  std::vector<std::int32_t> words;
  for (const Tile& tile : tiles) {
    if (workspace_->cpu()) {
      words.insert(words.end(), {tile.left, tile.left_part, tile.right, tile.right_part});
    } else {
      words.insert(words.end(),
                   {first[static_cast<std::size_t>(tile.left)] + tile.left_part,
                    first[static_cast<std::size_t>(tile.right)] + tile.right_part, 0, 0});
    }
  }
  for (const auto& [block, part] : parts) words.insert(words.end(), {block, part});
  return {std::move(tiles), parts.size(), Uploaded(workspace_->context(), words)};
}

const DeviceSums& TileProducts::launch(const BasisBlocks& s, const BasisBlocks& ms,
                                       const TileList& list, int width, const Segments& segments) {
  const std::size_t count = list.tiles.size();
  const bool cpu = workspace_->cpu();
  const std::size_t group =
      cpu ? 1 : std::min({round_up(count, 32), kMostInGroup, workspace_->device().max_work_group});
  const SegmentGroups groups = workspace_->large_groups(segments);
  const auto tile = static_cast<std::size_t>(workspace_->tile());
  const ActiveSegments& active = workspace_->active();
  const auto or_x = [&](const Buffer<float>* block) -> const Buffer<float>& {
    return block != nullptr ? *block : *s.x;
  };
  // Local memory of size 0 is no argument.
  const std::size_t line = cpu ? 1 : lines_ * list.parts * tile;
  kernels_.launch("tile_products", cl::NDRange(round_up(count, group), groups.all),
                  cl::NDRange(group, 1), or_x(s.x), or_x(s.w), or_x(s.p), or_x(ms.x), or_x(ms.w),
                  or_x(ms.p), width, list.words.words(), static_cast<int>(count),
                  static_cast<int>(list.parts), segments.rows, segments.pitch, groups.chunk,
                  static_cast<int>(groups.per_segment), active.list(), workspace_->partials(),
                  cl::Local(line * sizeof(float)));
  const std::size_t values = count * tile * tile;
  kernels_.launch(
      "tile_totals", cl::NDRange(round_up(values, total_values_) * total_lanes_, active.count()),
      cl::NDRange(total_values_ * total_lanes_, 1), workspace_->partials(),
      static_cast<int>(groups.per_segment), static_cast<int>(values), workspace_->totals());
  return workspace_->totals();
}

const TileList& TileProducts::tiles(const Key& key) {
  const auto known = tiles_.find(key);
  if (known != tiles_.end()) return known->second;
  std::vector<Tile> tiles =
      key.blocks == 0 ? tiles_of_projection(key.width) : tiles_of_gram_matrices(key);
  return tiles_.emplace(key, upload(std::move(tiles), key.width)).first->second;
}

/// The tiles on and above the diagonals.
std::vector<Tile> TileProducts::tiles_of_gram_matrices(const Key& key) const {
  std::vector<Tile> tiles;
  const auto has_product = [&](int block) { return (key.products >> block & 1U) != 0; };
  for (const bool product : {false, true}) {
    for (int first = 0; first < key.blocks; ++first) {
      for (int second = first; second < key.blocks; ++second) {
        // M is symmetric: the product of one of the two blocks is enough.
        const bool turned = product && !has_product(second);
        if (turned && !has_product(first)) continue;
        for (int i = 0; i < parts_of(first, key.width); ++i) {
          for (int j = first == second ? i : 0; j < parts_of(second, key.width); ++j) {
            const int shift = product ? 3 : 0;
            tiles.push_back(turned ? Tile{second, j, shift + first, i}
                                   : Tile{first, i, shift + second, j});
          }
        }
      }
    }
  }
  return tiles;
}

/// The tiles of X'W, and then those on the diagonal of X'X.
std::vector<Tile> TileProducts::tiles_of_projection(int width) const {
  std::vector<Tile> tiles;
  for (int i = 0; i < parts_of(0, width); ++i) {
    for (int j = 0; j < parts_of(1, width); ++j) tiles.push_back({0, i, 1, j});
  }
  for (int i = 0; i < parts_of(0, width); ++i) tiles.push_back({0, i, 0, i});
  return tiles;
}

std::vector<GramMatrices> TileProducts::gram_matrices(const BasisBlocks& s, const BasisBlocks& ms,
                                                      int width, const Segments& segments) {
  Key key{s.count(), 0, width};
  for (int block = 0; block < key.blocks; ++block) {
    if (ms.at(block) != nullptr) key.products |= 1U << block;
  }
  const TileList& list = tiles(key);
  const std::size_t tile = static_cast<std::size_t>(workspace_->tile());
  const std::size_t values = list.tiles.size() * tile * tile;
  const std::size_t count = workspace_->active().count();
  const std::vector<double> sums = launch(s, ms, list, width, segments).download(values * count);
  std::vector<GramMatrices> result;
  for (std::size_t segment = 0; segment < count; ++segment) {
    result.push_back(assembled(std::span(sums).subspan(segment * values, values), list, key));
  }
  return result;
}

/// Both triangles out of the tiles' sums.
GramMatrices TileProducts::assembled(std::span<const double> sums, const TileList& list,
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

void TileProducts::project(const Buffer<float>& x, int width, const Segments& segments,
                           Buffer<float>& w) {
  const DeviceSums& dots = launch({&x, &w}, {}, tiles({0, 0, width}), width, segments);
  const SegmentGroups groups = workspace_->groups(segments, workspace_->combined_rows());
  const auto columns = static_cast<std::size_t>(workspace_->columns());
  const std::size_t row_bytes = static_cast<std::size_t>(width) * sizeof(float);
  const std::size_t kept =
      std::clamp<std::size_t>(workspace_->device().local_memory / 2 / row_bytes, 1, columns);
  workspace_->launch(kProjection, "project", groups, x, dots, width, segments.rows, segments.pitch,
                     static_cast<int>(groups.per_segment), workspace_->active().list(), w,
                     cl::Local(kept * row_bytes), static_cast<int>(kept));
}

}  // namespace diacut
