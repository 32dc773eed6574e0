#include "region/watershed.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace diacut {

namespace {

using Level = std::uint16_t;
constexpr Level kTop = std::numeric_limits<Level>::max();

Level level_of(float strength) {
  // A half and more goes up; exact in double.
  return static_cast<Level>(static_cast<double>(std::clamp(strength, 0.0F, 1.0F) * float{kTop}) +
                            0.5);
}

/// What the flood knows of a pixel, together: its memory is what the time goes to.
struct Cell {
  static constexpr std::int32_t kWall = std::numeric_limits<std::int32_t>::min();
  static constexpr std::int32_t kDry = 0;

  float strength = std::numeric_limits<float>::infinity();
  /// Its basin, or kDry, or while it is queued -1, -2, -3 or -4: water came from neighbour 0 to 3.
  /// kWall: not a pixel, or one without data.
  std::int32_t basin = kWall;
};

class Flood {
 public:
  /// Rows of cells end in a wall, and there is one of walls before and after: each pixel has four
  /// neighbours.
  Flood(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid, int width,
        int height)
      : width_(width),
        height_(height),
        stride_(static_cast<std::size_t>(width) + 1),
        cells_(stride_ * (static_cast<std::size_t>(height) + 2)) {
    std::size_t pixel = 0;
    each_pixel([&](Cell& cell) {
      if (valid.empty() || valid[pixel] != 0) cell = {strength[pixel], Cell::kDry};
      ++pixel;
    });
    find_minima();
    rise();
  }

  /// Basins are 4-connected, since each pixel joins that of a neighbour: only their numbers change.
  Parts parts() {
    Parts parts{width_, height_, 0, {}};
    parts.of_pixel.reserve(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
    std::vector<std::int32_t> number(static_cast<std::size_t>(minima_) + 1, 0);
    each_pixel([&](const Cell& cell) {
      if (cell.basin <= 0) {
        parts.of_pixel.push_back(0);
        return;
      }
      std::int32_t& mine = number[static_cast<std::size_t>(cell.basin)];
      if (mine == 0) mine = ++parts.count;
      parts.of_pixel.push_back(mine);
    });
    return parts;
  }

 private:
  template <class Visit>
  void each_pixel(const Visit& visit) {
    for (int y = 0; y < height_; ++y) {
      Cell* row = cells_.data() + (static_cast<std::size_t>(y) + 1) * stride_;
      for (int x = 0; x < width_; ++x) visit(row[x]);
    }
  }

  /// In scan order; of a pixel and its neighbour k, the pixel is the neighbour's neighbour 3 - k.
  std::size_t neighbour(std::size_t i, int k) const {
    switch (k) {
      case 0:
        return i - stride_;
      case 1:
        return i - 1;
      case 2:
        return i + 1;
      default:
        return i + stride_;
    }
  }

  /// Calls visit(j, k) for the four neighbours j of pixel i.
  template <class Visit>
  void neighbours(std::size_t i, const Visit& visit) const {
    visit(i - stride_, 0);
    visit(i - 1, 1);
    visit(i + 1, 2);
    visit(i + stride_, 3);
  }

  /// Numbers the plateaus that have no lower neighbour.
  void find_minima() {
    std::vector<Level> levels(cells_.size());  // Of walls, the highest.
    std::transform(cells_.begin(), cells_.end(), levels.begin(),
                   [](const Cell& cell) { return level_of(cell.strength); });
    std::vector<std::uint8_t> seen(cells_.size(), 0);
    std::vector<std::size_t> plateau;
    for (std::size_t first = stride_; first < cells_.size() - stride_; ++first) {
      if (seen[first] != 0 || cells_[first].basin == Cell::kWall) continue;
      const Level level = levels[first];
      plateau.assign(1, first);
      seen[first] = 1;
      bool minimum = true;
      for (std::size_t k = 0; k < plateau.size(); ++k) {
        neighbours(plateau[k], [&](std::size_t j, int) {
          minimum &= levels[j] >= level;
          if (levels[j] != level || seen[j] != 0 || cells_[j].basin == Cell::kWall) return;
          seen[j] = 1;
          plateau.push_back(j);
        });
      }
      if (!minimum) continue;
      ++minima_;
      for (const std::size_t i : plateau) cells_[i].basin = minima_;
    }
  }

  /// The lowest level first; first in, first out within a level. As water rises from all minima at
  /// once, it has reached every pixel below a level when it comes to that level: each pixel is
  /// flooded at its own. So the queue is an array with a place for each pixel that will be in it,
  /// level after level.
  void rise() {
    std::vector<std::uint32_t> place(std::size_t{kTop} + 2, 0);  // By level, where to queue next.
    for (const Cell& cell : cells_) {
      if (cell.basin == Cell::kDry) ++place[level_of(cell.strength) + std::size_t{1}];
    }
    std::partial_sum(place.begin(), place.end(), place.begin());
    constexpr std::uint32_t kNobody = 0;  // A wall.
    std::vector<std::uint32_t> queue(place.back(), kNobody);
    const auto spread = [&](std::size_t i) {
      neighbours(i, [&](std::size_t j, int k) {
        Cell& cell = cells_[j];
        if (cell.basin != Cell::kDry) return;
        cell.basin = -1 - (3 - k);
        queue[place[level_of(cell.strength)]++] = static_cast<std::uint32_t>(j);
      });
    };
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (cells_[i].basin > 0) spread(i);
    }
    for (std::size_t head = 0; head < queue.size(); ++head) {
      if (head + kAhead < queue.size() && queue[head + kAhead] != kNobody) {
        neighbours(queue[head + kAhead],
                   [&](std::size_t j, int) { __builtin_prefetch(&cells_[j]); });
      }
      const std::size_t i = queue[head];
      std::size_t from = neighbour(i, -1 - cells_[i].basin);
      neighbours(i, [&](std::size_t j, int) {
        if (cells_[j].basin > 0 && cells_[j].strength < cells_[from].strength) from = j;
      });
      cells_[i].basin = cells_[from].basin;
      spread(i);
    }
  }

  static constexpr std::size_t kAhead = 8;  ///< In the queue, for memory that is far away.

  int width_;
  int height_;
  std::size_t stride_;
  std::vector<Cell> cells_;
  std::int32_t minima_ = 0;
};

}  // namespace

Parts watershed(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid,
                int width, int height) {
  return Flood(strength, valid, width, height).parts();
}

}  // namespace diacut
