#include "region/arcs/borders.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "region/arcs/pair_graph.hpp"

namespace diacut {

namespace {

/// Fewer pixels are not worth another thread.
constexpr std::size_t kBordersLeastPixels = 16384;

/// Counts pairs. One that is met again soon, as in the next row, is counted where it is.
class PairCounter {
 public:
  void add(std::int32_t a, std::int32_t b) {
    if (a == 0 || b == 0) return;
    const auto [first, second] = std::minmax(a, b);
    Border& recent = recent_[place(first, second)];
    if (recent.first != first || recent.second != second) {
      if (recent.length > 0) found_.push_back(recent);
      recent = {first, second, 0};
    }
    ++recent.length;
  }

  /// A pair may be among them several times.
  std::vector<Border> borders() && {
    std::copy_if(recent_.begin(), recent_.end(), std::back_inserter(found_),
                 [](const Border& border) { return border.length > 0; });
    return std::move(found_);
  }

 private:
  static constexpr int kPlaceBits = 11;

  static std::size_t place(std::int32_t first, std::int32_t second) {
    const auto key = static_cast<std::uint64_t>(first) << 32 | static_cast<std::uint64_t>(second);
    return (key * 0x9E3779B97F4A7C15U) >> (64 - kPlaceBits);
  }

  std::vector<Border> recent_ = std::vector<Border>(std::size_t{1} << kPlaceBits);
  std::vector<Border> found_;
};

std::vector<Border> borders_in(const Labels& labels, std::size_t begin, std::size_t end) {
  PairCounter pairs;
  const auto width = static_cast<std::size_t>(labels.width);
  for (std::size_t y = begin; y < end; ++y) {
    const std::int32_t* row = labels.values.data() + y * width;
    for (std::size_t x = 0; x + 1 < width; ++x) {
      if (row[x] != row[x + 1]) pairs.add(row[x], row[x + 1]);
    }
    if (y + 1 == static_cast<std::size_t>(labels.height)) break;
    for (std::size_t x = 0; x < width; ++x) {
      if (row[x] != row[x + width]) pairs.add(row[x], row[x + width]);
    }
  }
  return std::move(pairs).borders();
}

}  // namespace

std::vector<Border> find_borders(const Labels& labels) {
  const std::size_t least = 1 + kBordersLeastPixels / static_cast<std::size_t>(labels.width);
  std::vector<Border> borders;
  for (const auto& some : results_of_ranges(labels.height, least, [&](auto begin, auto end) {
         return borders_in(labels, begin, end);
       })) {
    borders.insert(borders.end(), some.begin(), some.end());
  }
  return united_pairs(std::move(borders));
}

std::vector<std::int64_t> region_sizes(const Labels& labels) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(labels.count) + 1, 0);
  parallel_ranges(labels.values.size(), kBordersLeastPixels,
                  [&](std::size_t begin, std::size_t end) {
                    add_counts(std::span(labels.values).subspan(begin, end - begin), sizes);
                  });
  sizes[0] = 0;
  return sizes;
}

std::vector<std::int32_t> relabelled(const std::vector<std::int32_t>& labels,
                                     const std::vector<std::int32_t>& number_of) {
  std::vector<std::int32_t> result(labels.size());
  parallel_ranges(labels.size(), kBordersLeastPixels, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      result[i] = number_of[labels[i]];
    }
  });
  return result;
}

}  // namespace diacut
