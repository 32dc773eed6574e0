#include "diacut/outlines.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace diacut {
namespace {

/// A step from corner to corner, and the pixels on both sides of the step from corner (0, 0).
struct Direction {
  int x, y;
  int left_x, left_y;
  int right_x, right_y;
};
/// Each one is a turn to the right from the one before it, as the image is seen.
constexpr std::array<Direction, 4> kDirections = {
    {{1, 0, 0, -1, 0, 0}, {0, 1, 0, 0, -1, 0}, {-1, 0, -1, 0, -1, -1}, {0, -1, -1, -1, 0, -1}}};
constexpr int kEast = 0;

/// The 4-connected pieces of regions, numbered in scan order, with a border of zeros around the
/// image, so that every pixel has four neighbours.
class Pieces {
 public:
  explicit Pieces(const Labels& labels)
      : stride_(static_cast<std::size_t>(labels.width) + 2),
        numbers_(stride_ * (static_cast<std::size_t>(labels.height) + 2), 0) {
    std::vector<std::size_t> open;
    for (int y = 0; y < labels.height; ++y) {
      for (int x = 0; x < labels.width; ++x) {
        const std::int32_t label = labels.values[pixel(labels, x, y)];
        if (label == 0 || at(x, y) != 0) continue;
        regions_.push_back(label);
        fill(labels, x, y, open);
      }
    }
  }

  std::int32_t at(int x, int y) const { return numbers_[index(x, y)]; }
  /// The region of a piece.
  std::int32_t region(std::int32_t piece) const {
    return regions_[static_cast<std::size_t>(piece) - 1];
  }

 private:
  static std::size_t pixel(const Labels& labels, int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(labels.width) +
           static_cast<std::size_t>(x);
  }
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y + 1) * stride_ + static_cast<std::size_t>(x + 1);
  }

  void fill(const Labels& labels, int from_x, int from_y, std::vector<std::size_t>& open) {
    const auto number = static_cast<std::int32_t>(regions_.size());
    const auto take = [&](int x, int y) {
      if (x < 0 || y < 0 || x >= labels.width || y >= labels.height) return;
      if (at(x, y) != 0 || labels.values[pixel(labels, x, y)] != regions_.back()) return;
      numbers_[index(x, y)] = number;
      open.push_back(pixel(labels, x, y));
    };
    take(from_x, from_y);
    while (!open.empty()) {
      const auto width = static_cast<std::size_t>(labels.width);
      const int x = static_cast<int>(open.back() % width);
      const int y = static_cast<int>(open.back() / width);
      open.pop_back();
      take(x - 1, y);
      take(x + 1, y);
      take(x, y - 1);
      take(x, y + 1);
    }
  }

  std::size_t stride_;
  std::vector<std::int32_t> numbers_;
  std::vector<std::int32_t> regions_;
};

/// Walks rings with their piece on the right.
class Tracer {
 public:
  Tracer(const Pieces& pieces, int width, int height, std::vector<Corner>& corners)
      : pieces_(pieces),
        width_(static_cast<std::size_t>(width)),
        walked_(width_ * static_cast<std::size_t>(height), 0),
        corners_(corners) {}

  /// Whether the upper side of a pixel is part of a ring that was not walked yet.
  bool starts(int x, int y) const {
    const std::int32_t piece = pieces_.at(x, y);
    return piece != 0 && pieces_.at(x, y - 1) != piece && walked_[upper_side(x, y)] == 0;
  }

  /// Walks the ring that begins with the upper side of a pixel, whose left end is a turn of the
  /// ring, and appends its corners.
  void walk(int start_x, int start_y) {
    const std::int32_t piece = pieces_.at(start_x, start_y);
    int x = start_x;
    int y = start_y;
    int direction = kEast;
    do {
      corners_.push_back({x, y});
      int turned = direction;
      do {
        if (direction == kEast) walked_[upper_side(x, y)] = 1;
        x += kDirections[direction].x;
        y += kDirections[direction].y;
        turned = turn(piece, x, y, direction);
      } while (turned == direction);
      direction = turned;
    } while (x != start_x || y != start_y);
  }

 private:
  std::size_t upper_side(int x, int y) const {
    return static_cast<std::size_t>(y) * width_ + static_cast<std::size_t>(x);
  }

  /// Where a ring goes on. Where pixels of the piece touch at a corner alone, the ring crosses over
  /// to the other pixel: the pixels between them are then in two rings, and no ring meets the
  /// corner twice, because the piece is connected elsewhere and so encloses one of the two.
  int turn(std::int32_t piece, int x, int y, int direction) const {
    const Direction& ahead = kDirections[direction];
    if (pieces_.at(x + ahead.left_x, y + ahead.left_y) == piece) return (direction + 3) % 4;
    if (pieces_.at(x + ahead.right_x, y + ahead.right_y) == piece) return direction;
    return (direction + 1) % 4;
  }

  const Pieces& pieces_;
  std::size_t width_;
  std::vector<std::uint8_t> walked_;  ///< For each pixel whether its upper side was walked.
  std::vector<Corner>& corners_;
};

}  // namespace

Outlines trace_outlines(const Labels& labels) {
  Outlines outlines;
  outlines.width = labels.width;
  outlines.height = labels.height;
  const Pieces pieces(labels);
  Tracer tracer(pieces, labels.width, labels.height, outlines.corners);
  std::int32_t newest = 0;
  for (int y = 0; y < labels.height; ++y) {
    for (int x = 0; x < labels.width; ++x) {
      if (!tracer.starts(x, y)) continue;
      const std::int32_t piece = pieces.at(x, y);
      const std::size_t first = outlines.corners.size();
      tracer.walk(x, y);
      // A scan meets a piece first at its outer ring, and pieces in the order of their numbers.
      outlines.rings.push_back(
          {pieces.region(piece), piece, piece <= newest, first, outlines.corners.size() - first});
      newest = std::max(newest, piece);
    }
  }
  std::stable_sort(outlines.rings.begin(), outlines.rings.end(), [](const Ring& a, const Ring& b) {
    return std::tie(a.region, a.piece) < std::tie(b.region, b.piece);
  });
  outlines.first_ring.assign(static_cast<std::size_t>(labels.count) + 2, 0);
  for (const Ring& ring : outlines.rings) {
    ++outlines.first_ring[static_cast<std::size_t>(ring.region) + 1];
  }
  for (std::size_t i = 1; i < outlines.first_ring.size(); ++i) {
    outlines.first_ring[i] += outlines.first_ring[i - 1];
  }
  return outlines;
}

}  // namespace diacut
