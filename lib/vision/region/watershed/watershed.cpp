#include "region/watershed/watershed.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "core/large_memory.hpp"
#include "core/parallel.hpp"

namespace diacut {

namespace {

using Cell = std::uint32_t;
constexpr Level kTop = std::numeric_limits<Level>::max();
/// Fewer pixels are not worth another thread.
constexpr std::size_t kWatershedLeastPixels = 8192;

/// A pixel on a plateau that has no lower neighbour itself.
struct Flat {
  Cell cell = 0;
  Cell drains_to = 0;
  std::uint32_t distance = 0;  ///< 0: not known yet, or of a minimum.
};

/// A pixel whose lowest neighbours are several of one level.
struct Tie {
  Cell cell = 0;
  Cell drains_to = 0;
};

/// A pixel on a plateau beside a pixel of the rim on the same plateau.
struct Entry {
  std::uint32_t distance = 0;  ///< By way of the rim.
  std::uint32_t flat = 0;
  Cell from = 0;  ///< Of the rim.
};

/// What was met in one band of rows, in scan order.
struct Band {
  std::size_t begin = 0;  ///< Rows.
  std::size_t end = 0;
  std::vector<Flat> flats;
  std::size_t first_flat = 0;  ///< Among those of all bands.
  std::vector<Tie> ties;
  std::vector<Cell> basins;      ///< By where they drain to, of those whose first pixel is here.
  std::int64_t first_basin = 0;  ///< The number before theirs.
};

/// Cells are the pixels with a frame around them, so that each pixel has four neighbours. The frame
/// is a wall, or the rim: pixels of other tiles, whose distances are known and where ways end.
/// Walls are as high as the highest pixels.
class Drainage {
 public:
  Drainage(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid, int width,
           int height, const Rim* rim)
      : width_(static_cast<std::size_t>(width)),
        height_(static_cast<std::size_t>(height)),
        stride_(width_ + 2),
        rim_(rim),
        levels_(large_array<Level>(stride_ * (height_ + 2))),
        drains_to_(large_array<Cell>(stride_ * (height_ + 2))),
        mark_(large_array<Cell>(stride_ * (height_ + 2))) {
    for (const IndexRange& rows : ranges_of(height_, 1 + kWatershedLeastPixels / width_)) {
      bands_.push_back({rows.begin, rows.end, {}, 0, {}, {}, 0});
    }
    find_levels(strength, valid);
    if (rim_ != nullptr) add_rim();
    each_band([this](Band& band) { find_slopes(band); });
    cross_plateaus();
    each_band([this](const Band& band) { shorten_within(band); });
    shorten_between();
    each_band([this](const Band& band) { shorten_across(band); });
  }

  Labels parts() {
    each_band([this](Band& band) { find_first_pixels(band); });
    Labels parts{static_cast<int>(width_), static_cast<int>(height_), 0, {}};
    for (Band& band : bands_) {
      band.first_basin = parts.count;
      parts.count += static_cast<std::int32_t>(band.basins.size());
    }
    each_band([this](const Band& band) {
      auto number = static_cast<Cell>(band.first_basin);
      for (const Cell basin : band.basins) mark_[basin] = ++number;
    });
    parts.values = large_vector<std::int32_t>(width_ * height_);
    each_band([&](const Band& band) {
      each_pixel(band, [&](Cell cell, std::size_t pixel) {
        const Cell basin = drains_to_[cell];
        parts.values[pixel] = basin == kWall ? 0 : static_cast<std::int32_t>(mark_[basin]);
      });
    });
    return parts;
  }

  /// The meetings of parts() with the rim, whose numbers stand in mark_ since.
  std::vector<RimMeeting> meetings() const {
    std::vector<RimMeeting> found;
    const auto meet = [&](Cell end, std::size_t place) {
      found.push_back({static_cast<std::int32_t>(mark_[end]), static_cast<std::uint32_t>(place)});
    };
    each_rim_pixel([&](std::size_t place, Cell outer, Cell inner) {
      if (drains_to_[outer] == kWall) return;
      if (mark_[outer] != kNone) meet(outer, place);
      if (drains_to_[inner] == kWall || levels_[inner] != levels_[outer]) return;
      if (rim_->distance[place] == kNoLowerNeighbour) meet(drains_to_[inner], place);
    });
    return found;
  }

 private:
  static constexpr Cell kWall = std::numeric_limits<Cell>::max();
  static constexpr Cell kFlat = kWall - 1;
  static constexpr Cell kNone = kWall;

  template <class Work>
  void each_band(const Work& work) {
    parallel_for(bands_.size(), [&](std::size_t k) { work(bands_[k]); });
  }

  Cell first_cell(std::size_t row) const { return static_cast<Cell>((row + 1) * stride_ + 1); }

  /// Calls visit(place, cell, inner) for the pixels of the rim, where `inner` is the neighbour of
  /// the cell among the tile's own.
  template <class Visit>
  void each_rim_pixel(const Visit& visit) const {
    const RimPlaces places{width_, height_};
    const auto stride = static_cast<Cell>(stride_);
    const Cell bottom = first_cell(height_ - 1);
    for (std::size_t x = 0; x < width_; ++x) {
      const auto cell = first_cell(0) + static_cast<Cell>(x);
      visit(places.top(x), cell - stride, cell);
    }
    for (std::size_t y = 0; y < height_; ++y) {
      const Cell row = first_cell(y);
      visit(places.left(y), row - 1, row);
      visit(places.right(y), row + static_cast<Cell>(width_), row + static_cast<Cell>(width_) - 1);
    }
    for (std::size_t x = 0; x < width_; ++x) {
      const auto cell = bottom + static_cast<Cell>(x);
      visit(places.bottom(x), cell + stride, cell);
    }
  }

  /// Calls visit(cell, pixel) in scan order.
  template <class Visit>
  void each_pixel(const Band& band, const Visit& visit) const {
    for (std::size_t y = band.begin; y < band.end; ++y) {
      const Cell row = first_cell(y);
      for (std::size_t x = 0; x < width_; ++x) {
        visit(row + static_cast<Cell>(x), y * width_ + x);
      }
    }
  }

  /// In scan order.
  std::array<Cell, 4> neighbours(Cell cell) const {
    const auto stride = static_cast<Cell>(stride_);
    return {cell - stride, cell - 1, cell + 1, cell + stride};
  }

  void wall(Cell cell) {
    levels_[cell] = kTop;
    drains_to_[cell] = kWall;
  }

  void find_levels(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid) {
    for (Cell x = 0; x < stride_; ++x) {
      wall(x);
      wall(first_cell(height_) - 1 + x);
    }
    each_band([&](const Band& band) {
      for (std::size_t y = band.begin; y < band.end; ++y) {
        const Cell row = first_cell(y);
        const float* values = strength.data() + y * width_;
        for (std::size_t x = 0; x < width_; ++x) levels_[row + x] = level_of(values[x]);
        std::fill_n(&drains_to_[row], width_, kNone - 2);
        wall(row - 1);
        wall(row + static_cast<Cell>(width_));
        if (valid.empty()) continue;
        for (std::size_t x = 0; x < width_; ++x) {
          if (valid[y * width_ + x] == 0) wall(row + static_cast<Cell>(x));
        }
      }
    });
  }

  /// Ways end in the rim, whose cells have their distances as marks until the plateaus are crossed.
  void add_rim() {
    each_rim_pixel([&](std::size_t place, Cell outer, Cell) {
      if (rim_->distance[place] == kNoPixel) return;
      levels_[outer] = rim_->level[place];
      drains_to_[outer] = outer;
      mark_[outer] = rim_->distance[place];
    });
  }

  /// Lets pixels drain to their lowest neighbour, and notes those for which that is not all.
  void find_slopes(Band& band) {
    const auto stride = static_cast<Cell>(stride_);
    each_pixel(band, [&](Cell cell, std::size_t) {
      if (drains_to_[cell] == kWall) return;
      Cell least = cell - stride;
      Level lowest = levels_[least];
      int alike = 1;
      for (const Cell next : {cell - 1, cell + 1, cell + stride}) {
        const Level level = levels_[next];
        alike = level < lowest ? 1 : alike + (level == lowest ? 1 : 0);
        least = level < lowest ? next : least;
        lowest = std::min(level, lowest);
      }
      const Level mine = levels_[cell];
      if (lowest < mine) {
        drains_to_[cell] = least;
        if (alike > 1) band.ties.push_back({cell, least});
      } else if (lowest == mine) {  // On a plateau, or as high as a wall.
        band.flats.push_back({cell, cell, 0});
        drains_to_[cell] = kFlat;
      } else {
        drains_to_[cell] = cell;
        mark_[cell] = kNone;
      }
    });
  }

  /// Distances and drains of the pixels noted by find_slopes().
  void cross_plateaus() {
    std::vector<Flat> flats = flats_of_bands();
    find_distances(flats);
    find_minima(flats);
    each_band([&](Band& band) {
      for (Tie& tie : band.ties) tie.drains_to = least_of_lowest(tie, flats);
    });
    each_band([&](Band& band) {
      for (const Tie& tie : band.ties) drains_to_[tie.cell] = tie.drains_to;
      std::vector<Tie>().swap(band.ties);
    });
    if (rim_ != nullptr) {
      each_rim_pixel([&](std::size_t, Cell outer, Cell) { mark_[outer] = kNone; });
    }
    parallel_ranges(flats.size(), kWatershedLeastPixels, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const Flat& flat = flats[k];
        drains_to_[flat.cell] = flat.drains_to;
        if (flat.drains_to == flat.cell) mark_[flat.cell] = kNone;
      }
    });
  }

  /// All flat pixels in scan order, each of which has its place as its mark.
  std::vector<Flat> flats_of_bands() {
    std::size_t count = 0;
    for (Band& band : bands_) {
      band.first_flat = count;
      count += band.flats.size();
    }
    std::vector<Flat> flats = large_vector<Flat>(count);
    each_band([&](Band& band) {
      std::size_t place = band.first_flat;
      for (const Flat& flat : band.flats) {
        flats[place] = flat;
        mark_[flat.cell] = static_cast<Cell>(place++);
      }
      std::vector<Flat>().swap(band.flats);
    });
    return flats;
  }

  /// Where plateaus have a lower neighbour: front becomes the pixels at a distance of 1. Returns
  /// the ways by the rim that are longer, the shortest first.
  std::vector<Entry> begin_distances(std::vector<Flat>& flats,
                                     std::vector<std::uint32_t>& front) const {
    std::vector<Entry> entries;
    for (std::uint32_t k = 0; k < flats.size(); ++k) {
      Flat& flat = flats[k];
      for (const Cell next : neighbours(flat.cell)) {
        const bool on_plateau = levels_[next] == levels_[flat.cell] && drains_to_[next] != kWall;
        if (!on_plateau || drains_to_[next] == kFlat) continue;
        if (drains_to_[next] == next && mark_[next] != 0) {  // Of the rim.
          if (mark_[next] != kNoLowerNeighbour) entries.push_back({mark_[next] + 1, k, next});
          continue;
        }
        flat.drains_to = next;
        flat.distance = 1;
        front.push_back(k);
        break;
      }
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.distance < b.distance; });
    return entries;
  }

  /// Breadth first over all plateaus at once, from where they have a lower neighbour.
  void find_distances(std::vector<Flat>& flats) const {
    std::vector<std::uint32_t> front;
    const std::vector<Entry> entries = begin_distances(flats, front);
    std::vector<std::uint32_t> next_front;
    auto entry = entries.begin();
    for (std::uint32_t distance = 2; !front.empty() || entry != entries.end(); ++distance) {
      if (front.empty()) distance = entry->distance;
      next_front.clear();
      const auto reach = [&](std::uint32_t k, Cell from) {
        Flat& reached = flats[k];
        if (reached.distance == 0) {
          reached.distance = distance;
          reached.drains_to = from;
          next_front.push_back(k);
        } else if (reached.distance == distance) {
          reached.drains_to = std::min(reached.drains_to, from);
        }
      };
      for (const std::uint32_t k : front) {
        for (const Cell next : neighbours(flats[k].cell)) {
          if (drains_to_[next] != kFlat || levels_[next] != levels_[flats[k].cell]) continue;
          reach(mark_[next], flats[k].cell);
        }
      }
      for (; entry != entries.end() && entry->distance == distance; ++entry) {
        reach(entry->flat, entry->from);
      }
      front.swap(next_front);
    }
  }

  /// Plateaus that no water leaves drain to their first pixel.
  void find_minima(std::vector<Flat>& flats) const {
    std::vector<char> seen(flats.size(), 0);
    std::vector<std::uint32_t> plateau;
    for (std::size_t first = 0; first < flats.size(); ++first) {
      if (seen[first] != 0 || flats[first].distance != 0) continue;
      plateau.assign(1, static_cast<std::uint32_t>(first));
      seen[first] = 1;
      for (std::size_t k = 0; k < plateau.size(); ++k) {
        Flat& flat = flats[plateau[k]];
        flat.drains_to = flats[first].cell;
        for (const Cell next : neighbours(flat.cell)) {
          if (drains_to_[next] != kFlat || levels_[next] != levels_[flat.cell]) continue;
          const std::uint32_t other = mark_[next];
          if (seen[other] != 0) continue;
          seen[other] = 1;
          plateau.push_back(other);
        }
      }
    }
  }

  /// The distance within the plateau of a cell that is no wall.
  std::uint32_t distance_of(Cell cell, const std::vector<Flat>& flats) const {
    if (drains_to_[cell] == kFlat) return flats[mark_[cell]].distance;
    const bool of_rim = drains_to_[cell] == cell && mark_[cell] != kNoLowerNeighbour;
    return of_rim ? mark_[cell] : 0;
  }

  /// The lowest neighbour of a pixel with the least distance, the first of several.
  Cell least_of_lowest(const Tie& tie, const std::vector<Flat>& flats) const {
    Cell least = tie.drains_to;
    std::uint32_t distance = std::numeric_limits<std::uint32_t>::max();
    for (const Cell next : neighbours(tie.cell)) {
      if (levels_[next] != levels_[tie.drains_to]) continue;
      const std::uint32_t mine = distance_of(next, flats);
      if (mine < distance) least = next;
      distance = std::min(mine, distance);
    }
    return least;
  }

  /// Lets each pixel of a band drain to the end of its way, or to the first cell on it outside of
  /// the band.
  void shorten_within(const Band& band) {
    const Cell begin = first_cell(band.begin);
    const Cell end = first_cell(band.end);
    each_pixel(band, [&](Cell cell, std::size_t) {
      if (drains_to_[cell] == kWall) return;
      Cell last = cell;
      Cell next = drains_to_[last];
      while (next != last && next >= begin && next < end) {
        last = next;
        next = drains_to_[last];
      }
      while (cell != last) cell = std::exchange(drains_to_[cell], next);
    });
  }

  /// The ways that lead into another band end in its first or last row, or at their end.
  void shorten_between() {
    for (const Band& band : bands_) {
      for (const std::size_t y : {band.begin, band.end - 1}) {
        const Cell row = first_cell(y);
        for (Cell cell = row; cell < row + width_; ++cell) {
          if (drains_to_[cell] == kWall) continue;
          Cell last = cell;
          while (drains_to_[last] != last) last = drains_to_[last];
          for (Cell at = cell; at != last;) at = std::exchange(drains_to_[at], last);
        }
      }
    }
  }

  void shorten_across(const Band& band) {
    each_pixel(band, [&](Cell cell, std::size_t) {
      const Cell next = drains_to_[cell];
      if (next == kWall || next == cell) return;
      // Cells that other bands read are at their end already and are not written.
      const Cell last = drains_to_[next];
      if (last != next) drains_to_[cell] = last;
    });
    find_least_pixels(band);
  }

  /// Marks each basin's end with the first cell of the basin.
  void find_least_pixels(const Band& band) {
    Cell before = kWall;
    each_pixel(band, [&](Cell cell, std::size_t) {
      const Cell basin = drains_to_[cell];
      if (basin == std::exchange(before, basin) || basin == kWall) return;
      std::atomic_ref<Cell> first(mark_[basin]);
      Cell known = first.load(std::memory_order_relaxed);
      while (cell < known && !first.compare_exchange_weak(known, cell, std::memory_order_relaxed)) {
      }
    });
  }

  void find_first_pixels(Band& band) const {
    Cell before = kWall;
    each_pixel(band, [&](Cell cell, std::size_t) {
      const Cell basin = drains_to_[cell];
      if (basin == std::exchange(before, basin) || basin == kWall) return;
      if (mark_[basin] == cell) band.basins.push_back(basin);
    });
  }

  std::size_t width_;
  std::size_t height_;
  std::size_t stride_;
  const Rim* rim_;  ///< Null: there is nothing around.
  std::unique_ptr<Level[]> levels_;
  /// kWall; kFlat until the plateaus are crossed; the cell itself at the end of a way.
  std::unique_ptr<Cell[]> drains_to_;
  /// For a flat pixel its place among them; for the end of a way the first cell of its basin, and
  /// later the number of the basin.
  std::unique_ptr<Cell[]> mark_;
  std::vector<Band> bands_;
};

}  // namespace

Labels watershed(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid,
                 int width, int height) {
  return Drainage(strength, valid, width, height, nullptr).parts();
}

TileBasins watershed_of_tile(const std::vector<float>& strength,
                             const std::vector<std::uint8_t>& valid, int width, int height,
                             const Rim& rim) {
  Drainage drainage(strength, valid, width, height, &rim);
  TileBasins result;
  result.parts = drainage.parts();
  result.meetings = drainage.meetings();
  return result;
}

}  // namespace diacut
