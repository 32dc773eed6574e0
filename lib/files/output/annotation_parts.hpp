#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"
#include "diacut/annotations.hpp"
#include "output/format.hpp"

namespace diacut {

/// How the outlines of a region are made up.
struct RingCount {
  std::size_t pieces = 0;
  std::size_t holes = 0;
};
RingCount count_rings(const Outlines& outlines, std::int64_t label);

/// What is known of a format.
struct AnnotationRow {
  AnnotationFormat format;
  AnnotationPart (*part)(const AnnotatedImage& image);
  std::string between = {}, tail = {};  ///< Between and after images.
  std::string (*head)(const RegionClasses& classes) = nullptr;
  const char* note = nullptr;  ///< Of regions with holes, or with holes or several pieces.
  bool notes_pieces = false;
};

const AnnotationRow& annotation_row(AnnotationFormat format);

/// An SVG picture of an image's regions, each a path.
AnnotationPart svg_part(const AnnotatedImage& image);

/// The header of a table of comma-separated values: "label", "area" (pixels), "area_um2" or
/// "area_m2" where pixels have a size, "x", "y", "width", "height", "centroid_x", "centroid_y",
/// "perimeter", "sides", "solidity", "equivalent_diameter", "eccentricity", "orientation", where
/// pixels have a size "width_um", "height_um", "perimeter_um", "equivalent_diameter_um", of each
/// channel "mean_NAME", "std_NAME", "min_NAME", "max_NAME", "median_NAME" and "integrated_NAME",
/// "neighbours" (how many), where heights are known "merge_height" (the least of those to its
/// neighbours; empty without neighbours), and "neighbour_labels" (separated by spaces).
std::string region_csv_header(const RegionTable& table);

/// The lines of the table, one for each region. Returns the lines, without line ends.
std::vector<std::string> region_csv_rows(const RegionTable& table);

/// The text of write_region_graph().
std::string region_graph(const RegionTable& table, GraphFormat format);

/// A text as a cell of comma-separated values.
std::string csv_cell(const std::string& text);

/// A row of a table.
struct CsvRow {
  std::size_t line = 0;  ///< Where it begins, from 1.
  std::vector<std::string> cells;
};

/// The rows of comma-separated values (RFC 4180) as spreadsheets write them: commas, semicolons or
/// tabs, whichever comes first; line ends of any kind. Spaces around cells without quotes do not
/// count. Rows of empty cells are left out.
std::vector<CsvRow> csv_rows(std::string_view text);

/// A merge height as text: empty where regions never merge or nothing is known.
std::string height_text(float height);

/// COCO's text of the run lengths of a mask: each length, from the fourth on less the one two
/// places before it, as groups of five bits, the lowest first, in characters from '0' on
/// (pycocotools, rleToString()).
std::string compressed_counts(const std::vector<std::uint32_t>& counts);

/// Labels of any numbers, 0 for background, row by row.
LabelImage numbered(int width, int height, const std::vector<std::int64_t>& values);

/// The labels of an image in COCO JSON; see read_label_image(). `name`: of several images the one
/// that is called so. Throws InputError, whose message does not name the file.
LabelImage coco_labels(Bytes file, const std::string& name, std::int64_t max_pixels);

/// The labels of an image in XML of "CVAT for images 1.1", as coco_labels() reads COCO JSON.
LabelImage cvat_labels(Bytes file, const std::string& name, std::int64_t max_pixels);

}  // namespace diacut
