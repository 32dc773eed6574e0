#include "region/region_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "region/pair_table.hpp"

namespace diacut {

namespace {

constexpr std::int32_t kNone = -1;

/// The bin of each stored value of L, a or b. Bins of a and b divide -60 to 60; what lies outside
/// is in the first or last one.
std::size_t colour_bin(std::size_t channel, std::uint8_t value) {
  if (channel == 0) return value / (256 / kColourBins);
  constexpr int kLeast = 128 - 60;
  constexpr int kRange = 120;
  const int bin = (value - kLeast) * static_cast<int>(kColourBins) / kRange;
  return static_cast<std::size_t>(
      value < kLeast ? 0 : std::min(bin, static_cast<int>(kColourBins) - 1));
}

std::array<std::array<std::uint8_t, 256>, kColourChannels> colour_bins() {
  std::array<std::array<std::uint8_t, 256>, kColourChannels> bins{};
  for (std::size_t channel = 0; channel < kColourChannels; ++channel) {
    for (std::size_t value = 0; value < 256; ++value) {
      bins[channel][value] = static_cast<std::uint8_t>(
          channel * kColourBins + colour_bin(channel, static_cast<std::uint8_t>(value)));
    }
  }
  return bins;
}

/// Fills a graph whose regions are known.
class GraphBuilder {
 public:
  /// `most`: how many boundaries there may be.
  GraphBuilder(const Parts& basins, RegionGraph& graph, std::size_t most)
      : basins_(basins), graph_(graph), table_(most) {}

  /// Sums of strengths and lengths, from the arcs between basins.
  void add_arcs(const std::vector<Arc>& arcs) {
    for (const Arc& arc : arcs) {
      const std::int32_t a = graph_.region_of_basin[arc.first];
      const std::int32_t b = graph_.region_of_basin[arc.second];
      if (a == b) continue;
      BoundarySums& boundary = boundary_between(a, b);
      boundary.strength += arc.strength;
      boundary.length += arc.length;
    }
  }

  void add_pixels(const std::vector<float>& strength, const Colours& colours) {
    const auto width = static_cast<std::size_t>(basins_.width);
    const auto bins = colour_bins();
    const auto channels = static_cast<std::size_t>(colours.channels);
    const std::size_t pixels = basins_.of_pixel.size();
    for (std::size_t i = 0; i < pixels; ++i) {
      const std::int32_t own = region(i);
      const std::size_t x = i % width;
      add_side(strength, i, own, x + 1 < width ? i + 1 : pixels);
      add_side(strength, i, own, i + width);
      if (own == kNone) continue;
      RegionSums& sums = graph_.regions[own];
      ++sums.area;
      // The sides to the left and above are seen from there, but for those of the image's border.
      sums.sides += (x == 0 ? 1 : 0) + (i < width ? 1 : 0);
      const std::uint8_t* colour = &colours.values[i * channels];
      for (std::size_t c = 0; c < channels; ++c) ++sums.bins[bins[c][colour[c]]];
      for (std::size_t c = 1; c < channels; ++c) sums.ab[c - 1] += colour[c];
    }
  }

 private:
  std::int32_t region(std::size_t pixel) const {
    return graph_.region_of_basin[basins_.of_pixel[pixel]];
  }

  /// The side between pixel i and pixel j; there is no pixel j if j is not less than their number.
  void add_side(const std::vector<float>& strength, std::size_t i, std::int32_t own,
                std::size_t j) {
    const std::int32_t other = j < basins_.of_pixel.size() ? region(j) : kNone;
    if (own == other) return;
    if (own != kNone) ++graph_.regions[own].sides;
    if (other != kNone) ++graph_.regions[other].sides;
    if (own == kNone || other == kNone) return;
    const float stronger = std::clamp(std::max(strength[i], strength[j]), 0.0F, 1.0F);
    boundary_between(own, other)
        .add_level(static_cast<std::uint32_t>(std::lround(stronger * kMostLevel)));
  }

  BoundarySums& boundary_between(std::int32_t a, std::int32_t b) {
    const auto next = static_cast<std::uint32_t>(graph_.pairs.size());
    const std::uint32_t found = table_.find_or_enter(a, b, next);
    if (found != PairTable::kNone) return graph_.pairs[found].boundary;
    graph_.pairs.push_back({std::min(a, b), std::max(a, b), {}});
    return graph_.pairs.back().boundary;
  }

  const Parts& basins_;
  RegionGraph& graph_;
  PairTable table_;
};

}  // namespace

RegionGraph region_graph(const Parts& basins, const std::vector<Arc>& arcs,
                         const std::vector<Merge>& tree, std::size_t merges,
                         const std::vector<float>& strength, const Colours& colours) {
  const auto first_merge = static_cast<std::size_t>(basins.count) + 1;
  std::vector<std::int32_t> top(first_merge + merges);
  std::iota(top.begin(), top.end(), 0);
  for (std::size_t k = merges; k-- > 0;) {
    top[tree[k].first] = top[tree[k].second] = top[first_merge + k];
  }
  RegionGraph graph;
  std::vector<std::int32_t> number(top.size(), kNone);
  graph.region_of_basin.assign(first_merge, kNone);
  // Basins are numbered by their first pixels in scan order.
  for (std::size_t basin = 1; basin < first_merge; ++basin) {
    std::int32_t& region = number[top[basin]];
    if (region == kNone) {
      region = static_cast<std::int32_t>(graph.nodes.size());
      graph.nodes.push_back(top[basin]);
    }
    graph.region_of_basin[basin] = region;
  }
  graph.regions.resize(graph.nodes.size());
  GraphBuilder builder(basins, graph, arcs.size());
  builder.add_arcs(arcs);
  builder.add_pixels(strength, colours);
  for (const RegionSums& region : graph.regions) graph.pixels += static_cast<double>(region.area);
  return graph;
}

}  // namespace diacut
