#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "map/raster_blocks.hpp"
#include "map/region_format.hpp"
#include "region/tiling/tile_regions.hpp"
#include "tiles/tile_steps.hpp"

namespace diacut {

namespace {

TileArea area_of(const Window& window) { return {window.x, window.y, window.width, window.height}; }

/// What is made once for each tile that windows are in, and kept as long as one of them needs it.
class PerTile {
 public:
  using Value = std::vector<std::int32_t>;

  explicit PerTile(std::function<Value(std::size_t)> make) : make_(std::move(make)) {}

  std::shared_ptr<const Value> of(std::size_t tile) const {
    std::shared_ptr<Slot> slot;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      std::weak_ptr<Slot>& known = slots_[tile];
      slot = known.lock();
      if (!slot) known = slot = std::make_shared<Slot>();
    }
    const std::lock_guard<std::mutex> guard(slot->lock);
    if (!slot->value) slot->value.emplace(make_(tile));
    return {slot, &*slot->value};
  }

 private:
  struct Slot {
    std::mutex lock;
    std::optional<Value> value;
  };

  std::function<Value(std::size_t)> make_;
  mutable std::mutex lock_;
  mutable std::map<std::size_t, std::weak_ptr<Slot>> slots_;
};

/// The label of each piece of a tile. `leaves`: of the run.
std::vector<std::int32_t> labels_of_pieces(const TileWork& work, std::size_t tile,
                                           const Places& leaves, const RunLabels& labels) {
  constexpr std::size_t kLeastPieces = 4096;  // Fewer are not worth another thread.
  std::vector<std::int32_t> basins;           // By piece; 0 without data.
  std::vector<LeafOfBasin> united;
  work.folder.read(TileFile::kNumbers, tile, basins);
  work.folder.read(TileFile::kLeaves, tile, united);
  std::vector<std::int32_t> result(basins.size(), 0);
  parallel_ranges(result.size(), kLeastPieces, [&](std::size_t begin, std::size_t end) {
    for (std::size_t piece = begin; piece < end; ++piece) {
      const std::int32_t basin = basins[piece];
      if (basin == 0) continue;
      const auto other = std::lower_bound(
          united.begin(), united.end(), basin,
          [](const LeafOfBasin& each, std::int32_t wanted) { return each.basin < wanted; });
      const bool is_united = other != united.end() && other->basin == basin;
      result[piece] = labels.of_leaf.at(leaves.of(is_united ? other->leaf : basin));
    }
  });
  return result;
}

std::vector<float> contours_in(const TileWork& work, const TileArea& area) {
  std::vector<float> values = work.folder.window(TileFile::kContours, 0, area, 0, 0.0F);
  std::replace_if(
      values.begin(), values.end(), [](float value) { return std::isnan(value); }, 0.0F);
  return values;
}

/// Calls write(window, find(window)) for each window, in their order; several are found at once.
template <class Find, class Write>
void paint_windows(const std::vector<Window>& windows, std::size_t together, const Find& find,
                   const Write& write) {
  std::deque<std::future<decltype(find(Window{}))>> begun;
  for (std::size_t k = 0; k < windows.size(); ++k) {
    while (begun.size() < together && k + begun.size() < windows.size()) {
      begun.push_back(std::async(std::launch::async, find, windows[k + begun.size()]));
    }
    auto values = begun.front().get();
    begun.pop_front();
    write(windows[k], std::move(values));
  }
}

/// Paints the results of one run.
class Painting {
 public:
  Painting(const TileWork& work, const MapFrame& frame, const std::string& folder,
           std::uint64_t memory, const std::function<void(double)>& painted)
      : work_(work), frame_(frame), folder_(folder), memory_(memory), painted_(painted) {
    const TilePlan& plan = work.plan;
    polygons_ = names_polygons(plan.output);
    results_ = 1 + int{!plan.contours.empty()} + int{polygons_};
  }

  std::int64_t all() {
    const TilePlan& plan = work_.plan;
    if (!plan.contours.empty()) {
      const auto file =
          start_raster(plan.contours, frame_, RasterKind::kStrength, plan.cloud_optimised);
      paint(*file, [&](const TileArea& area) { return contours_in(work_, area); });
    }
    const RunLabels labels = read_labels(work_);
    if (!polygons_) {
      paint_labels(labels, plan.output, plan.cloud_optimised);
      return labels.count;
    }
    const std::string raster = folder_ + "/labels.tif";
    paint_labels(labels, raster, false);
    write_region_blocks(plan.output, raster, labels.count, frame_,
                        [&](double share) { tell(share); });
    std::error_code ignored;
    std::filesystem::remove(raster, ignored);
    return labels.count;
  }

 private:
  void paint_labels(const RunLabels& labels, const std::string& path, bool cloud_optimised) {
    const auto file = start_raster(path, frame_, RasterKind::kLabels, cloud_optimised);
    const Places leaves(labels.leaves);
    const PerTile labels_of(
        [&](std::size_t tile) { return labels_of_pieces(work_, tile, leaves, labels); });
    paint(*file, [&](const TileArea& area) {
      return pieces_in(work_, area, 0, [&](std::size_t tile) { return labels_of.of(tile); });
    });
  }

  template <class Find>
  void paint(RasterBlocks& file, const Find& find) {
    const std::vector<Window> windows = RasterBlocks::windows(frame_);
    std::size_t written = 0;
    paint_windows(
        windows, together(windows.front()),
        [&](const Window& window) { return find(area_of(window)); },
        [&](const Window& window, const auto& values) {
          file.write(window, values.data());
          tell(static_cast<double>(++written) / static_cast<double>(windows.size()));
        });
    file.commit();
    ++done_;
  }

  /// Tells how far the work is, with this share of the present result.
  void tell(double share) const {
    if (painted_) painted_((done_ + share) / results_);
  }

  /// How many windows are found at once.
  std::size_t together(const Window& window) const {
    // What a pixel of a window takes, and what the pieces and merges of the tiles around it do.
    constexpr std::uint64_t kOfWindow = 16;
    constexpr std::uint64_t kOfTile = 4;
    const auto side = static_cast<std::uint64_t>(work_.tiling.side);
    const std::uint64_t one = window.pixels() * kOfWindow + side * side * kOfTile;
    const auto cores = static_cast<std::uint64_t>(parallel_threads());
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(memory_ / one, 1, cores));
  }

  const TileWork& work_;
  const MapFrame& frame_;
  const std::string& folder_;
  std::uint64_t memory_;
  const std::function<void(double)>& painted_;
  bool polygons_ = false;
  double results_ = 1;
  double done_ = 0;
};

}  // namespace

std::int64_t paint_results(const TileWork& work, const MapFrame& frame, const std::string& folder,
                           std::uint64_t memory, const std::function<void(double)>& painted) {
  return Painting(work, frame, folder, memory, painted).all();
}

}  // namespace diacut
