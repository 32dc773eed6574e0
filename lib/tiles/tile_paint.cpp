#include "tiles/tile_paint.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "map/raster_blocks.hpp"
#include "map/region_blocks.hpp"
#include "map/strength_file.hpp"
#include "region/doubled_grid.hpp"
#include "region/meetings.hpp"
#include "region/places.hpp"
#include "tiles/bytes.hpp"
#include "tiles/summaries.hpp"

namespace diacut {

namespace {

TileArea area_of(const Window& window) { return {window.x, window.y, window.width, window.height}; }

/// What is made once for each tile that windows are in, and kept as long as one of them needs it.
template <class Value>
class PerTile {
 public:
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

/// Which leaf the pieces of a tile belong to.
class LeavesOfPieces {
 public:
  /// `leaves`: of the run; must outlive the object.
  LeavesOfPieces(const TileWork& work, std::size_t tile, const Places& leaves) : leaves_(leaves) {
    const auto numbers = work.folder.read(TileFile::kNumbers, tile);
    basins_ = ByteReader(numbers).take<std::int32_t>();
    const auto united = work.folder.read(TileFile::kLeaves, tile);
    united_ = ByteReader(united).take<LeafOfBasin>();
  }

  std::size_t count() const { return basins_.size(); }
  /// The number of a piece's basin; 0 without data.
  std::int32_t basin(std::int32_t piece) const {
    return basins_.at(static_cast<std::size_t>(piece));
  }
  /// The place of a basin's leaf among the leaves of the run, from 1.
  std::size_t leaf(std::int32_t basin) const {
    const auto other = std::lower_bound(
        united_.begin(), united_.end(), basin,
        [](const LeafOfBasin& each, std::int32_t wanted) { return each.basin < wanted; });
    const bool is_united = other != united_.end() && other->basin == basin;
    return leaves_.of(is_united ? other->leaf : basin) + 1;
  }

 private:
  const Places& leaves_;
  std::vector<std::int32_t> basins_;  ///< By piece.
  std::vector<LeafOfBasin> united_;
};

/// The pixels of an area, where value_of_piece(tile)(piece) is the value of each piece of a tile.
template <class ValueOfPiece>
std::vector<std::int32_t> pixels_of(const TileWork& work, const TileArea& area,
                                    const ValueOfPiece& value_of_piece) {
  std::vector<std::int32_t> pixels =
      work.folder.window(TileFile::kBasins, 0, area, 0, std::int32_t{0});
  for (const WindowPart& part : work.folder.window_parts(area, 0)) {
    auto value_of = value_of_piece(part.tile);
    for (int y = 0; y < part.area.height; ++y) {
      for (std::int32_t& piece : part.row(pixels, y)) piece = value_of(piece);
    }
  }
  return pixels;
}

/// The label of each piece of a tile.
std::vector<std::int32_t> labels_of_pieces(const LeavesOfPieces& leaves, const RunLabels& labels) {
  constexpr std::size_t kLeastPieces = 4096;  // Fewer are not worth another thread.
  std::vector<std::int32_t> result(leaves.count());
  parallel_ranges(result.size(), kLeastPieces, [&](std::size_t begin, std::size_t end) {
    for (std::size_t piece = begin; piece < end; ++piece) {
      const std::int32_t basin = leaves.basin(static_cast<std::int32_t>(piece));
      result[piece] = basin == 0 ? 0 : labels.of_leaf.at(leaves.leaf(basin) - 1);
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

/// The ultrametric contour map, window by window.
class Ultrametric {
 public:
  Ultrametric(const TileWork& work, const std::vector<std::int32_t>& leaves)
      : work_(work),
        leaves_(leaves),
        leaves_of_([this](std::size_t tile) { return LeavesOfPieces(work_, tile, leaves_); }),
        merges_(ByteReader(work.folder.read(TileFile::kTree)).take<Merge>()),
        meetings_(static_cast<std::int32_t>(leaves.size()), merges_) {}

  /// `window`: of the doubled grid.
  std::vector<float> operator()(const TileArea& window) const {
    const TileArea area = around(window);
    std::vector<Basin> basins(1);
    std::vector<std::int32_t> values = pixels_of(work_, area, [&](std::size_t tile) {
      constexpr std::int32_t kUnknown = -1;
      auto leaves = leaves_of_.of(tile);
      std::vector<std::int32_t> places(leaves->count(), kUnknown);  // By piece, in `basins`.
      return [&basins, tile, leaves = std::move(leaves),
              places = std::move(places)](std::int32_t piece) mutable {
        std::int32_t& place = places.at(static_cast<std::size_t>(piece));
        if (place != kUnknown) return place;
        const std::int32_t basin = leaves->basin(piece);
        if (basin == 0) return place = 0;
        place = static_cast<std::int32_t>(basins.size());
        basins.push_back({tile, leaves->leaf(basin), basin});
        return place;
      };
    });
    const Labels labels{area.width, area.height, 0, std::move(values)};
    TileTrees trees(work_);
    const std::vector<float> grid = doubled_grid(labels, [&](std::size_t i, std::size_t j) {
      const std::int32_t a = labels.values[i];
      const std::int32_t b = labels.values[j];
      if (a == 0 || b == 0) return kNeverMerged;
      return height_between(basins[static_cast<std::size_t>(a)],
                            basins[static_cast<std::size_t>(b)], trees);
    });
    return part_of_grid(grid, area, window);
  }

 private:
  static constexpr float kNeverMerged = std::numeric_limits<float>::infinity();

  struct Basin {
    std::size_t tile = 0;  ///< A tile with pixels of it, the only one where it is no leaf.
    std::size_t leaf = 0;
    std::int32_t number = 0;
  };

  /// The merges within the leaves of tiles, read when they are asked for.
  class TileTrees {
   public:
    explicit TileTrees(const TileWork& work) : work_(work) {}

    float height_between(std::size_t tile, std::int32_t a, std::int32_t b) {
      const Tree& tree = of(tile);
      const std::size_t merge = tree.meetings.merge_of(tree.place(a), tree.place(b));
      return tree.tree.merges.at(merge).height;
    }

   private:
    struct Tree {
      explicit Tree(BasinTree read)
          : tree(std::move(read)),
            meetings(static_cast<std::int32_t>(tree.basins.size()), tree.merges) {}
      std::int32_t place(std::int32_t basin) const {
        const auto found = std::lower_bound(tree.basins.begin(), tree.basins.end(), basin);
        return static_cast<std::int32_t>(found - tree.basins.begin()) + 1;
      }
      BasinTree tree;
      Meetings meetings;
    };

    const Tree& of(std::size_t tile) {
      for (const auto& [number, tree] : trees_) {
        if (number == tile) return *tree;
      }
      auto tree = std::make_unique<Tree>(tree_from(work_.folder.read(TileFile::kUnited, tile)));
      return *trees_.emplace_back(tile, std::move(tree)).second;
    }

    const TileWork& work_;
    std::vector<std::pair<std::size_t, std::unique_ptr<Tree>>> trees_;
  };

  /// The pixels that decide a window of the doubled grid.
  TileArea around(const TileArea& window) const {
    const std::int64_t x = std::max<std::int64_t>(window.x / 2 - 1, 0);
    const std::int64_t y = std::max<std::int64_t>(window.y / 2 - 1, 0);
    const auto end_x = std::min((window.x + window.width + 1) / 2 + 1, work_.tiling.width);
    const auto end_y = std::min((window.y + window.height + 1) / 2 + 1, work_.tiling.height);
    return {x, y, static_cast<int>(end_x - x), static_cast<int>(end_y - y)};
  }

  float height_between(const Basin& a, const Basin& b, TileTrees& trees) const {
    if (a.number == b.number) return 0;
    if (a.leaf == b.leaf) return trees.height_between(a.tile, a.number, b.number);
    const std::size_t merge =
        meetings_.merge_of(static_cast<std::int32_t>(a.leaf), static_cast<std::int32_t>(b.leaf));
    return merges_.at(merge).height;
  }

  /// The window out of the doubled grid of an area.
  static std::vector<float> part_of_grid(const std::vector<float>& grid, const TileArea& area,
                                         const TileArea& window) {
    const std::size_t row = 2 * static_cast<std::size_t>(area.width) + 1;
    const auto left = static_cast<std::size_t>(window.x - 2 * area.x);
    const auto top = static_cast<std::size_t>(window.y - 2 * area.y);
    std::vector<float> part;
    part.reserve(window.pixels());
    for (std::size_t y = top; y < top + static_cast<std::size_t>(window.height); ++y) {
      const auto first = grid.begin() + static_cast<std::ptrdiff_t>(y * row + left);
      part.insert(part.end(), first, first + window.width);
    }
    return part;
  }

  const TileWork& work_;
  Places leaves_;  ///< By their numbers.
  PerTile<LeavesOfPieces> leaves_of_;
  std::vector<Merge> merges_;  ///< Of the leaves of the run.
  Meetings meetings_;
};

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
    polygons_ = map_region_format(plan.output).has_value();
    results_ = 1 + int{!plan.contours.empty()} + int{!plan.ultrametric.empty()} + int{polygons_};
  }

  std::int64_t all() {
    const TilePlan& plan = work_.plan;
    if (!plan.contours.empty()) {
      paint_strength(plan.contours, frame_,
                     [&](const TileArea& area) { return contours_in(work_, area); });
    }
    const RunLabels labels = read_labels(work_);
    if (!plan.ultrametric.empty()) {
      const Ultrametric map(work_, labels.leaves);
      paint_strength(plan.ultrametric, ultrametric_frame(frame_),
                     [&](const TileArea& area) { return map(area); });
    }
    if (!polygons_) {
      paint_labels(labels, plan.output, plan.cloud_optimised);
      return labels.count;
    }
    const std::string raster = folder_ + "/labels.tif";
    paint_labels(labels, raster, false);
    write_region_blocks(plan.output, raster, labels.count, frame_, folder_,
                        [&](double share) { tell(share); });
    std::error_code ignored;
    std::filesystem::remove(raster, ignored);
    return labels.count;
  }

 private:
  template <class Find>
  void paint_strength(const std::string& path, const MapFrame& frame, const Find& find) {
    StrengthFile file(path, frame, work_.plan.cloud_optimised);
    paint(file, file.windows(), find);
  }

  void paint_labels(const RunLabels& labels, const std::string& path, bool cloud_optimised) {
    RasterBlocks file(path, frame_, RasterKind::kLabels, cloud_optimised);
    const Places leaves(labels.leaves);
    const PerTile<std::vector<std::int32_t>> labels_of([&](std::size_t tile) {
      return labels_of_pieces(LeavesOfPieces(work_, tile, leaves), labels);
    });
    paint(file, RasterBlocks::windows(frame_), [&](const TileArea& area) {
      return pixels_of(work_, area, [&](std::size_t tile) {
        return [label_of = labels_of.of(tile)](std::int32_t piece) {
          return label_of->at(static_cast<std::size_t>(piece));
        };
      });
    });
  }

  template <class File, class Find>
  void paint(File& file, const std::vector<Window>& windows, const Find& find) {
    std::size_t written = 0;
    paint_windows(
        windows, together(windows.front()),
        [&](const Window& window) { return file.in_blocks(window, find(area_of(window))); },
        [&](const Window& window, auto values) {
          file.write(window, std::move(values));
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
