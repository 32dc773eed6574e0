// The formats of programs in which people draw and correct annotations: LabelMe, Label Studio,
// CVAT.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "diacut/version.hpp"
#include "output/annotation_parts.hpp"
#include "output/page_text.hpp"
#include "output/png.hpp"

namespace diacut {
namespace {

std::string score_of(const RegionFigures& region) {
  return is_height(region.merge_height) ? fmt::format(R"(,"score":{})", region.merge_height) : "";
}

std::string pixel_points_json(const Outlines& outlines, const Ring& ring) {
  std::string text = "[";
  for (const Corner& corner : outlines.of(ring)) {
    fmt::format_to(std::back_inserter(text), "[{},{}],", corner.x, corner.y);
  }
  text.back() = ']';
  return text;
}

std::string labelme_shape(const AnnotatedImage& image, std::int64_t label, const std::string& group,
                          const char* type, const std::string& points, const std::string& mask) {
  return fmt::format(R"({{"label":{},"points":{},"group_id":{},"description":"region {}",)"
                     R"("shape_type":"{}","flags":{{}},"mask":{}}})",
                     json_text(class_of(image, label)), points, group,
                     figures_of(image, label).label, type, mask);
}

/// A mask as LabelMe has it: the first and last pixel of the bounding box, and a PNG of it.
std::string labelme_mask(const AnnotatedImage& image, std::int64_t label) {
  const RegionFigures& region = image.table->regions[static_cast<std::size_t>(label) - 1];
  const std::string points = fmt::format("[[{},{}],[{},{}]]", region.x, region.y,
                                         region.x + region.width - 1, region.y + region.height - 1);
  PngExtras extras;
  extras.flat = true;
  const auto png = encode_png(region.width, region.height, 1, region_mask(image, label), extras);
  return labelme_shape(image, label, "null", "mask", points, '"' + base64(png) + '"');
}

/// A region with holes or in several pieces is one ring, too.
std::string label_studio_result(const AnnotatedImage& image, std::int64_t label) {
  const Outlines& outlines = *image.outlines;
  const RegionFigures& region = figures_of(image, label);
  std::string points = "[";
  for (const Corner& corner : joined_ring(outlines, label)) {
    fmt::format_to(std::back_inserter(points), "[{},{}],", 100.0 * corner.x / outlines.width,
                   100.0 * corner.y / outlines.height);
  }
  points.back() = ']';
  return fmt::format(
      R"({{"id":"region-{}","from_name":"polygon","to_name":"image","type":"polygonlabels",)"
      R"("original_width":{},"original_height":{},"image_rotation":0,"meta":{{"text":["{}"]}})"
      R"({},"value":{{"points":{},"closed":true,"polygonlabels":[{}]}}}})",
      region.label, outlines.width, outlines.height, region.label, score_of(region), points,
      json_text(class_of(image, label)));
}

}  // namespace

std::string labelme_text(const AnnotatedImage& image) {
  std::string text = R"({"version":"5.3.0","flags":{},"shapes":[)";
  bool begun = false;
  const auto add = [&](const std::string& shape) {
    text += begun ? ",\n" : "\n";
    text += shape;
    begun = true;
  };
  for (std::int64_t label = 1; label <= image.labels->count; ++label) {
    const RingCount rings = count_rings(*image.outlines, label);
    if (rings.holes > 0) {
      add(labelme_mask(image, label));
      continue;
    }
    const std::string group =
        rings.pieces > 1 ? std::to_string(figures_of(image, label).label) : "null";
    for (const Ring& ring : image.outlines->of(label)) {
      add(labelme_shape(image, label, group, "polygon", pixel_points_json(*image.outlines, ring),
                        "null"));
    }
  }
  return text + fmt::format(
                    "],\n\"imagePath\":{},\"imageData\":null,\"imageHeight\":{},"
                    "\"imageWidth\":{}}}\n",
                    json_text(image.name), image.labels->height, image.labels->width);
}

std::string label_studio_text(const AnnotatedImage& image) {
  std::string text = fmt::format(
      R"({{"data":{{"image":{}}},"predictions":[{{"model_version":"diacut {}","result":[)",
      json_text("/data/local-files/?d=" + link_to(image.name)), kVersion);
  for (std::int64_t label = 1; label <= image.labels->count; ++label) {
    text += label > 1 ? ",\n" : "\n";
    text += label_studio_result(image, label);
  }
  return text + "]}]}";
}

std::string cvat_text(const AnnotatedImage& image) {
  const Outlines& outlines = *image.outlines;
  std::string text =
      fmt::format(R"(  <image id="{}" name="{}" width="{}" height="{}">)", image.number - 1,
                  xml_text(image.name), outlines.width, outlines.height);
  const auto close = [&](const char* element, std::int64_t label) {
    fmt::format_to(std::back_inserter(text), R"(<attribute name="label">{}</attribute></{}>)",
                   figures_of(image, label).label, element);
  };
  for (std::int64_t label = 1; label <= image.labels->count; ++label) {
    const RingCount rings = count_rings(outlines, label);
    if (rings.holes > 0) {
      const RegionFigures& region = image.table->regions[static_cast<std::size_t>(label) - 1];
      fmt::format_to(std::back_inserter(text),
                     "\n    <mask label=\"{}\" source=\"auto\" occluded=\"0\" rle=\"{}\" "
                     "left=\"{}\" top=\"{}\" width=\"{}\" height=\"{}\" z_order=\"0\">",
                     xml_text(class_of(image, label)),
                     fmt::join(run_lengths(region_mask(image, label)), ", "), region.x, region.y,
                     region.width, region.height);
      close("mask", label);
      continue;
    }
    for (const Ring& ring : outlines.of(label)) {
      text += fmt::format("\n    <polygon label=\"{}\" source=\"auto\" occluded=\"0\" points=\"",
                          xml_text(class_of(image, label)));
      for (const Corner& corner : outlines.of(ring)) {
        fmt::format_to(std::back_inserter(text), "{}.0,{}.0;", corner.x, corner.y);
      }
      text.back() = '"';
      if (rings.pieces > 1)
        text += fmt::format(R"( group_id="{}")", figures_of(image, label).label);
      text += " z_order=\"0\">";
      close("polygon", label);
    }
  }
  return text + "\n  </image>\n";
}

}  // namespace diacut
