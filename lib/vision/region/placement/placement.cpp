#include "region/placement/placement.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <opencv2/core.hpp>
#include <utility>

#include "core/disjoint_sets.hpp"
#include "core/parallel.hpp"
#include "region/arcs/borders.hpp"
#include "region/arcs/parts.hpp"
#include "region/common_ancestors.hpp"

namespace diacut {

namespace {

/// Centres of the pixels of a reduced side on the full side, in pixels of the full side.
std::vector<int> centres(int reduced, int full) {
  std::vector<int> result;
  for (std::int64_t i = 0; i < reduced; ++i) {
    result.push_back(static_cast<int>((2 * i + 1) * full / (2 * std::int64_t{reduced})));
  }
  return result;
}

/// Floods the full picture from what is surely within each region.
class BandFlood {
 public:
  BandFlood(const Labels& found, const FullPicture& picture)
      : found_(found),
        picture_(picture),
        core_(region_cores(found)),
        columns_(centres(found.width, picture.width)),
        row_centres_(centres(found.height, picture.height)),
        stride_(static_cast<std::size_t>(picture.width) + 1),
        cells_(std::make_unique_for_overwrite<std::int32_t[]>(count())),
        levels_(std::make_unique_for_overwrite<std::uint8_t[]>(count())) {
    std::fill_n(&cells_[0], stride_, kWall);
    std::fill_n(&cells_[count() - stride_], stride_, kWall);
  }

  /// The number of the region in `found` of each pixel of the full picture.
  std::vector<std::int32_t> run() && {
    parallel_ranges(rows(), kLeastRows, [this](std::size_t begin, std::size_t end) {
      for (std::size_t y = begin; y < end; ++y) mark_row(static_cast<int>(y));
    });
    queue_shores();
    rise();
    give_rest();
    return without_walls();
  }

 private:
  static constexpr std::int32_t kWall = std::numeric_limits<std::int32_t>::min();
  static constexpr std::int32_t kDry = 0;
  /// Fewer rows of a large picture are not worth another thread.
  static constexpr std::size_t kLeastRows = 16;

  std::size_t rows() const { return static_cast<std::size_t>(picture_.height); }
  std::size_t count() const { return stride_ * (rows() + 2); }

  /// Marks what is surely within a region in one row of the picture: pixels on the lines between
  /// the centres of neighbouring pixels of the region's core, and what four such lines enclose.
  /// Centres at the border of the picture reach to the border.
  void mark_row(int y) {
    const std::size_t first = (static_cast<std::size_t>(y) + 1) * stride_;
    std::int32_t* row = &cells_[first];
    std::fill_n(row, picture_.width, kDry);
    row[picture_.width] = kWall;
    std::copy_n(picture_.levels.data() + row_begin(y), picture_.width, &levels_[first]);
    // The centres above (or at the row) and below.
    const auto next =
        std::upper_bound(row_centres_.begin(), row_centres_.end(), y) - row_centres_.begin();
    const auto last = static_cast<std::ptrdiff_t>(row_centres_.size()) - 1;
    const std::ptrdiff_t above = std::max<std::ptrdiff_t>(next - 1, 0);
    const bool at_centre = row_centres_[above] == y;
    const std::ptrdiff_t below = at_centre ? above : std::min(next, last);
    std::int32_t before = 0;
    for (int i = 0; i < found_.width; ++i) {
      const std::int32_t label = common_label(above, below, i);
      const int centre = columns_[i];
      if (label != 0) {
        int begin = centre;
        if (i == 0) begin = 0;
        if (i > 0 && label == before) begin = columns_[static_cast<std::size_t>(i) - 1];
        const int end = i + 1 == found_.width ? picture_.width : centre + 1;
        std::fill(row + begin, row + end, label);
      }
      before = label;
    }
    if (picture_.valid.empty()) return;
    const std::uint8_t* valid = picture_.valid.data() + row_begin(y);
    for (int x = 0; x < picture_.width; ++x) {
      if (valid[x] == 0) row[x] = kWall;
    }
  }

  std::size_t row_begin(int y) const { return static_cast<std::size_t>(y) * picture_.width; }

  /// The label of column i if it is in the core of one region in both rows, else 0.
  std::int32_t common_label(std::ptrdiff_t above, std::ptrdiff_t below, int i) const {
    const auto upper = static_cast<std::size_t>(above * found_.width + i);
    const auto lower = static_cast<std::size_t>(below * found_.width + i);
    const bool common =
        core_[upper] != 0 && core_[lower] != 0 && found_.values[upper] == found_.values[lower];
    return common ? found_.values[upper] : 0;
  }

  /// Neighbour k of a cell in scan order; of a cell and its neighbour k, the cell is the
  /// neighbour's neighbour 3 - k.
  std::size_t neighbour(std::size_t i, int k) const {
    constexpr int kAbove = 0;
    constexpr int kLeft = 1;
    constexpr int kRight = 2;
    if (k == kAbove) return i - stride_;
    if (k == kLeft) return i - 1;
    return k == kRight ? i + 1 : i + stride_;
  }

  /// A dry cell beside one of a region, and which of its neighbours that is.
  struct Shore {
    std::uint32_t cell = 0;
    std::int32_t from = 0;
  };

  /// Queues the dry cells beside regions in scan order.
  void queue_shores() {
    const auto shores = results_of_ranges(rows(), kLeastRows, [&](auto begin, auto end) {
      std::vector<Shore> found;
      for (std::size_t i = (begin + 1) * stride_; i < (end + 1) * stride_; ++i) {
        if (cells_[i] != kDry) continue;
        int from = 0;
        while (from < 4 && cells_[neighbour(i, from)] <= 0) ++from;
        if (from < 4) found.push_back({static_cast<std::uint32_t>(i), from});
      }
      return found;
    });
    for (const std::vector<Shore>& some : shores) {
      for (const Shore& shore : some) {
        cells_[shore.cell] = -1 - shore.from;
        queue_[levels_[shore.cell]].push_back(shore.cell);
      }
    }
  }

  /// While a cell is queued it holds -1, -2, -3 or -4: water came from neighbour 0 to 3.
  void spread(std::size_t i, std::size_t current) {
    for (int k = 0; k < 4; ++k) {
      const std::size_t j = neighbour(i, k);
      if (cells_[j] != kDry) continue;
      cells_[j] = -1 - (3 - k);
      const std::size_t level = std::max<std::size_t>(levels_[j], current);
      queue_[level].push_back(static_cast<std::uint32_t>(j));
    }
  }

  void rise() {
    for (std::size_t level = 0; level < queue_.size(); ++level) {
      std::vector<std::uint32_t>& queue = queue_[level];
      for (std::size_t head = 0; head < queue.size(); ++head) {
        const std::size_t i = queue[head];
        cells_[i] = cells_[neighbour(i, -1 - cells_[i])];
        spread(i, level);
      }
      std::vector<std::uint32_t>().swap(queue);
    }
  }

  /// Pixels that no water reaches, because pixels without data lie around them, take the region of
  /// the pixel of the reduced picture that they lie in.
  void give_rest() {
    if (picture_.valid.empty()) return;
    const auto reduced = [](std::int64_t at, std::int64_t from, std::int64_t to) {
      return static_cast<std::size_t>((2 * at + 1) * to / (2 * from));
    };
    for (int y = 0; y < picture_.height; ++y) {
      std::int32_t* row = &cells_[(static_cast<std::size_t>(y) + 1) * stride_];
      const std::size_t found_row =
          reduced(y, picture_.height, found_.height) * static_cast<std::size_t>(found_.width);
      for (int x = 0; x < picture_.width; ++x) {
        if (row[x] != kDry) continue;
        row[x] = found_.values[found_row + reduced(x, picture_.width, found_.width)];
      }
    }
  }

  /// The labels without the walls around the picture and with 0 for those in it.
  std::vector<std::int32_t> without_walls() const {
    const auto width = static_cast<std::size_t>(picture_.width);
    std::vector<std::int32_t> labels(rows() * width);
    parallel_ranges(rows(), kLeastRows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t y = begin; y < end; ++y) {
        const std::int32_t* row = &cells_[(y + 1) * stride_];
        std::transform(row, row + width, labels.begin() + static_cast<std::ptrdiff_t>(y * width),
                       [](std::int32_t cell) { return cell == kWall ? 0 : cell; });
      }
    });
    return labels;
  }

  const Labels& found_;
  const FullPicture& picture_;
  std::vector<std::uint8_t> core_;
  std::vector<int> columns_;
  std::vector<int> row_centres_;
  std::size_t stride_;
  std::unique_ptr<std::int32_t[]> cells_;
  std::unique_ptr<std::uint8_t[]> levels_;  ///< By cell.
  std::array<std::vector<std::uint32_t>, 256> queue_;
};

/// Regions in the full picture, and the one of the reduced picture that each was found as.
struct Placed {
  Labels labels;
  std::vector<std::int32_t> found_as;  ///< Index 0 is unused.
};

/// Numbers regions in scan order. Precondition: each is connected, and every pixel is in one.
Placed renumbered(const std::vector<std::int32_t>& of_pixel, std::int64_t count,
                  const FullPicture& at) {
  Placed result{{at.width, at.height, 0, {}}, {0}};
  std::vector<std::int32_t> number(static_cast<std::size_t>(count) + 1, 0);
  std::int32_t before = 0;
  for (const std::int32_t region : of_pixel) {
    if (region == std::exchange(before, region) || number[region] != 0) continue;
    number[region] = static_cast<std::int32_t>(++result.labels.count);
    result.found_as.push_back(region);
  }
  result.labels.values = relabelled(of_pixel, number);
  return result;
}

Placed pieces(const std::vector<std::int32_t>& of_pixel, const FullPicture& at) {
  Placed result;
  result.labels = connected_parts(at.width, at.height, of_pixel);
  result.found_as.assign(static_cast<std::size_t>(result.labels.count) + 1, 0);
  for (std::size_t i = 0; i < of_pixel.size(); ++i) {
    result.found_as[result.labels.values[i]] = of_pixel[i];
  }
  return result;
}

Placed place(const Labels& found, const FullPicture& picture) {
  const std::vector<std::int32_t> of_pixel = BandFlood(found, picture).run();
  return picture.valid.empty() ? renumbered(of_pixel, found.count, picture)
                               : pieces(of_pixel, picture);
}

/// Two leaves that touch, and the merge in which they meet.
struct Contact {
  std::size_t merge = 0;
  std::int32_t first = 0;
  std::int32_t second = 0;

  auto operator<=>(const Contact&) const = default;
};

/// Each pair of leaves that touch once, in the order of the merges in which they meet.
std::vector<Contact> contacts(const Placed& leaves, const Hierarchy& found) {
  const CommonAncestors ancestors(found);
  std::vector<Contact> result;
  for (const Border& border : find_borders(leaves.labels)) {
    result.push_back(
        {ancestors.merge_of(leaves.found_as[border.first], leaves.found_as[border.second]),
         border.first, border.second});
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

Labels placed(const Labels& found, const FullPicture& picture) {
  return place(found, picture).labels;
}

Hierarchy placed(const Hierarchy& found, const FullPicture& picture) {
  Placed leaves = place(found.leaves, picture);
  Hierarchy result;
  result.threshold = found.threshold;
  // Kruskal's spanning tree: the contacts in the order of the merges give the merges again.
  DisjointSets joined(static_cast<std::size_t>(leaves.labels.count) + 1);
  std::vector<std::int32_t> node(static_cast<std::size_t>(leaves.labels.count) + 1);  // By name.
  std::iota(node.begin(), node.end(), 0);
  auto next = static_cast<std::int32_t>(leaves.labels.count) + 1;
  for (const Contact& contact : contacts(leaves, found)) {
    const std::int32_t a = joined.find(contact.first);
    const std::int32_t b = joined.find(contact.second);
    if (a == b) continue;
    const auto [first, second] = std::minmax(node[a], node[b]);
    result.merges.push_back({first, second, found.merges[contact.merge].height});
    node[joined.unite(a, b)] = next++;
  }
  result.leaves = std::move(leaves.labels);
  return result;
}

std::vector<std::uint8_t> region_cores(const Labels& labels) {
  // With a frame, which is of the region beside it and of no core.
  const cv::Mat1i all(labels.height, labels.width, const_cast<std::int32_t*>(labels.values.data()));
  cv::Mat1i label;
  cv::copyMakeBorder(all, label, 1, 1, 1, 1, cv::BORDER_REPLICATE);
  cv::Mat1b core;
  cv::copyMakeBorder(all != 0, core, 1, 1, 1, 1, cv::BORDER_CONSTANT, 0);
  const std::int32_t* const label_of = label[0];
  std::uint8_t* const in_core = core[0];
  const int row = labels.width + 2;
  // Neighbours by an edge and by a corner in turn.
  const std::array<int, 8> around = {-row, 1 - row, 1, row + 1, row, row - 1, -1, -row - 1};
  const auto at_boundary = [&](int pixel) {
    const std::int32_t own = label_of[pixel];
    return own != 0 && (label_of[pixel - row] != own || label_of[pixel + 1] != own ||
                        label_of[pixel + row] != own || label_of[pixel - 1] != own);
  };
  // The outermost layer is known before any of it is gone: only one layer is peeled.
  std::vector<int> outermost;
  for (int y = 1; y <= labels.height; ++y) {
    for (int pixel = y * row + 1; pixel <= y * row + labels.width; ++pixel) {
      if (at_boundary(pixel)) outermost.push_back(pixel);
    }
  }
  // Whether the core of the pixel's region stays connected without the pixel, and the pixel is
  // neither alone nor the end of a line.
  const auto removable = [&](int pixel) {
    std::array<bool, 9> has{};
    for (std::size_t k = 0; k < around.size(); ++k) {
      const int next = pixel + around[k];
      has[k] = in_core[next] != 0 && label_of[next] == label_of[pixel];
    }
    has.back() = has.front();
    if (std::count(has.begin(), has.end() - 1, true) < 2) return false;
    // Pieces of the core around the pixel that touch it by an edge: each ends where the corner or
    // the edge after it is missing. A pixel in the midst of its core, which has no end of a piece,
    // is not at a boundary.
    int pieces = 0;
    for (std::size_t k = 0; k < around.size(); k += 2) {
      if (has[k] && !(has[k + 1] && has[k + 2])) ++pieces;
    }
    return pieces == 1;
  };
  for (const int pixel : outermost) {
    if (removable(pixel)) in_core[pixel] = 0;
  }
  std::vector<std::uint8_t> result;
  for (int y = 1; y <= labels.height; ++y) {
    for (int x = 1; x <= labels.width; ++x) result.push_back(core(y, x) != 0 ? 1 : 0);
  }
  return result;
}

}  // namespace diacut
