#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace diacut {

/// A label of one image and a label of another one of its size that have pixels in common.
struct LabelOverlap {
  std::int32_t first = 0;
  std::int32_t second = 0;
  std::int64_t both = 0;  ///< Pixels.
  std::int64_t first_area = 0;
  std::int64_t second_area = 0;

  std::int64_t either() const { return first_area + second_area - both; }
};

struct LabelOverlaps {
  std::map<std::int32_t, std::int64_t> first_areas;  ///< Of each label but 0.
  std::map<std::int32_t, std::int64_t> second_areas;
  std::vector<LabelOverlap> pairs;  ///< In the order of the first labels, then of the second ones.

  LabelOverlaps(std::span<const std::int32_t> first, std::span<const std::int32_t> second) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> pixels;
    auto last = pixels.end();
    for (std::size_t i = 0; i < first.size(); ++i) {
      const std::pair pair(first[i], second[i]);
      if (last == pixels.end() || last->first != pair) last = pixels.try_emplace(pair, 0).first;
      ++last->second;
    }
    for (const auto& [pair, both] : pixels) {
      if (pair.first != 0) first_areas[pair.first] += both;
      if (pair.second != 0) second_areas[pair.second] += both;
    }
    for (const auto& [pair, both] : pixels) {
      if (pair.first == 0 || pair.second == 0) continue;
      pairs.push_back(
          {pair.first, pair.second, both, first_areas[pair.first], second_areas[pair.second]});
    }
  }
};

}  // namespace diacut
