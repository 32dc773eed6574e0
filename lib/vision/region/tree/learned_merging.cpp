#include "region/tree/learned_merging.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/parallel.hpp"
#include "region/arcs/pair_graph.hpp"
#include "region/cuts/leaf_cut.hpp"

namespace diacut {

namespace {

/// Fewer pairs are not worth another thread.
constexpr std::size_t kLeastPairs = 256;

class Merger {
 public:
  Merger(RegionGraph graph, std::int32_t next_node, const MergingModel& model)
      : regions_(std::move(graph.regions)),
        nodes_(std::move(graph.nodes)),
        pixels_(graph.pixels),
        model_(model),
        pairs_(std::move(graph.pairs), regions_.size()),
        next_node_(next_node) {
    for (const RegionSums& region : regions_) scored_area_.push_back(region.area);
  }

  void run(std::vector<Merge>& merges) {
    double height = kStartHeight;
    std::vector<double> logits(pairs_.size());
    parallel_ranges(logits.size(), kLeastPairs, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) logits[k] = logit(static_cast<Index>(k));
    });
    PairQueue<PairOfRegions, double> queue(pairs_, [&](Index k) { return logits[k]; });
    while (const auto least = queue.take()) {
      height = std::max(height, 1.0 / (1.0 + std::exp(-least->weight)));
      const PairOfRegions& pair = pairs_[least->pair];
      const auto [first, second] = std::minmax(nodes_[pair.first], nodes_[pair.second]);
      merges.push_back({first, second, static_cast<float>(height)});
      for (const Index k : join(least->pair)) queue.push(k, logit(k));
    }
  }

 private:
  using Index = std::uint32_t;

  double logit(Index k) const {
    const PairOfRegions& pair = pairs_[k];
    return model_.logit(
        pair_features(regions_[pair.first], regions_[pair.second], pair.boundary, pixels_));
  }

  /// Joins a pair. Returns the pairs that get new probabilities.
  std::vector<Index> join(Index joined) {
    std::int32_t kept = pairs_[joined].first;
    std::int32_t lost = pairs_[joined].second;
    if (regions_[kept].area < regions_[lost].area) std::swap(kept, lost);
    RegionSums& sums = regions_[kept];
    sums.add(regions_[lost]);
    sums.sides -= 2 * pairs_[joined].boundary.length;
    std::vector<Index> changed;
    pairs_.join(joined, kept, lost, [&](Index k, bool) { changed.push_back(k); });
    nodes_[kept] = next_node_++;
    const auto grown = static_cast<double>(scored_area_[kept]) * (1 + kMergingGrowth);
    if (static_cast<double>(sums.area) >= grown) {
      scored_area_[kept] = sums.area;
      changed = pairs_.pairs_of(kept);
    }
    return changed;
  }

  std::vector<RegionSums> regions_;
  std::vector<std::int32_t> nodes_;
  double pixels_;
  const MergingModel& model_;
  std::vector<std::int64_t> scored_area_;  ///< By region, when all of its pairs were scored last.
  PairGraph<PairOfRegions> pairs_;
  std::int32_t next_node_;
};

constexpr std::int32_t kNone = -1;
/// Rows together have this many pixels before they are worth another thread.
constexpr std::size_t kRegionGraphLeastPixels = 16'384;

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
  GraphBuilder(const Labels& basins, RegionGraph& graph, std::size_t most)
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

  /// Bands of rows on all cores. Sums of integers are the same however they are divided.
  void add_pixels(const std::vector<float>& strength, const Colours& colours) {
    const auto width = static_cast<std::size_t>(basins_.width);
    const auto height = static_cast<std::size_t>(basins_.height);
    const std::size_t least = kRegionGraphLeastPixels / width + 1;
    for (const Band& band : results_of_ranges(height, least, [&](auto begin, auto end) {
           return band_of(strength, colours, {begin * width, end * width});
         })) {
      for (std::size_t k = 0; k < band.numbers.size(); ++k) {
        graph_.regions[band.numbers[k]].add(band.regions[k]);
      }
      for (const Side& side : band.sides) boundary_between(side.a, side.b).add_level(side.level);
    }
  }

 private:
  /// A side of a pixel between two regions.
  struct Side {
    std::int32_t a;
    std::int32_t b;
    std::uint32_t level;
  };

  /// What the pixels of some rows add.
  struct Band {
    std::vector<std::int32_t> local;  ///< By region, its place in `regions`, or kNone.
    std::vector<std::int32_t> numbers;
    std::vector<RegionSums> regions;
    std::vector<Side> sides;

    RegionSums& of(std::int32_t region) {
      std::int32_t& place = local[region];
      if (place == kNone) {
        place = static_cast<std::int32_t>(regions.size());
        numbers.push_back(region);
        regions.emplace_back();
      }
      return regions[place];
    }
  };

  Band band_of(const std::vector<float>& strength, const Colours& colours,
               const IndexRange& range) const {
    Band band;
    band.local.assign(graph_.regions.size(), kNone);
    const auto width = static_cast<std::size_t>(basins_.width);
    const auto channels = static_cast<std::size_t>(colours.channels);
    const std::size_t pixels = basins_.values.size();
    std::size_t x = 0;
    for (std::size_t i = range.begin; i < range.end; ++i, x = x + 1 < width ? x + 1 : 0) {
      const std::int32_t own = region(i);
      add_side(strength, i, own, x + 1 < width ? i + 1 : pixels, band);
      add_side(strength, i, own, i + width, band);
      if (own == kNone) continue;
      RegionSums& sums = band.of(own);
      ++sums.area;
      // The sides to the left and above are seen from there, but for those of the image's border.
      sums.sides += (x == 0 ? 1 : 0) + (i < width ? 1 : 0);
      const std::uint8_t* colour = &colours.values[i * channels];
      for (std::size_t c = 0; c < channels; ++c) ++sums.bins[bins_[c][colour[c]]];
      for (std::size_t c = 1; c < channels; ++c) sums.ab[c - 1] += colour[c];
      if (!colours.embedding) continue;
      const std::int16_t* vector = colours.embedding.at(x, i / width);
      for (int c = 0; c < colours.embedding.channels; ++c) sums.embedding[c] += vector[c];
    }
    return band;
  }

  std::int32_t region(std::size_t pixel) const {
    return graph_.region_of_basin[basins_.values[pixel]];
  }

  /// The side between pixel i and pixel j; there is no pixel j if j is not less than their number.
  void add_side(const std::vector<float>& strength, std::size_t i, std::int32_t own, std::size_t j,
                Band& band) const {
    const std::int32_t other = j < basins_.values.size() ? region(j) : kNone;
    if (own == other) return;
    if (own != kNone) ++band.of(own).sides;
    if (other != kNone) ++band.of(other).sides;
    if (own == kNone || other == kNone) return;
    const float stronger = std::clamp(std::max(strength[i], strength[j]), 0.0F, 1.0F);
    band.sides.push_back(
        {own, other, static_cast<std::uint32_t>(std::lround(stronger * kMostLevel))});
  }

  BoundarySums& boundary_between(std::int32_t a, std::int32_t b) {
    const auto next = static_cast<std::uint32_t>(graph_.pairs.size());
    const std::uint32_t found = table_.find_or_enter(a, b, next);
    if (found != PairTable::kNone) return graph_.pairs[found].boundary;
    graph_.pairs.push_back({std::min(a, b), std::max(a, b), {}});
    return graph_.pairs.back().boundary;
  }

  const Labels& basins_;
  RegionGraph& graph_;
  PairTable table_;
  const std::array<std::array<std::uint8_t, 256>, kColourChannels> bins_ = colour_bins();
};

}  // namespace

std::vector<Merge> merge_by_probability(RegionGraph graph, std::vector<Merge> kept,
                                        std::int32_t basins, const MergingModel& model) {
  constexpr auto kScale = static_cast<float>(kStartHeight / kStartStrength);
  for (Merge& merge : kept) merge.height *= kScale;
  const auto next_node = basins + 1 + static_cast<std::int32_t>(kept.size());
  Merger(std::move(graph), next_node, model).run(kept);
  return kept;
}

RegionGraph region_graph(const Labels& basins, const std::vector<Arc>& arcs,
                         const std::vector<Merge>& tree, std::size_t merges,
                         const std::vector<float>& strength, const Colours& colours) {
  LeafLabels labels = labels_after(static_cast<std::int32_t>(basins.count), tree, merges);
  RegionGraph graph;
  graph.nodes = std::move(labels.nodes);
  graph.region_of_basin = std::move(labels.of_leaf);
  for (std::int32_t& region : graph.region_of_basin) --region;  // kNone of what has no data.
  graph.regions.resize(graph.nodes.size());
  GraphBuilder builder(basins, graph, arcs.size());
  builder.add_arcs(arcs);
  builder.add_pixels(strength, colours);
  for (const RegionSums& region : graph.regions) graph.pixels += static_cast<double>(region.area);
  return graph;
}

}  // namespace diacut
