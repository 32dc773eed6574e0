#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/outlines.hpp"

/// @file
/// The figures of each region, and which regions are neighbours, as tables and graphs.
namespace diacut {

/// The figures of one region. Coordinates are those of pixels: the centre of the first pixel is
/// (0, 0), as in report_json().
struct RegionFigures {
  std::int64_t area = 0;  ///< Its pixels.
  int x = 0;              ///< Leftmost column of its bounding box.
  int y = 0;              ///< Topmost row of its bounding box.
  int width = 0;          ///< Columns of its bounding box.
  int height = 0;         ///< Rows of its bounding box.
  double centroid_x = 0;  ///< Mean column of its pixels.
  double centroid_y = 0;  ///< Mean row of its pixels.
  /// The sides of its pixels that are not shared with another of its pixels: the length of its
  /// outline, holes included.
  std::int64_t perimeter = 0;
  /// Its area divided by the area of the convex hull of its pixels' corners, in (0, 1].
  double solidity = 0;
  std::vector<double> mean;       ///< Of each band of the image, in the image's own [0, 1].
  std::vector<double> deviation;  ///< Standard deviation of each band, of its pixels (divided by
                                  ///< the area, not one less).
  /// The least height of the merge tree at which it merges with a neighbour; infinity where it
  /// never merges, negative where heights are not known.
  float merge_height = -1;
};

/// Two neighbouring regions.
struct Neighbours {
  std::int32_t first = 0;   ///< The region with the smaller label.
  std::int32_t second = 0;  ///< The region with the larger label.
  std::int64_t length = 0;  ///< The sides of pixels that they share.
  /// Height of the merge tree at which they merge: the least over the sides that they share, in
  /// [0, 1]. Negative where it is not known.
  float merge_height = -1;
};

/// The figures of all regions.
struct RegionTable {
  int bands = 0;                       ///< Bands of the image; 0: without an image.
  bool has_heights = false;            ///< Whether merge heights are known.
  std::vector<RegionFigures> regions;  ///< Of the labels 1, 2, ... in this order.
  std::vector<Neighbours> neighbours;  ///< In the order of (first, second).
};

/// Measures all regions.
/// @param labels The regions.
/// @param outlines Their outlines.
/// @param image The image, of the size of the labels, or null: then there are no bands.
/// @param hierarchy The merge tree that the labels are a cut of, or null: then there are no
///     heights.
/// @return The figures.
/// @throws InputError when sizes differ.
RegionTable measure_regions(const Labels& labels, const Outlines& outlines, const Image* image,
                            const Hierarchy* hierarchy);

/// The figures as a table of comma-separated values with a header: "label", "area", "x", "y",
/// "width", "height", "centroid_x", "centroid_y", "perimeter", "solidity", then "mean_NAME" and
/// "std_NAME" of each band (grey, or red, green and blue), "neighbours" (how many), where heights
/// are known "merge_height" (the least of those to its neighbours; empty without neighbours), and
/// "neighbour_labels" (separated by spaces).
/// @param table The figures.
/// @return The text, a line for each region.
std::string region_csv(const RegionTable& table);

/// How a graph of regions is written.
enum class GraphFormat {
  kGraphml,  ///< GraphML with the figures of nodes and edges: .graphml
  kCsv,      ///< A list of edges, "source,target,length" and "merge_height": .csv
};

/// The format that the extension of a path, in upper or lower case, stands for.
/// @param path The path.
/// @return The format.
/// @throws ConfigError listing the known extensions when it is not one of them.
GraphFormat graph_format(const std::string& path);

/// The regions as the nodes and neighbours as the edges of an undirected graph.
/// @param table The figures.
/// @param format The format.
/// @return The text.
std::string region_graph(const RegionTable& table, GraphFormat format);

}  // namespace diacut
