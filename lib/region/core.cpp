#include "region/core.hpp"

#include <array>
#include <cstddef>

namespace diacut {
namespace {

class Peeling {
 public:
  explicit Peeling(const Labels& labels) : labels_(labels), core_(labels.values.size(), 0) {
    for (std::size_t i = 0; i < core_.size(); ++i) core_[i] = labels.values[i] != 0 ? 1 : 0;
  }

  std::vector<std::uint8_t> run() && {
    // The outermost layer is known before any of it is gone: only one layer is peeled.
    std::vector<std::size_t> outermost;
    for (int y = 0; y < labels_.height; ++y) {
      for (int x = 0; x < labels_.width; ++x) {
        if (at_boundary(x, y)) outermost.push_back(index(x, y));
      }
    }
    const auto width = static_cast<std::size_t>(labels_.width);
    for (const std::size_t i : outermost) {
      if (removable(static_cast<int>(i % width), static_cast<int>(i / width))) core_[i] = 0;
    }
    return std::move(core_);
  }

 private:
  struct Step {
    int x = 0;
    int y = 0;
  };
  /// Around a pixel, neighbours by an edge and by a corner in turn.
  static constexpr std::array<Step, 8> kAround = {
      {{0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}}};

  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(labels_.width) +
           static_cast<std::size_t>(x);
  }

  bool inside(int x, int y) const {
    return x >= 0 && y >= 0 && x < labels_.width && y < labels_.height;
  }

  bool at_boundary(int x, int y) const {
    const std::int32_t label = labels_.values[index(x, y)];
    if (label == 0) return false;
    for (std::size_t k = 0; k < kAround.size(); k += 2) {
      const int nx = x + kAround[k].x;
      const int ny = y + kAround[k].y;
      if (inside(nx, ny) && labels_.values[index(nx, ny)] != label) return true;
    }
    return false;
  }

  /// Whether the core of the pixel's region stays connected without the pixel, and the pixel is
  /// neither alone nor the end of a line.
  bool removable(int x, int y) const {
    const std::int32_t label = labels_.values[index(x, y)];
    std::array<bool, 8> core{};
    int neighbours = 0;
    for (std::size_t k = 0; k < kAround.size(); ++k) {
      const int nx = x + kAround[k].x;
      const int ny = y + kAround[k].y;
      core[k] =
          inside(nx, ny) && labels_.values[index(nx, ny)] == label && core_[index(nx, ny)] != 0;
      neighbours += core[k] ? 1 : 0;
    }
    if (neighbours < 2) return false;
    // Pieces of the core around the pixel that touch it by an edge: each ends where the corner or
    // the edge after it is missing.
    int pieces = 0;
    int edges = 0;
    for (std::size_t k = 0; k < core.size(); k += 2) {
      if (!core[k]) continue;
      ++edges;
      if (!core[k + 1] || !core[(k + 2) % core.size()]) ++pieces;
    }
    // A pixel in the midst of its core has no end of a piece, and is not at a boundary.
    return edges > 0 && pieces == 1;
  }

  const Labels& labels_;
  std::vector<std::uint8_t> core_;
};

}  // namespace

std::vector<std::uint8_t> region_cores(const Labels& labels) { return Peeling(labels).run(); }

}  // namespace diacut
