// The subcommands that compute what app/learn fits weights to: a row of numbers for each pair of
// regions, or for each node of a merge tree.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "contour/boundary_orientation.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "diacut/image.hpp"
#include "diacut/image_file.hpp"
#include "diacut/objects.hpp"
#include "diacut/output.hpp"
#include "evaluate/ground_truth.hpp"
#include "image/colour.hpp"
#include "image/raster.hpp"
#include "measure.hpp"
#include "output/npy.hpp"
#include "region/hierarchy.hpp"
#include "region/learned_merging.hpp"
#include "region/object_features.hpp"

namespace diacut::bench {

namespace {

namespace fs = std::filesystem;

/// The images in a folder, by name. Throws InputError when there are none.
std::vector<fs::path> photos_in(const std::string& folder) {
  std::vector<fs::path> photos;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    const auto& known = image_extensions();
    if (std::find(known.begin(), known.end(), extension) != known.end()) {
      photos.push_back(entry.path());
    }
  }
  std::sort(photos.begin(), photos.end());
  if (photos.empty()) throw InputError(fmt::format("no photographs in '{}'", folder));
  return photos;
}

/// Writes the rows of all photographs as one float .npy of so many columns, and returns how many
/// rows they are. `rows_of` gives those of one photograph, one after the other; it is called on all
/// cores.
std::size_t write_rows(const std::vector<fs::path>& photos, std::size_t columns,
                       const std::string& output,
                       const std::function<std::vector<float>(const fs::path&)>& rows_of) {
  std::vector<std::vector<float>> found(photos.size());
  parallel_for(static_cast<int>(photos.size()), [&](int k) {
    const auto i = static_cast<std::size_t>(k);
    found[i] = rows_of(photos[i]);
  });
  std::vector<float> rows;
  for (const std::vector<float>& some : found) rows.insert(rows.end(), some.begin(), some.end());
  write_file(output, encode_npy<float>(rows, {rows.size() / columns, columns}));
  return rows.size() / columns;
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
  bool grey = false;
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

Judged read_judged(const PairsOptions& options, const fs::path& photo) {
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
  judged.colours = {image.channels, lab_bytes(image)};
  if (options.grey && image.channels == 3) {
    std::vector<std::uint8_t> grey;
    for (std::size_t i = 0; i < judged.colours.values.size(); i += 3) {
      grey.push_back(judged.colours.values[i]);
    }
    judged.colours = {1, std::move(grey)};
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
      const std::int32_t own = part[judged.tree.basins.of_pixel[i]];
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

/// Features, target and weight of all neighbours after the merges by strength up to each level.
std::vector<float> pairs_of(const Judged& judged) {
  std::vector<float> rows;
  const std::vector<Merge>& merges = judged.tree.merges;
  for (const double level : kLevels) {
    const auto end = std::find_if(merges.begin(), merges.end(),
                                  [&](const Merge& merge) { return merge.height > level; });
    const RegionGraph graph = region_graph(judged.tree.basins, judged.tree.arcs, merges,
                                           static_cast<std::size_t>(end - merges.begin()),
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
  const std::size_t kept = merges_to_keep(judged.tree.merges);
  const std::vector<Merge> first(judged.tree.merges.begin(),
                                 judged.tree.merges.begin() + static_cast<std::ptrdiff_t>(kept));
  const Parts& basins = judged.tree.basins;
  RegionGraph graph = region_graph(basins, judged.tree.arcs, judged.tree.merges, kept,
                                   judged.strength, judged.colours);
  const std::vector<std::int32_t> nodes = graph.nodes;
  std::vector<PairsShares> shares = shares_of(judged, graph.region_of_basin, nodes.size());
  std::map<std::int32_t, PairsShares> of_node;
  for (std::size_t r = 0; r < nodes.size(); ++r) of_node[nodes[r]] = std::move(shares[r]);
  const std::vector<Merge> merges =
      merge_by_probability(std::move(graph), first, basins.count,
                           judged.colours.channels == 3 ? weights.colour : weights.grey);
  std::vector<float> rows;
  for (std::size_t k = kept; k < merges.size(); ++k) {
    const double height = std::min<double>(merges[k].height, 1 - 1e-6);
    rows.push_back(static_cast<float>(std::log(height / (1 - height))));
    PairsShares& a = of_node.at(merges[k].first);
    const PairsShares& b = of_node.at(merges[k].second);
    append_target(rows, a, b, judged);
    for (std::size_t s = 0; s < a.size(); ++s) a[s] += b[s];
    of_node[basins.count + 1 + static_cast<std::int32_t>(k)] = std::move(a);
  }
  return rows;
}

void run(const PairsOptions& options) {
  std::optional<MergingWeights> weights;
  if (!options.weights.empty()) weights = load_merging_weights(options.weights);
  const std::vector<fs::path> photos = photos_in(options.photos);
  const std::size_t columns = 2 + (weights ? 1 : kPairFeatures);
  const std::size_t pairs = write_rows(photos, columns, options.output, [&](const fs::path& photo) {
    const Judged judged = read_judged(options, photo);
    return weights ? merges_of(judged, *weights) : pairs_of(judged);
  });
  fmt::print("{} photographs, {} pairs of regions\n", photos.size(), pairs);
}

struct NodesOptions {
  std::string photos;
  std::string trees;
  std::string truth;
  std::string output;
  int every = 1;
};

/// How many pixels of each object a node has, by the object's number.
using Shares = std::map<std::int64_t, std::int64_t>;

/// The largest intersection over union of a node and an object.
double best_overlap(const Shares& shares, std::int64_t area, const Shares& sizes) {
  double best = 0;
  for (const auto& [object, common] : shares) {
    const std::int64_t either = area + sizes.at(object) - common;
    best = std::max(best, static_cast<double>(common) / static_cast<double>(either));
  }
  return best;
}

/// The best overlap of each node of at most `most` pixels with an object; 0 for larger ones.
std::vector<double> overlaps(const Hierarchy& hierarchy, const NodeFigures& figures,
                             const std::vector<double>& objects, std::int64_t most) {
  std::vector<Shares> shares(figures.area.size());
  Shares sizes;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto object = static_cast<std::int64_t>(objects[i]);
    if (object == 0) continue;
    ++sizes[object];
    ++shares[hierarchy.leaves.values[i]][object];
  }
  const auto leaves = static_cast<std::size_t>(hierarchy.leaves.count);
  std::vector<double> best(shares.size(), 0.0);
  for (std::size_t node = 1; node < shares.size(); ++node) {
    if (node > leaves) {
      const Merge& merge = hierarchy.merges[node - leaves - 1];
      for (const std::int32_t child : {merge.first, merge.second}) {
        for (const auto& [object, common] : shares[child]) shares[node][object] += common;
        shares[child].clear();
      }
    }
    if (figures.area[node] <= most)
      best[node] = best_overlap(shares[node], figures.area[node], sizes);
  }
  return best;
}

/// The features of the nodes of one picture, each followed by its overlap.
std::vector<float> nodes_of(const NodesOptions& options, const fs::path& photo) {
  const std::string name = photo.stem().string();
  const Image image = read_image(photo.string());
  const Hierarchy hierarchy = read_tree((fs::path(options.trees) / (name + ".tree")).string());
  const Raster truth = read_raster((fs::path(options.truth) / (name + ".png")).string());
  const Labels& leaves = hierarchy.leaves;
  if (image.width != leaves.width || image.height != leaves.height || truth.width != leaves.width ||
      truth.height != leaves.height) {
    throw InputError(fmt::format("{}: picture, tree and truth differ in size", name));
  }
  const NodeFigures figures = node_figures(hierarchy);
  const ObjectConditions conditions = nuclei_conditions();
  const auto most = static_cast<std::int64_t>(conditions.greatest_area->value);
  const auto least = static_cast<std::int64_t>(conditions.least_area->value);
  const std::vector<double> best = overlaps(hierarchy, figures, truth.values, most);
  const NodeMeasures measures(hierarchy, figures, node_solidity(hierarchy, figures.area, most),
                              image);
  // The objects of the picture are brighter than what is around them if their nodes are.
  double step = 0;
  std::vector<std::size_t> nodes;
  for (std::size_t node = 1; node < best.size(); ++node) {
    const std::int64_t area = figures.area[node];
    if (figures.contrast[node] < 0 || area < least || area > most) continue;
    nodes.push_back(node);
    const auto at = static_cast<std::size_t>(ObjectFeature::kStep);
    if (best[node] > 0.5) step += measures.features(node, Polarity::kBright)[at];
  }
  std::vector<float> rows;
  for (const std::size_t node : nodes) {
    const Polarity polarity = step < 0 ? Polarity::kDark : Polarity::kBright;
    for (const double feature : measures.features(node, polarity)) {
      rows.push_back(static_cast<float>(feature));
    }
    rows.push_back(static_cast<float>(best[node]));
  }
  return rows;
}

void run(const NodesOptions& options) {
  std::vector<fs::path> photos;
  const std::vector<fs::path> all = photos_in(options.photos);
  for (std::size_t k = 0; k < all.size(); k += options.every) photos.push_back(all[k]);
  const std::size_t nodes =
      write_rows(photos, kObjectFeatures + 1, options.output,
                 [&](const fs::path& photo) { return nodes_of(options, photo); });
  fmt::print("{} pictures, {} nodes\n", photos.size(), nodes);
}

}  // namespace

Command pairs_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("pairs",
                                         "Features of neighbouring regions and how many people "
                                         "separate them, for app/learn/fit_merging.py.");
  const auto options = std::make_shared<PairsOptions>();
  command->add_option("photos", options->photos, "A folder of photographs")->required();
  command
      ->add_option("--contours", options->contours,
                   "Folder of their contours, from segment --contours")
      ->required();
  command->add_option("--truth", options->truth, "Folder of their ground truth (.mat)")->required();
  command->add_option("--weights", options->weights, "A file of weights: the rows are its merges");
  command->add_flag("--grey", options->grey, "Treat the photographs as grey");
  add_file_option(*command, "--output", options->output,
                  "The rows, .npy: the features (or the logarithm of the odds), the target, the "
                  "weight");
  return {command, [options] { run(*options); }};
}

Command nodes_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("nodes",
                                         "Features of the nodes of merge trees and their overlap "
                                         "with objects, for app/learn/fit_objects.py.");
  const auto options = std::make_shared<NodesOptions>();
  command->add_option("photos", options->photos, "A folder of pictures")->required();
  command->add_option("--trees", options->trees, "Folder of their merge trees (.tree)")->required();
  command
      ->add_option("--truth", options->truth,
                   "Folder of their objects (.png): one number for each object, 0 elsewhere")
      ->required();
  command->add_option("--every", options->every, "Only each N-th picture")
      ->check(CLI::PositiveNumber);
  add_file_option(*command, "--output", options->output,
                  "The rows, .npy: the features, and the largest overlap with an object");
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
