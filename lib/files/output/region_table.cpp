#include "diacut/region_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "core/extension.hpp"
#include "diacut/output.hpp"
#include "output/annotation_parts.hpp"

namespace diacut {
namespace {

/// What files call a region.
std::int64_t label_of(const RegionTable& table, std::int32_t region) {
  return table.regions[static_cast<std::size_t>(region) - 1].label;
}

/// The neighbours of each region, in the order of their labels.
std::vector<std::vector<std::int32_t>> neighbours_of_each(const RegionTable& table) {
  std::vector<std::vector<std::int32_t>> around(table.regions.size() + 1);
  for (const Neighbours& pair : table.neighbours) {
    around[static_cast<std::size_t>(pair.first)].push_back(pair.second);
    around[static_cast<std::size_t>(pair.second)].push_back(pair.first);
  }
  return around;
}

/// A figure in the unit of a file; nothing for one that is not known.
std::string figure_text(double value) {
  return std::isnan(value) ? "" : fmt::format("{:.10g}", value);
}

/// Width, height, perimeter and diameter of a region in the unit of its file; none without one.
std::vector<double> lengths_of(const RegionFigures& region, const PixelSize& pixel) {
  if (pixel.unit.empty()) return {};
  constexpr double kSquare = 1e-3;
  const double unknown = std::nan("");
  const bool known = pixel.width > 0;
  const bool square = known && std::abs(pixel.width - pixel.height) <= kSquare * pixel.width;
  return {
      known ? region.width * pixel.width : unknown, known ? region.height * pixel.height : unknown,
      square ? region.perimeter * pixel.width : unknown, std::sqrt(region.unit_area * 4 / M_PI)};
}

constexpr std::string_view kGraphmlHead =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="area" for="node" attr.name="area" attr.type="long"/>
  <key id="centroid_x" for="node" attr.name="centroid_x" attr.type="double"/>
  <key id="centroid_y" for="node" attr.name="centroid_y" attr.type="double"/>
  <key id="length" for="edge" attr.name="length" attr.type="long"/>
  <key id="merge_height" for="edge" attr.name="merge_height" attr.type="double"/>
  <graph id="regions" edgedefault="undirected">
)";

std::string graphml(const RegionTable& table) {
  std::string text(kGraphmlHead);
  for (std::size_t i = 0; i < table.regions.size(); ++i) {
    const RegionFigures& region = table.regions[i];
    fmt::format_to(std::back_inserter(text),
                   "    <node id=\"{}\"><data key=\"area\">{}</data><data key=\"centroid_x\">{}"
                   "</data><data key=\"centroid_y\">{}</data></node>\n",
                   region.label, region.area, region.centroid_x, region.centroid_y);
  }
  for (const Neighbours& pair : table.neighbours) {
    const std::string height = height_text(pair.merge_height);
    fmt::format_to(
        std::back_inserter(text),
        "    <edge source=\"{}\" target=\"{}\"><data key=\"length\">{}</data>{}</edge>\n",
        label_of(table, pair.first), label_of(table, pair.second), pair.length,
        height.empty() ? height : fmt::format("<data key=\"merge_height\">{}</data>", height));
  }
  return text + "  </graph>\n</graphml>\n";
}

std::string edge_list(const RegionTable& table) {
  std::string text =
      table.has_heights ? "source,target,length,merge_height\n" : "source,target,length\n";
  for (const Neighbours& pair : table.neighbours) {
    fmt::format_to(std::back_inserter(text), "{},{},{}", label_of(table, pair.first),
                   label_of(table, pair.second), pair.length);
    if (table.has_heights) text += ',' + height_text(pair.merge_height);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string region_csv_header(const RegionTable& table) {
  const std::string& unit = table.pixel.unit;
  std::string text = "label,area";
  if (!unit.empty()) text += fmt::format(",area_{}2", unit);
  text +=
      ",x,y,width,height,centroid_x,centroid_y,perimeter,sides,solidity,equivalent_diameter,"
      "eccentricity,orientation";
  for (const char* length : {"width", "height", "perimeter", "equivalent_diameter"}) {
    if (!unit.empty()) text += fmt::format(",{}_{}", length, unit);
  }
  for (const MeasuredChannel& channel : table.channels) {
    for (const char* figure : {"mean", "std", "min", "max", "median", "integrated"}) {
      text += ',' + csv_cell(fmt::format("{}_{}", figure, channel.name));
    }
  }
  return text + (table.has_heights ? ",neighbours,merge_height" : ",neighbours") +
         ",neighbour_labels";
}

std::vector<std::string> region_csv_rows(const RegionTable& table) {
  const std::vector<std::vector<std::int32_t>> around = neighbours_of_each(table);
  std::vector<std::string> rows;
  rows.reserve(table.regions.size());
  for (std::size_t i = 0; i < table.regions.size(); ++i) {
    const RegionFigures& region = table.regions[i];
    std::string text = fmt::format("{},{}", region.label, region.area);
    if (!table.pixel.unit.empty()) text += ',' + figure_text(region.unit_area);
    fmt::format_to(std::back_inserter(text), ",{},{},{},{},{},{},{},{},{},{},{},{}", region.x,
                   region.y, region.width, region.height, region.centroid_x, region.centroid_y,
                   region.perimeter, region.sides, region.solidity, region.equivalent_diameter,
                   region.eccentricity, region.orientation);
    for (const double length : lengths_of(region, table.pixel)) text += ',' + figure_text(length);
    for (const MeasuredChannel& channel : table.channels) {
      const ChannelFigures& figures = channel.regions[i];
      if (figures.count == 0) {
        text += ",,,,,,";
        continue;
      }
      fmt::format_to(std::back_inserter(text), ",{},{},{},{},{},{}", figures.mean,
                     figures.deviation, figures.least, figures.greatest, figures.median,
                     figures.sum);
    }
    text += fmt::format(",{}", around[i + 1].size());
    if (table.has_heights) text += ',' + height_text(region.merge_height);
    text += ',';
    for (const std::int32_t label : around[i + 1]) {
      if (text.back() != ',') text += ' ';
      text += std::to_string(label_of(table, label));
    }
    rows.push_back(std::move(text));
  }
  return rows;
}

GraphFormat graph_format(const std::string& path) {
  check_extension(path, "graphs", ".graphml, .csv");
  return has_extension(path, ".csv") ? GraphFormat::kCsv : GraphFormat::kGraphml;
}

std::string region_graph(const RegionTable& table, GraphFormat format) {
  return format == GraphFormat::kGraphml ? graphml(table) : edge_list(table);
}

void write_region_graph(const std::string& path, const RegionTable& table) {
  write_file(path, region_graph(table, graph_format(path)));
}

}  // namespace diacut
