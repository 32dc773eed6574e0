#include "region/watershed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace diacut {

namespace {

using Level = std::uint16_t;
constexpr Level kTop = std::numeric_limits<Level>::max();
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// First in, first out within each of 65,536 levels; the lowest level first. Holds each pixel at
/// most once.
class BucketQueue {
 public:
  explicit BucketQueue(std::size_t pixels)
      : first_(std::size_t{kTop} + 1, kNone), last_(first_.size()), next_(pixels, kNone) {}

  /// No level may be below that of the pixel that was taken last.
  void push(std::uint32_t pixel, Level level) {
    if (first_[level] == kNone) {
      first_[level] = pixel;
    } else {
      next_[last_[level]] = pixel;
    }
    last_[level] = pixel;
  }
  /// kNone when it is empty.
  std::uint32_t pop() {
    while (first_[level_] == kNone) {
      if (level_ == kTop) return kNone;
      ++level_;
    }
    const std::uint32_t pixel = first_[level_];
    first_[level_] = next_[pixel];
    return pixel;
  }
  std::size_t level() const { return level_; }

 private:
  std::size_t level_ = 0;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> last_;
  std::vector<std::uint32_t> next_;
};

class Flood {
 public:
  Flood(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid, int width,
        int height)
      : strength_(strength),
        valid_(valid),
        width_(static_cast<std::size_t>(width)),
        basin_(strength.size(), 0),
        level_(strength.size()) {
    std::transform(strength.begin(), strength.end(), level_.begin(), [](float s) {
      return static_cast<Level>(std::lround(std::clamp(s, 0.0F, 1.0F) * float{kTop}));
    });
    find_minima();
    rise();
    result_ = connected_parts(width, height, basin_);
  }

  Parts result() && { return std::move(result_); }

 private:
  bool has_data(std::size_t i) const { return valid_.empty() || valid_[i] != 0; }

  /// Calls visit(j) for the 4-neighbours of pixel i that have data.
  template <class Visit>
  void neighbours(std::size_t i, const Visit& visit) const {
    const std::size_t x = i % width_;
    if (i >= width_ && has_data(i - width_)) visit(i - width_);
    if (x != 0 && has_data(i - 1)) visit(i - 1);
    if (x + 1 != width_ && has_data(i + 1)) visit(i + 1);
    if (i + width_ < level_.size() && has_data(i + width_)) visit(i + width_);
  }

  /// Numbers the plateaus that have no lower neighbour.
  void find_minima() {
    std::vector<std::uint8_t> seen(level_.size(), 0);
    std::vector<std::size_t> plateau;
    std::int32_t count = 0;
    for (std::size_t first = 0; first < level_.size(); ++first) {
      if (seen[first] != 0 || !has_data(first)) continue;
      plateau.assign(1, first);
      seen[first] = 1;
      bool minimum = true;
      for (std::size_t k = 0; k < plateau.size(); ++k) {
        neighbours(plateau[k], [&](std::size_t j) {
          minimum &= level_[j] >= level_[first];
          if (level_[j] != level_[first] || seen[j] != 0) return;
          seen[j] = 1;
          plateau.push_back(j);
        });
      }
      if (!minimum) continue;
      ++count;
      for (const std::size_t i : plateau) basin_[i] = count;
    }
  }

  void rise() {
    BucketQueue queue(level_.size());
    // From where the water came; kNone: not reached yet.
    std::vector<std::uint32_t> source(level_.size(), kNone);
    const auto spread = [&](std::size_t i) {
      neighbours(i, [&](std::size_t j) {
        if (basin_[j] != 0 || source[j] != kNone) return;
        source[j] = static_cast<std::uint32_t>(i);
        queue.push(static_cast<std::uint32_t>(j),
                   std::max(level_[j], static_cast<Level>(queue.level())));
      });
    };
    for (std::size_t i = 0; i < level_.size(); ++i) {
      if (basin_[i] != 0) spread(i);
    }
    for (std::uint32_t i = queue.pop(); i != kNone; i = queue.pop()) {
      std::size_t from = source[i];
      neighbours(i, [&](std::size_t j) {
        if (basin_[j] != 0 && strength_[j] < strength_[from]) from = j;
      });
      basin_[i] = basin_[from];
      spread(i);
    }
  }

  const std::vector<float>& strength_;
  const std::vector<std::uint8_t>& valid_;
  std::size_t width_;
  std::vector<std::int32_t> basin_;
  std::vector<Level> level_;
  Parts result_;
};

}  // namespace

Parts watershed(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid,
                int width, int height) {
  return Flood(strength, valid, width, height).result();
}

}  // namespace diacut
