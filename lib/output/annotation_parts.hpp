#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/annotations.hpp"
#include "output/format.hpp"

namespace diacut {

/// How the outlines of a region are made up.
struct RingCount {
  std::size_t pieces = 0;
  std::size_t holes = 0;
};
RingCount count_rings(const Outlines& outlines, std::int64_t label);

/// The parts of the formats; see AnnotationFormat.
using MakePart = AnnotationPart(const AnnotatedImage& image);
MakePart coco_part, coco_rle_part, labelme_part, yolo_part, label_studio_part, cvat_part, svg_part,
    geojson_part;

/// The header of a table of comma-separated values: "label", "area" (pixels), "area_um2" or
/// "area_m2" where pixels have a size, "x", "y", "width", "height", "centroid_x", "centroid_y",
/// "perimeter", "solidity", "equivalent_diameter", "eccentricity", "orientation", of each channel
/// "mean_NAME", "std_NAME", "min_NAME", "max_NAME", "median_NAME" and "integrated_NAME",
/// "neighbours" (how many), where heights are known "merge_height" (the least of those to its
/// neighbours; empty without neighbours), and "neighbour_labels" (separated by spaces).
std::string region_csv_header(const RegionTable& table);

/// The lines of the table, one for each region. Returns the lines, without line ends.
std::vector<std::string> region_csv_rows(const RegionTable& table);

/// The text of write_region_graph().
std::string region_graph(const RegionTable& table, GraphFormat format);

/// A text as a cell of comma-separated values.
std::string csv_cell(const std::string& text);

/// A merge height as text: empty where regions never merge or nothing is known.
std::string height_text(float height);

/// COCO's text of the run lengths of a mask: each length, from the fourth on less the one two
/// places before it, as groups of five bits, the lowest first, in characters from '0' on
/// (pycocotools, rleToString()).
std::string compressed_counts(const std::vector<std::uint32_t>& counts);

}  // namespace diacut
