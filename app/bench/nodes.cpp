#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/objects.hpp"
#include "diacut/output.hpp"
#include "image/raster.hpp"
#include "measure.hpp"
#include "photos.hpp"
#include "region/object_features.hpp"

namespace diacut::bench {

namespace {

namespace fs = std::filesystem;

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
