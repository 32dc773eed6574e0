#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/image_file.hpp"
#include "diacut/labels.hpp"
#include "diacut/outlines.hpp"

/// @file
/// Measurements of each region, and its neighbours, as tables and graphs.
namespace diacut {

/// The figures of one region. Coordinates are those of pixels: the centre of the first pixel is (0,
/// 0), as in report_json(). `perimeter` and the last three before `merge_height` are as
/// scikit-image's regionprops() defines them.
struct RegionFigures {
  std::int64_t label = 0;  ///< Its label in files: its number, unless a label image gave another.
  std::int64_t area = 0;   ///< Number of its pixels.
  int x = 0;               ///< Leftmost column of its bounding box.
  int y = 0;               ///< Topmost row of its bounding box.
  int width = 0;           ///< Columns of its bounding box.
  int height = 0;          ///< Rows of its bounding box.
  double centroid_x = 0;   ///< Mean column of its pixels.
  double centroid_y = 0;   ///< Mean row of its pixels.
  /// The length of its outline through the centres of its border's pixels, holes included.
  double perimeter = 0;
  std::int64_t sides = 0;          ///< Sides of its pixels at its border.
  double solidity = 0;             ///< Its area divided by that of its convex hull, in (0, 1].
  double equivalent_diameter = 0;  ///< The diameter of the circle of its area.
  double eccentricity = 0;         ///< Of the ellipse of its second moments, in [0, 1].
  /// The angle between the rows' direction (downwards) and the longer axis of that ellipse, from
  /// -pi/2 to pi/2.
  double orientation = 0;
  /// The least height of the merge tree at which it merges with a neighbour; infinity where it
  /// never merges, negative where heights are not known.
  float merge_height = -1;
  double unit_area = 0;  ///< In squares of the unit of RegionTable::pixel; NaN: not known.
};

/// Two neighbouring regions.
struct Neighbours {
  std::int32_t first = 0;   ///< The region with the smaller label.
  std::int32_t second = 0;  ///< The region with the larger label.
  std::int64_t length = 0;  ///< The sides of pixels that they share.
  /// Height of the merge tree at which they merge, in [0, 1]: the least over the sides that they
  /// share. Negative where it is not known.
  float merge_height = -1;
};

/// Statistics of a channel in a region, in the values of the file.
struct ChannelFigures {
  std::int64_t count = 0;  ///< Pixels with a finite value; if 0, the others are undefined.
  double mean = 0;         ///< Mean of the finite values, as all that follows.
  double deviation = 0;    ///< Standard deviation (divided by the count, not one less).
  double least = 0;        ///< The smallest value.
  double greatest = 0;     ///< The largest value.
  double median = 0;       ///< Median; of an even count the mean of the two in the middle.
  double sum = 0;          ///< The integrated intensity.
};

/// The figures of a channel in all regions.
struct MeasuredChannel {
  std::string name;                     ///< Name of the channel in tables.
  std::vector<ChannelFigures> regions;  ///< In the order of RegionTable::regions.
};

/// The figures of all regions.
struct RegionTable {
  bool has_heights = false;  ///< Whether merge heights are known.
  /// From the file. If its width is above 0, lengths are in its unit too, and perimeters if pixels
  /// are square; if it has a unit, regions have RegionFigures::unit_area.
  PixelSize pixel;
  std::vector<RegionFigures> regions;     ///< Regions 1, 2, ... in this order.
  std::vector<Neighbours> neighbours;     ///< In the order of (first, second).
  std::vector<MeasuredChannel> channels;  ///< In the order of measurement.
};

/// Measures the shapes of all regions, without channels. `hierarchy`: the merge tree that the
/// labels are a cut of, or null: then there are no heights. Throws InputError when sizes differ.
RegionTable measure_regions(const Labels& labels, const Outlines& outlines,
                            const Hierarchy* hierarchy);

/// Measures channels one after the other; memory holds one at a time.
class ChannelMeter {
 public:
  /// `labels`: the regions; they must outlive the meter.
  explicit ChannelMeter(const Labels& labels);
  /// Measures one channel. Throws InputError when it has another size than the labels.
  MeasuredChannel measure(Channel&& channel) const;

 private:
  const Labels& labels_;
  std::vector<std::size_t> first_;   ///< Of each region in pixels_.
  std::vector<std::size_t> pixels_;  ///< Region after region.
};

/// Writes the regions as the nodes and neighbours as the edges of an undirected graph: .graphml
/// with the figures of both, or .csv, a list of edges, "source,target,length" and "merge_height".
/// Throws as diacut/output.hpp says.
void write_region_graph(const std::string& path, const RegionTable& table);

}  // namespace diacut
