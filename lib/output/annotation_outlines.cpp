// The formats that hold outlines alone: YOLO, SVG, GeoJSON.
#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <map>

#include "output/annotation_parts.hpp"

namespace diacut {
namespace {

std::int64_t distance(const Corner& a, const Corner& b) {
  const std::int64_t x = a.x - b.x;
  const std::int64_t y = a.y - b.y;
  return x * x + y * y;
}

/// All rings of a region as one: from its first ring a line of no width leads to each other ring
/// and back, which the even-odd rule does not see. A line starts at the corner that is nearest to
/// the other ring's first corner.
std::vector<Corner> joined_ring(const Outlines& outlines, std::int64_t label) {
  const std::span<const Ring> rings = outlines.of(label);
  const std::span<const Corner> outer = outlines.of(rings.front());
  std::multimap<std::size_t, const Ring*> joints;
  for (const Ring& ring : rings.subspan(1)) {
    const Corner& to = outlines.of(ring).front();
    std::size_t nearest = 0;
    for (std::size_t i = 1; i < outer.size(); ++i) {
      if (distance(outer[i], to) < distance(outer[nearest], to)) nearest = i;
    }
    joints.emplace(nearest, &ring);
  }
  std::vector<Corner> all;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    all.push_back(outer[i]);
    const auto [begin, end] = joints.equal_range(i);
    for (auto joint = begin; joint != end; ++joint) {
      const std::span<const Corner> ring = outlines.of(*joint->second);
      all.insert(all.end(), ring.begin(), ring.end());
      all.push_back(ring.front());
      all.push_back(outer[i]);
    }
  }
  return all;
}

/// A ring as a linear ring of GeoJSON, whose first position is repeated at the end.
std::string linear_ring(std::span<const Corner> ring) {
  std::string text = "[";
  for (const Corner& corner : ring) {
    fmt::format_to(std::back_inserter(text), "[{},{}],", corner.x, corner.y);
  }
  fmt::format_to(std::back_inserter(text), "[{},{}]]", ring.front().x, ring.front().y);
  return text;
}

std::string geometry(const Outlines& outlines, std::int64_t label) {
  std::string text;
  std::size_t pieces = 0;
  for (const Ring& ring : outlines.of(label)) {
    if (!ring.hole) {
      text += pieces++ == 0 ? "[" : "],[";
    } else {
      text += ',';
    }
    text += linear_ring(outlines.of(ring));
  }
  text += ']';
  return pieces == 1 ? fmt::format(R"({{"type":"Polygon","coordinates":{}}})", text)
                     : fmt::format(R"({{"type":"MultiPolygon","coordinates":[{}]}})", text);
}

}  // namespace

std::string yolo_text(const AnnotatedImage& image) {
  const Outlines& outlines = *image.outlines;
  std::string text;
  for (std::int64_t label = 1; label <= image.labels->count; ++label) {
    text += std::to_string(class_number(image, label));
    for (const Corner& corner : joined_ring(outlines, label)) {
      fmt::format_to(std::back_inserter(text), " {:.8g} {:.8g}",
                     static_cast<double>(corner.x) / outlines.width,
                     static_cast<double>(corner.y) / outlines.height);
    }
    text += '\n';
  }
  return text;
}

std::string svg_text(const AnnotatedImage& image) {
  const Outlines& outlines = *image.outlines;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n"
      "<g fill=\"none\" fill-rule=\"evenodd\" stroke=\"#e6b400\" stroke-width=\"1\">\n",
      outlines.width, outlines.height, xml_text(image.name));
  for (std::int64_t label = 1; label <= image.labels->count; ++label) {
    fmt::format_to(std::back_inserter(text), "<path id=\"region-{}\" class=\"{}\" d=\"",
                   figures_of(image, label).label, xml_text(class_of(image, label)));
    for (const Ring& ring : outlines.of(label)) {
      const std::span<const Corner> corners = outlines.of(ring);
      fmt::format_to(std::back_inserter(text), "M{} {}", corners[0].x, corners[0].y);
      for (std::size_t i = 1; i < corners.size(); ++i) {
        const Corner& corner = corners[i];
        if (corner.y == corners[i - 1].y) {
          fmt::format_to(std::back_inserter(text), "H{}", corner.x);
        } else if (corner.x == corners[i - 1].x) {
          fmt::format_to(std::back_inserter(text), "V{}", corner.y);
        } else {
          fmt::format_to(std::back_inserter(text), "L{} {}", corner.x, corner.y);
        }
      }
      text += 'Z';
    }
    text += "\"/>\n";
  }
  return text + "</g>\n</svg>\n";
}

std::string geojson_text(const AnnotatedImage& image) {
  std::string text =
      fmt::format(R"({{"type":"FeatureCollection","name":{},"features":[)", json_text(image.name));
  for (std::int64_t label = 1; label <= image.labels->count; ++label) {
    const RegionFigures& region = figures_of(image, label);
    text += label > 1 ? ",\n" : "\n";
    text += fmt::format(
        R"({{"type":"Feature","id":{0},"properties":{{"label":{0},"class":{1},"area":{2}{3}}},"geometry":{4}}})",
        region.label, json_text(class_of(image, label)), region.area,
        height_member("merge_height", region), geometry(*image.outlines, label));
  }
  return text + "]}\n";
}

}  // namespace diacut
