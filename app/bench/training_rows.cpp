// The subcommand that computes what app/learn/fit_merging.py fits weights to: a row of numbers for
// each pair of regions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "boundary/boundary.hpp"
#include "contour/boundary_orientation.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "diacut/image.hpp"
#include "diacut/image_file.hpp"
#include "diacut/output.hpp"
#include "evaluate/ground_truth.hpp"
#include "image/colour.hpp"
#include "image/raster.hpp"
#include "measure.hpp"
#include "output/npy.hpp"
#include "pipeline/run_forms.hpp"
#include "region/tree/hierarchy.hpp"
#include "region/tree/learned_merging.hpp"
#include "text.hpp"

namespace diacut::bench {

namespace {

namespace fs = std::filesystem;

/// The images in a folder, by name. Throws InputError when there are none.
std::vector<fs::path> photos_in(const std::string& folder) {
  std::vector<fs::path> photos;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (app::has_extension(entry.path(), image_extensions())) photos.push_back(entry.path());
  }
  std::sort(photos.begin(), photos.end());
  if (photos.empty()) throw InputError(fmt::format("no photographs in '{}'", folder));
  return photos;
}

/// The mean strengths at which regions are looked at: after the merges by strength up to each.
constexpr std::array kLevels = {kStartStrength, 0.06, 0.1,  0.14, 0.18, 0.22,
                                0.26,           0.3,  0.35, 0.4,  0.5,  0.6};

struct PairsOptions {
  std::string photos;
  std::string contours;
  std::string truth;
  std::string output;
  std::string weights;
  std::string network;
  std::string device;
  bool grey = false;
};

/// Embeddings of photographs by the network of the options, one at a time.
class Embedder {
 public:
  explicit Embedder(const PairsOptions& options) {
    if (options.network.empty()) return;
    parameters_.weights = options.network;
    if (!gives_embedding(parameters_)) {
      throw ConfigError(
          fmt::format("--network {}: this network has no embedding: make one with "
                      "app/learn/embedding.py",
                      options.network));
    }
    context_.emplace(options.device);
  }

  Embedding operator()(const Image& image) {
    if (!context_) return {};
    const std::lock_guard<std::mutex> lock(mutex_);
    return boundary_map(*context_, image, Grid{image.width, image.height}, parameters_, networks_,
                        true)
        .embedding.download();
  }

 private:
  std::mutex mutex_;
  BoundaryParameters parameters_;
  std::optional<Context> context_;
  DeviceNetworks networks_;
};

/// One photograph and what people made of it.
struct Judged {
  std::vector<float> strength;
  StrengthTree tree;
  Colours colours;
  std::vector<std::vector<std::int32_t>> segments;  ///< By annotator, each pixel's segment, from 0.
  std::size_t most_segments = 0;                    ///< Of any annotator.
};

/// How many pixels of each segment of each annotator a region has.
using PairsShares = std::vector<float>;

std::vector<std::int32_t> numbered(const std::vector<std::int32_t>& labels) {
  std::map<std::int32_t, std::int32_t> numbers;
  std::vector<std::int32_t> result;
  for (const std::int32_t label : labels) {
    result.push_back(
        numbers.emplace(label, static_cast<std::int32_t>(numbers.size())).first->second);
  }
  return result;
}

/// The file of a photograph's contours.
std::string contours_of(const PairsOptions& options, const std::string& name) {
  for (const char* extension : {".npy", ".png"}) {
    const fs::path path = fs::path(options.contours) / (name + extension);
    if (fs::exists(path)) return path.string();
  }
  throw InputError(fmt::format("'{}' has neither {}.npy nor {}.png", options.contours, name, name));
}

Judged read_judged(const PairsOptions& options, const fs::path& photo, Embedder& embedder) {
  const std::string name = photo.stem().string();
  const Image image = read_image(photo.string());
  const Raster raster = read_raster(contours_of(options, name));
  const GroundTruth truth =
      read_ground_truth({name, {(fs::path(options.truth) / (name + ".mat")).string()}});
  if (raster.width != image.width || raster.height != image.height || truth.width != image.width ||
      truth.height != image.height) {
    throw InputError(fmt::format("{}: photograph, contours and ground truth differ in size", name));
  }
  Judged judged;
  for (const double value : raster.values) {
    judged.strength.push_back(static_cast<float>(value / raster.full));
  }
  judged.tree = strength_tree(judged.strength,
                              boundary_orientation(judged.strength, image.width, image.height), {},
                              image.width, image.height, RegionParameters{}.direction);
  judged.colours = {image.channels, lab_bytes(image), embedder(image)};
  if (options.grey && image.channels == 3) {
    std::vector<std::uint8_t> grey;
    for (std::size_t i = 0; i < judged.colours.values.size(); i += 3) {
      grey.push_back(judged.colours.values[i]);
    }
    judged.colours.channels = 1;
    judged.colours.values = std::move(grey);
  }
  for (const Annotation& annotation : truth.annotations) {
    judged.segments.push_back(numbered(annotation.labels));
    const auto last =
        *std::max_element(judged.segments.back().begin(), judged.segments.back().end());
    judged.most_segments = std::max(judged.most_segments, static_cast<std::size_t>(last) + 1);
  }
  return judged;
}

/// The shares of each part, where `part` is the part of each basin.
std::vector<PairsShares> shares_of(const Judged& judged, const std::vector<std::int32_t>& part,
                                   std::size_t parts) {
  std::vector<PairsShares> shares(parts,
                                  PairsShares(judged.segments.size() * judged.most_segments, 0.0F));
  for (std::size_t a = 0; a < judged.segments.size(); ++a) {
    for (std::size_t i = 0; i < judged.segments[a].size(); ++i) {
      const std::int32_t own = part[judged.tree.basins.values[i]];
      const auto segment = static_cast<std::size_t>(judged.segments[a][i]);
      shares[own][a * judged.most_segments + segment] += 1;
    }
  }
  return shares;
}

/// Pixels of a region.
double area_of(const PairsShares& shares, std::size_t annotators) {
  double sum = 0;
  for (const float share : shares) sum += share;
  return sum / static_cast<double>(annotators);
}

/// The target: how many pairs of a pixel of the one region and one of the other lie in different
/// segments, as a share, of all annotators. The weight: the smaller region's share of the picture.
void append_target(std::vector<float>& row, const PairsShares& a, const PairsShares& b,
                   const Judged& judged) {
  const std::size_t annotators = judged.segments.size();
  double same = 0;
  for (std::size_t k = 0; k < a.size(); ++k) same += static_cast<double>(a[k]) * b[k];
  const double area_a = area_of(a, annotators);
  const double area_b = area_of(b, annotators);
  row.push_back(static_cast<float>(1 - same / (area_a * area_b * static_cast<double>(annotators))));
  row.push_back(
      static_cast<float>(std::min(area_a, area_b) / static_cast<double>(judged.strength.size())));
}

/// How many of the merges are up to a mean strength.
std::size_t merges_up_to(const std::vector<Merge>& merges, double strength) {
  const auto end = std::find_if(merges.begin(), merges.end(),
                                [&](const Merge& merge) { return merge.height > strength; });
  return static_cast<std::size_t>(end - merges.begin());
}

/// Features, target and weight of all neighbours after the merges by strength up to each level.
std::vector<float> pairs_of(const Judged& judged) {
  std::vector<float> rows;
  const std::vector<Merge>& merges = judged.tree.merges;
  for (const double level : kLevels) {
    const RegionGraph graph =
        region_graph(judged.tree.basins, judged.tree.arcs, merges, merges_up_to(merges, level),
                     judged.strength, judged.colours);
    const std::vector<PairsShares> shares =
        shares_of(judged, graph.region_of_basin, graph.regions.size());
    for (const PairOfRegions& pair : graph.pairs) {
      const PairFeatures features = pair_features(
          graph.regions[pair.first], graph.regions[pair.second], pair.boundary, graph.pixels);
      for (const double feature : features) rows.push_back(static_cast<float>(feature));
      append_target(rows, shares[pair.first], shares[pair.second], judged);
    }
  }
  return rows;
}

/// The logarithm of the odds, target and weight of each merge of the tree by these weights.
std::vector<float> merges_of(const Judged& judged, const MergingWeights& weights) {
  const std::size_t kept = merges_up_to(judged.tree.merges, kStartStrength);
  const std::vector<Merge> first(judged.tree.merges.begin(),
                                 judged.tree.merges.begin() + static_cast<std::ptrdiff_t>(kept));
  const Labels& basins = judged.tree.basins;
  const auto count = static_cast<std::int32_t>(basins.count);
  RegionGraph graph = region_graph(basins, judged.tree.arcs, judged.tree.merges, kept,
                                   judged.strength, judged.colours);
  const std::vector<std::int32_t> nodes = graph.nodes;
  std::vector<PairsShares> shares = shares_of(judged, graph.region_of_basin, nodes.size());
  std::map<std::int32_t, PairsShares> of_node;
  for (std::size_t r = 0; r < nodes.size(); ++r) of_node[nodes[r]] = std::move(shares[r]);
  const std::vector<Merge> merges = merge_by_probability(
      std::move(graph), first, count, judged.colours.channels == 3 ? weights.colour : weights.grey);
  std::vector<float> rows;
  for (std::size_t k = kept; k < merges.size(); ++k) {
    const double height = std::min<double>(merges[k].height, 1 - 1e-6);
    rows.push_back(static_cast<float>(std::log(height / (1 - height))));
    PairsShares& a = of_node.at(merges[k].first);
    const PairsShares& b = of_node.at(merges[k].second);
    append_target(rows, a, b, judged);
    for (std::size_t s = 0; s < a.size(); ++s) a[s] += b[s];
    of_node[count + 1 + static_cast<std::int32_t>(k)] = std::move(a);
  }
  return rows;
}

void run(const PairsOptions& options) {
  std::optional<MergingWeights> weights;
  if (!options.weights.empty()) {
    weights = load_merging_weights(options.weights, !options.network.empty());
  }
  Embedder embedder(options);
  const std::vector<fs::path> photos = photos_in(options.photos);
  std::vector<std::vector<float>> found(photos.size());
  parallel_for(static_cast<int>(photos.size()), [&](int k) {
    const auto i = static_cast<std::size_t>(k);
    const Judged judged = read_judged(options, photos[i], embedder);
    found[i] = weights ? merges_of(judged, *weights) : pairs_of(judged);
  });
  std::vector<float> rows;
  for (const std::vector<float>& some : found) rows.insert(rows.end(), some.begin(), some.end());
  const std::size_t columns = 2 + (weights ? 1 : kPairFeatures);
  const std::size_t pairs = rows.size() / columns;
  write_file(options.output, encode_npy<float>(rows, {pairs, columns}));
  fmt::print("{} photographs, {} pairs of regions\n", photos.size(), pairs);
}

}  // namespace

void pairs_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("pairs",
                                         "Features of neighbouring regions and how many people "
                                         "separate them, for app/learn/fit_merging.py.");
  const auto options = std::make_shared<PairsOptions>();
  command->add_option("photos", options->photos, "A folder of photographs")->required();
  command
      ->add_option("--contours", options->contours,
                   "Folder of their contours, from segment --contours")
      ->required();
  command->add_option("--network", options->network,
                      "Weights whose embedding is a feature too; default: no embedding");
  command->add_option("--device", options->device, "The device of --network");
  command->add_option("--truth", options->truth, "Folder of their ground truth (.mat)")->required();
  command->add_option("--weights", options->weights, "A file of weights: the rows are its merges");
  command->add_flag("--grey", options->grey, "Treat the photographs as grey");
  add_file_option(*command, "--output", options->output,
                  "The rows, .npy: the features (or the logarithm of the odds), the target, the "
                  "weight");
  command->callback([options] { run(*options); });
}

}  // namespace diacut::bench
