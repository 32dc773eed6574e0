// The formats, each as its part of an image.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <opencv2/core.hpp>
#include <span>

#include "diacut/version.hpp"
#include "output/annotation_parts.hpp"
#include "output/markup.hpp"
#include "output/png.hpp"

namespace diacut {
namespace {

/// A region of an image.
struct AnnotatedRegion {
  std::int32_t number;  ///< In the image's labels.
  const RegionFigures& figures;
  std::span<const Ring> rings;
  RingCount count;
  std::size_t class_number;
  const std::string& class_name;
};

std::vector<AnnotatedRegion> regions_of(const AnnotatedImage& image) {
  static const RegionClasses none;
  const RegionClasses& classes = image.classes == nullptr ? none : *image.classes;
  std::vector<AnnotatedRegion> regions;
  for (std::int64_t number = 1; number <= image.labels->count; ++number) {
    const RegionFigures& figures = image.table->regions[static_cast<std::size_t>(number) - 1];
    const std::size_t of_class = classes.of(figures.label);
    regions.push_back({static_cast<std::int32_t>(number), figures, image.outlines->of(number),
                       count_rings(*image.outlines, number), of_class, classes.names[of_class]});
  }
  return regions;
}

/// `,"NAME":HEIGHT` of the merge height of a region; empty where height_text() is.
std::string height_member(const char* name, const RegionFigures& region) {
  const std::string height = height_text(region.merge_height);
  return height.empty() ? height : fmt::format(R"(,"{}":{})", name, height);
}

/// The corners of a ring, each in this form.
std::string corners_text(std::span<const Corner> ring,
                         fmt::format_string<const std::int32_t&, const std::int32_t&> form,
                         char between = ',') {
  std::string text;
  for (const Corner& corner : ring) {
    if (!text.empty()) text += between;
    fmt::format_to(std::back_inserter(text), form, corner.x, corner.y);
  }
  return text;
}

/// Adds a line to a text that ends in a list of JSON.
void add_line(const std::string& item, std::string& text) {
  text += text.back() == '[' ? "\n" : ",\n";
  text += item;
}

/// Labels as a matrix, which is only read.
cv::Mat1i matrix_of(const Labels& labels) {
  return {labels.height, labels.width, const_cast<std::int32_t*>(labels.values.data())};
}

cv::Rect box_of(const AnnotatedRegion& region) {
  return {region.figures.x, region.figures.y, region.figures.width, region.figures.height};
}

/// The run lengths of the mask of a region that lies in a box, row after row: pixels of others
/// first (0 if there are none), then its own, and so on.
std::vector<std::uint32_t> run_lengths(const cv::Mat1i& labels, const cv::Rect& box,
                                       std::int32_t number) {
  std::vector<std::uint32_t> counts = {0};
  const auto add = [&](bool is_own, std::int64_t pixels) {
    if (pixels > 0 && is_own == (counts.size() % 2 == 1)) counts.push_back(0);
    counts.back() += static_cast<std::uint32_t>(pixels);
  };
  const cv::Point end = box.br();
  add(false, std::int64_t{box.y} * labels.cols);
  for (int y = box.y; y < end.y; ++y) {
    add(false, box.x);
    for (int x = box.x; x < end.x; ++x) add(labels(y, x) == number, 1);
    add(false, labels.cols - end.x);
  }
  add(false, std::int64_t{labels.rows - end.y} * labels.cols);
  return counts;
}

std::int64_t distance(const Corner& a, const Corner& b) {
  const std::int64_t x = a.x - b.x;
  const std::int64_t y = a.y - b.y;
  return x * x + y * y;
}

/// All rings of a region as one: from its first ring a line of no width leads to each other ring
/// and back, which the even-odd rule does not see. A line starts at the corner that is nearest to
/// the other ring's first corner.
std::vector<Corner> joined_ring(const Outlines& outlines, std::span<const Ring> rings) {
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

std::string geometry(const Outlines& outlines, const AnnotatedRegion& region) {
  std::string text;
  for (const Ring& ring : region.rings) {
    if (!text.empty()) text += ring.hole ? "," : "],[";
    // The first position is repeated at the end.
    const std::span<const Corner> corners = outlines.of(ring);
    text += fmt::format("[{},{}]", corners_text(corners, "[{},{}]"),
                        corners_text(corners.first(1), "[{},{}]"));
  }
  return region.count.pieces == 1
             ? fmt::format(R"({{"type":"Polygon","coordinates":[{}]}})", text)
             : fmt::format(R"({{"type":"MultiPolygon","coordinates":[[{}]]}})", text);
}

std::string labelme_shape(const AnnotatedRegion& region, const std::string& group, const char* type,
                          const std::string& points, const std::string& mask) {
  return fmt::format(R"({{"label":{},"points":[{}],"group_id":{},"description":"region {}",)"
                     R"("shape_type":"{}","flags":{{}},"mask":{}}})",
                     json_text(region.class_name), points, group, region.figures.label, type, mask);
}

/// A mask as LabelMe has it: the first and last pixel of the bounding box, and a PNG of it.
std::string labelme_mask(const Labels& labels, const AnnotatedRegion& region) {
  const cv::Rect box = box_of(region);
  const std::string points =
      fmt::format("[{},{}],[{},{}]", box.x, box.y, box.br().x - 1, box.br().y - 1);
  const cv::Mat1b own((matrix_of(labels)(box) == region.number) / 255);
  const auto png = encode_png(box.width, box.height, 1, {own.begin(), own.end()}, {.flat = true});
  return labelme_shape(region, "null", "mask", points, '"' + base64(png) + '"');
}

/// The mask of a region as Label Studio's brush: red, green, blue and alpha of every pixel of the
/// image, 255 in the region and else 0, as runs of equal bytes in the packing of thi.ng/rle-pack:
/// 32 bits for the number of bytes, 5 for the bits of a value less 1, four times 4 for the bits of
/// a run's length less 1, then for each run 1, the choice of a length in 2 bits, its length less 1,
/// and its value.
std::vector<std::uint8_t> brush(const Labels& labels, const AnnotatedRegion& region) {
  const RegionFigures& box = region.figures;
  const std::int32_t label = region.number;
  constexpr std::uint32_t kChannels = 4;
  constexpr std::uint32_t kLongest = 1U << 16;
  std::vector<std::uint8_t> bytes;
  int used = 0;  // Bits of the last byte, the highest first.
  const auto put = [&](std::uint32_t value, int bits) {
    for (int k = bits - 1; k >= 0; --k, used = (used + 1) % 8) {
      if (used == 0) bytes.push_back(0);
      bytes.back() |= static_cast<std::uint8_t>((value >> k & 1) << (7 - used));
    }
  };
  put(static_cast<std::uint32_t>(labels.values.size()) * kChannels, 32);
  put(8 - 1, 5);
  for (const std::uint32_t bits : {4U, 8U, 12U, 16U}) put(bits - 1, 4);
  const auto put_run = [&](std::uint64_t length, std::uint32_t value) {
    while (length > 0) {
      const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kLongest));
      std::uint32_t choice = 0;
      while (part > 1U << (4 * (choice + 1))) ++choice;
      put(1, 1);
      put(choice, 2);
      put(part - 1, static_cast<int>(4 * (choice + 1)));
      put(value, 8);
      length -= part;
    }
  };
  auto done = labels.values.begin();
  for (int y = box.y; y < box.y + box.height; ++y) {
    const auto row = labels.values.begin() + std::ptrdiff_t{y} * labels.width + box.x;
    const auto row_end = row + box.width;
    for (auto begin = std::find(row, row_end, label); begin != row_end;
         begin = std::find(done, row_end, label)) {
      put_run(static_cast<std::uint64_t>(begin - done) * kChannels, 0);
      done = std::find_if(begin, row_end, [&](std::int32_t other) { return other != label; });
      put_run(static_cast<std::uint64_t>(done - begin) * kChannels, 255);
    }
  }
  put_run(static_cast<std::uint64_t>(labels.values.end() - done) * kChannels, 0);
  return bytes;
}

std::string label_studio_result(const AnnotatedImage& image, const AnnotatedRegion& region) {
  const Outlines& outlines = *image.outlines;
  const bool is_polygon = region.rings.size() == 1;
  const char* const type = is_polygon ? "polygon" : "brush";
  std::string value;
  if (is_polygon) {
    for (const Corner& corner : outlines.of(region.rings.front())) {
      value += fmt::format("{}[{},{}]", value.empty() ? R"("points":[)" : ",",
                           100.0 * corner.x / outlines.width, 100.0 * corner.y / outlines.height);
    }
    value += R"(],"closed":true)";
  } else {
    value =
        fmt::format(R"("format":"rle","rle":[{}])", fmt::join(brush(*image.labels, region), ","));
  }
  return fmt::format(
      R"({{"id":"region-{}","from_name":"{}","to_name":"image","type":"{}labels",)"
      R"("original_width":{},"original_height":{},"image_rotation":0,"meta":{{"text":["{}"]}})"
      R"({},"value":{{{},"{}labels":[{}]}}}})",
      region.figures.label, type, type, outlines.width, outlines.height, region.figures.label,
      height_member("score", region.figures), value, type, json_text(region.class_name));
}

AnnotationPart coco(const AnnotatedImage& image, bool all_rle) {
  const Labels& labels = *image.labels;
  const std::vector<AnnotatedRegion> regions = regions_of(image);
  AnnotationPart part;
  part.image = fmt::format(R"({{"id":{},"width":{},"height":{},"file_name":{}}})", image.number,
                           labels.width, labels.height, json_text(image.name));
  cv::Mat1i columns;
  cv::transpose(matrix_of(labels), columns);
  for (const AnnotatedRegion& each : regions) {
    std::string shape;
    if (all_rle || each.count.holes > 0) {
      const cv::Rect box = box_of(each);
      const auto runs = run_lengths(columns, {box.y, box.x, box.height, box.width}, each.number);
      shape = fmt::format(R"({{"size":[{},{}],"counts":{}}})", labels.height, labels.width,
                          json_text(compressed_counts(runs)));
    } else {
      for (const Ring& ring : each.rings) {
        shape += fmt::format("{}[{}]", shape.empty() ? "" : ",",
                             corners_text(image.outlines->of(ring), "{},{}"));
      }
      shape = '[' + shape + ']';
    }
    const RegionFigures& figures = each.figures;
    part.regions.push_back(fmt::format(
        R"("image_id":{},"category_id":{},"area":{},"bbox":[{},{},{},{}],"iscrowd":0,)"
        R"("attributes":{{"label":{}{}}},"segmentation":{}}})",
        image.number, each.class_number + 1, figures.area, figures.x, figures.y, figures.width,
        figures.height, figures.label, height_member("merge_height", figures), shape));
  }
  return part;
}

AnnotationPart coco_part(const AnnotatedImage& image) { return coco(image, false); }
AnnotationPart coco_rle_part(const AnnotatedImage& image) { return coco(image, true); }

AnnotationPart yolo_part(const AnnotatedImage& image) {
  const Outlines& outlines = *image.outlines;
  std::string text;
  for (const AnnotatedRegion& each : regions_of(image)) {
    text += std::to_string(each.class_number);
    for (const Corner& corner : joined_ring(outlines, each.rings)) {
      fmt::format_to(std::back_inserter(text), " {:.8g} {:.8g}",
                     static_cast<double>(corner.x) / outlines.width,
                     static_cast<double>(corner.y) / outlines.height);
    }
    text += '\n';
  }
  return {text, {}};
}

AnnotationPart geojson_part(const AnnotatedImage& image) {
  std::string text =
      fmt::format(R"({{"type":"FeatureCollection","name":{},"features":[)", json_text(image.name));
  for (const AnnotatedRegion& each : regions_of(image)) {
    const RegionFigures& figures = each.figures;
    add_line(
        fmt::format(
            R"({{"type":"Feature","id":{0},"properties":{{"label":{0},"class":{1},"area":{2}{3}}},"geometry":{4}}})",
            figures.label, json_text(each.class_name), figures.area,
            height_member("merge_height", figures), geometry(*image.outlines, each)),
        text);
  }
  return {text + "]}\n", {}};
}

AnnotationPart labelme_part(const AnnotatedImage& image) {
  std::string text = R"({"version":"5.3.0","flags":{},"shapes":[)";
  for (const AnnotatedRegion& each : regions_of(image)) {
    if (each.count.holes > 0) {
      add_line(labelme_mask(*image.labels, each), text);
      continue;
    }
    const std::string group = each.count.pieces > 1 ? std::to_string(each.figures.label) : "null";
    for (const Ring& ring : each.rings) {
      const std::string points = corners_text(image.outlines->of(ring), "[{},{}]");
      add_line(labelme_shape(each, group, "polygon", points, "null"), text);
    }
  }
  return {text + fmt::format("],\n\"imagePath\":{},\"imageData\":null,\"imageHeight\":{},"
                             "\"imageWidth\":{}}}\n",
                             json_text(image.name), image.labels->height, image.labels->width),
          {}};
}

AnnotationPart label_studio_part(const AnnotatedImage& image) {
  std::string text = fmt::format(
      R"({{"data":{{"image":{}}},"predictions":[{{"model_version":"diacut {}","result":[)",
      json_text("/data/local-files/?d=" + link_to(image.name)), kVersion);
  for (const AnnotatedRegion& each : regions_of(image)) {
    add_line(label_studio_result(image, each), text);
  }
  return {text + "]}]}", {}};
}

AnnotationPart cvat_part(const AnnotatedImage& image) {
  const Outlines& outlines = *image.outlines;
  std::string text =
      fmt::format(R"(  <image id="{}" name="{}" width="{}" height="{}">)", image.number - 1,
                  xml_text(image.name), outlines.width, outlines.height);
  const auto begin = [&](const char* element, const AnnotatedRegion& region) {
    fmt::format_to(std::back_inserter(text),
                   "\n    <{} label=\"{}\" source=\"auto\" occluded=\"0\"", element,
                   xml_text(region.class_name));
  };
  const auto close = [&](const char* element, const AnnotatedRegion& region) {
    fmt::format_to(std::back_inserter(text),
                   R"( z_order="0"><attribute name="label">{}</attribute></{}>)",
                   region.figures.label, element);
  };
  for (const AnnotatedRegion& each : regions_of(image)) {
    if (each.count.holes > 0) {
      const cv::Rect box = box_of(each);
      begin("mask", each);
      fmt::format_to(
          std::back_inserter(text), R"( rle="{}" left="{}" top="{}" width="{}" height="{}")",
          fmt::join(run_lengths(matrix_of(*image.labels)(box), {{}, box.size()}, each.number),
                    ", "),
          box.x, box.y, box.width, box.height);
      close("mask", each);
      continue;
    }
    for (const Ring& ring : each.rings) {
      begin("polygon", each);
      text += fmt::format(R"( points="{}")", corners_text(outlines.of(ring), "{}.0,{}.0", ';'));
      if (each.count.pieces > 1) text += fmt::format(R"( group_id="{}")", each.figures.label);
      close("polygon", each);
    }
  }
  return {text + "\n  </image>\n", {}};
}

std::string coco_head(const RegionClasses& classes) {
  std::string categories;
  for (std::size_t k = 0; k < classes.names.size(); ++k) {
    categories += fmt::format(R"({}{{"id":{},"name":{},"supercategory":""}})", k > 0 ? "," : "",
                              k + 1, json_text(classes.names[k]));
  }
  return fmt::format(R"({{"info":{{"description":"Regions by diacut","version":"{}"}},)"
                     R"("licenses":[],"categories":[{}],"annotations":[)",
                     kVersion, categories);
}

std::string cvat_head(const RegionClasses& classes) {
  std::string labels;
  for (const std::string& name : classes.names) {
    labels += fmt::format(
        "<label><name>{}</name><attributes><attribute><name>label</name><mutable>False</mutable>"
        "<input_type>text</input_type><default_value></default_value><values></values>"
        "</attribute></attributes></label>",
        xml_text(name));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<annotations>\n"
      "  <version>1.1</version>\n  <meta><task><labels>{}</labels></task></meta>\n",
      labels);
}

AnnotationPart table_part(const AnnotatedImage& image) {
  AnnotationPart part{region_csv_header(*image.table), region_csv_rows(*image.table)};
  if (const RegionClasses* const classes = image.classes; classes != nullptr) {
    part.image += ",class";
    for (std::size_t k = 0; k < part.regions.size(); ++k) {
      const std::size_t of_class = classes->of(image.table->regions[k].label);
      part.regions[k] += ',' + csv_cell(classes->names[of_class]);
    }
  }
  if (image.page == 0) return part;
  part.image.insert(0, "file,page,");
  const std::string file = fmt::format("{},{},", csv_cell(image.name), image.page);
  for (std::string& row : part.regions) row.insert(0, file);
  return part;
}

}  // namespace

std::string compressed_counts(const std::vector<std::uint32_t>& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::int64_t rest = counts[i];
    if (i > 2) rest -= counts[i - 2];
    for (bool more = true; more;) {
      std::int64_t group = rest & 31;
      rest >>= 5;
      // The highest bit of the last group is the sign.
      more = (group & 16) != 0 ? rest != -1 : rest != 0;
      if (more) group |= 32;
      text += static_cast<char>('0' + group);
    }
  }
  return text;
}

const AnnotationRow& annotation_row(AnnotationFormat format) {
  static const std::array<AnnotationRow, 9> rows = {{
      {AnnotationFormat::kCoco, coco_part, ",\n", "]}\n", coco_head,
       "have holes, which COCO's polygons cannot: they are written as RLE"},
      {AnnotationFormat::kCocoRle, coco_rle_part, ",\n", "]}\n", coco_head},
      {AnnotationFormat::kLabelMe, labelme_part, "", "", nullptr,
       "have holes, which LabelMe's polygons cannot: they are written as masks, which LabelMe 5.3 "
       "and later read"},
      {AnnotationFormat::kYolo, yolo_part, "", "", nullptr,
       "have holes or several pieces, and YOLO holds one ring a region: lines of no width join "
       "these to the outline",
       true},
      {AnnotationFormat::kLabelStudio, label_studio_part, ",\n", "]\n",
       [](const RegionClasses&) { return std::string("["); },
       "have holes or several pieces, which Label Studio's polygons cannot: they are written as "
       "brushes",
       true},
      {AnnotationFormat::kCvat, cvat_part, "", "</annotations>\n", cvat_head,
       "have holes, which CVAT's polygons cannot: they are written as masks"},
      {AnnotationFormat::kSvg, svg_part},
      {AnnotationFormat::kGeoJson, geojson_part},
      {AnnotationFormat::kTable, table_part},
  }};
  return rows[static_cast<std::size_t>(format)];
}

}  // namespace diacut
