#include "diacut/region_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "output/format.hpp"

namespace diacut {
namespace {

constexpr std::array<std::string_view, 1> kGrey = {"grey"};
constexpr std::array<std::string_view, 3> kColour = {"red", "green", "blue"};

std::string band_name(int band, int bands) {
  if (bands == 1) return std::string(kGrey.front());
  if (bands == 3) return std::string(kColour[static_cast<std::size_t>(band)]);
  return std::to_string(band + 1);
}

/// A height as text: empty where regions never merge or nothing is known.
std::string height_text(float height) {
  return std::isfinite(height) && height >= 0 ? fmt::format("{}", height) : "";
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

std::string header(const RegionTable& table) {
  std::string text = "label,area,x,y,width,height,centroid_x,centroid_y,perimeter,solidity";
  for (int band = 0; band < table.bands; ++band) {
    const std::string name = band_name(band, table.bands);
    text += fmt::format(",mean_{0},std_{0}", name);
  }
  text += ",neighbours";
  if (table.has_heights) text += ",merge_height";
  return text + ",neighbour_labels\n";
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
                   i + 1, region.area, region.centroid_x, region.centroid_y);
  }
  for (const Neighbours& pair : table.neighbours) {
    const std::string height = height_text(pair.merge_height);
    fmt::format_to(
        std::back_inserter(text),
        "    <edge source=\"{}\" target=\"{}\"><data key=\"length\">{}</data>{}</edge>\n",
        pair.first, pair.second, pair.length,
        height.empty() ? height : fmt::format("<data key=\"merge_height\">{}</data>", height));
  }
  return text + "  </graph>\n</graphml>\n";
}

std::string edge_list(const RegionTable& table) {
  std::string text =
      table.has_heights ? "source,target,length,merge_height\n" : "source,target,length\n";
  for (const Neighbours& pair : table.neighbours) {
    fmt::format_to(std::back_inserter(text), "{},{},{}", pair.first, pair.second, pair.length);
    if (table.has_heights) text += ',' + height_text(pair.merge_height);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string region_csv(const RegionTable& table) {
  const std::vector<std::vector<std::int32_t>> around = neighbours_of_each(table);
  std::string text = header(table);
  for (std::size_t i = 0; i < table.regions.size(); ++i) {
    const RegionFigures& region = table.regions[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{}", i + 1, region.area,
                   region.x, region.y, region.width, region.height, region.centroid_x,
                   region.centroid_y, region.perimeter, region.solidity);
    for (std::size_t band = 0; band < region.mean.size(); ++band) {
      fmt::format_to(std::back_inserter(text), ",{},{}", region.mean[band], region.deviation[band]);
    }
    text += fmt::format(",{}", around[i + 1].size());
    if (table.has_heights) text += ',' + height_text(region.merge_height);
    text += fmt::format(",{}\n", fmt::join(around[i + 1], " "));
  }
  return text;
}

GraphFormat graph_format(const std::string& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".graphml") return GraphFormat::kGraphml;
  if (extension == ".csv") return GraphFormat::kCsv;
  throw unknown_extension(path, "graphs", ".graphml, .csv");
}

std::string region_graph(const RegionTable& table, GraphFormat format) {
  return format == GraphFormat::kGraphml ? graphml(table) : edge_list(table);
}

}  // namespace diacut
