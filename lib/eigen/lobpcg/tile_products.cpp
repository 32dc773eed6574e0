#include "eigen/lobpcg/tile_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kTileProductsFile[] = "eigen/lobpcg/tile_products.cl";

/// Work-items of a group on a GPU: with blocks of 24 vectors all 342 tiles.
constexpr std::size_t kGroup = 352;

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
      total_lanes_(workspace.cpu() || workspace.device().max_work_group < 256 ? 1 : 16) {
  const std::string options =
      fmt::format("{} -DTILE={} -DLINES={} -DVALUES={} -DLANES={}", workspace.options(),
                  workspace.tile(), lines_, total_values_, total_lanes_);
  products_ = workspace.context().kernel(kTileProductsFile, "tile_products", options);
  totals_ = workspace.context().kernel(kTileProductsFile, "tile_totals", options);
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
  return {std::move(tiles), parts.size(), workspace_->uploads().put(std::move(words))};
}

const DeviceSums& TileProducts::launch(const BasisBlocks& s, const BasisBlocks& ms,
                                       const TileList& list, int width, const Segments& segments) {
  const std::size_t count = list.tiles.size();
  const bool cpu = workspace_->cpu();
  const std::size_t group =
      cpu ? 1 : std::min({round_up(count, 32), kGroup, workspace_->device().max_work_group});
  const SegmentGroups groups = workspace_->large_groups(segments);
  const auto tile = static_cast<std::size_t>(workspace_->tile());
  const ActiveSegments& active = workspace_->active();
  const auto or_x = [&](const Buffer<float>* block) -> const Buffer<float>& {
    return block != nullptr ? *block : *s.x;
  };
  // Local memory of size 0 is no argument.
  const std::size_t line = cpu ? 1 : lines_ * list.parts * tile;
  set_arguments(products_, or_x(s.x), or_x(s.w), or_x(s.p), or_x(ms.x), or_x(ms.w), or_x(ms.p),
                width, list.words.words(), static_cast<int>(count), static_cast<int>(list.parts),
                segments.rows, segments.pitch, groups.chunk, static_cast<int>(groups.per_segment),
                active.list(), workspace_->partials(), cl::Local(line * sizeof(float)));
  Context& context = workspace_->context();
  context.launch(products_, cl::NDRange(round_up(count, group), groups.all), cl::NDRange(group, 1));
  const std::size_t values = count * tile * tile;
  set_arguments(totals_, workspace_->partials(), static_cast<int>(groups.per_segment),
                static_cast<int>(values), workspace_->totals());
  context.launch(totals_,
                 cl::NDRange(round_up(values, total_values_) * total_lanes_, active.count()),
                 cl::NDRange(total_values_ * total_lanes_, 1));
  return workspace_->totals();
}

}  // namespace diacut
