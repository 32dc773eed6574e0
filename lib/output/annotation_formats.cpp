// The formats, each as its part of an image.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <opencv2/core.hpp>

#include "diacut/version.hpp"
#include "output/annotation_parts.hpp"
#include "output/page_text.hpp"
#include "output/png.hpp"

namespace diacut {
namespace {

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

/// The run lengths of each region's mask, column after column, for regions that are wanted. Element
/// 0 is not used.
std::vector<std::vector<std::uint32_t>> column_runs(const Labels& labels,
                                                    const std::vector<bool>& wanted) {
  const cv::Mat rows(labels.height, labels.width, CV_32S,
                     const_cast<std::int32_t*>(labels.values.data()));
  cv::Mat columns;
  cv::transpose(rows, columns);
  const auto pixels = static_cast<std::uint32_t>(labels.values.size());
  const std::int32_t* label = columns.ptr<std::int32_t>();
  std::vector<std::vector<std::uint32_t>> runs(wanted.size());
  std::vector<std::uint32_t> ends(wanted.size(), 0);
  for (std::uint32_t begin = 0; begin < pixels;) {
    const auto region = static_cast<std::size_t>(label[begin]);
    std::uint32_t end = begin + 1;
    while (end < pixels && label[end] == label[begin]) ++end;
    if (region != 0 && wanted[region]) {
      runs[region].push_back(begin - ends[region]);
      runs[region].push_back(end - begin);
      ends[region] = end;
    }
    begin = end;
  }
  for (std::size_t region = 1; region < wanted.size(); ++region) {
    if (wanted[region] && ends[region] < pixels) runs[region].push_back(pixels - ends[region]);
  }
  return runs;
}

/// The pixels of a region in its bounding box, row by row: 1 in the region, else 0.
std::vector<std::uint8_t> region_mask(const Labels& labels, const AnnotatedRegion& region) {
  const RegionFigures& box = region.figures;
  std::vector<std::uint8_t> mask;
  mask.reserve(static_cast<std::size_t>(box.width) * static_cast<std::size_t>(box.height));
  for (int y = box.y; y < box.y + box.height; ++y) {
    const auto row = labels.values.begin() + std::ptrdiff_t{y} * labels.width + box.x;
    std::transform(row, row + box.width, std::back_inserter(mask),
                   [&](std::int32_t label) { return std::uint8_t{label == region.number}; });
  }
  return mask;
}

/// The run lengths of a binary sequence: zeros first (0 if there are none), then ones, and so on.
std::vector<std::uint32_t> run_lengths(const std::vector<std::uint8_t>& bits) {
  std::vector<std::uint32_t> counts(1, 0);
  std::uint8_t value = 0;
  for (const std::uint8_t bit : bits) {
    if (bit != value) {
      counts.push_back(0);
      value = bit;
    }
    ++counts.back();
  }
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
  const RegionFigures& box = region.figures;
  const std::string points =
      fmt::format("[{},{}],[{},{}]", box.x, box.y, box.x + box.width - 1, box.y + box.height - 1);
  const auto png =
      encode_png(box.width, box.height, 1, region_mask(labels, region), {.flat = true});
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

AnnotationPart coco_part(const AnnotatedImage& image, bool all_rle) {
  const Labels& labels = *image.labels;
  const std::vector<AnnotatedRegion> regions = regions_of(image);
  AnnotationPart part;
  part.image = fmt::format(R"({{"id":{},"width":{},"height":{},"file_name":{}}})", image.number,
                           labels.width, labels.height, json_text(image.name));
  std::vector<bool> as_runs = {false};
  for (const AnnotatedRegion& each : regions) as_runs.push_back(all_rle || each.count.holes > 0);
  const auto runs = column_runs(labels, as_runs);
  for (const AnnotatedRegion& each : regions) {
    const auto at = static_cast<std::size_t>(each.number);
    std::string shape;
    if (as_runs[at]) {
      shape = fmt::format(R"({{"size":[{},{}],"counts":{}}})", labels.height, labels.width,
                          json_text(compressed_counts(runs[at])));
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

std::string yolo_text(const AnnotatedImage& image) {
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
  return text;
}

std::string svg_text(const AnnotatedImage& image) {
  const Outlines& outlines = *image.outlines;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n"
      "<g fill=\"none\" fill-rule=\"evenodd\" stroke=\"#e6b400\" stroke-width=\"1\">\n",
      outlines.width, outlines.height, xml_text(image.name));
  for (const AnnotatedRegion& each : regions_of(image)) {
    fmt::format_to(std::back_inserter(text), "<path id=\"region-{}\" class=\"{}\" d=\"",
                   each.figures.label, xml_text(each.class_name));
    for (const Ring& ring : each.rings) {
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
  for (const AnnotatedRegion& each : regions_of(image)) {
    const RegionFigures& figures = each.figures;
    add_line(
        fmt::format(
            R"({{"type":"Feature","id":{0},"properties":{{"label":{0},"class":{1},"area":{2}{3}}},"geometry":{4}}})",
            figures.label, json_text(each.class_name), figures.area,
            height_member("merge_height", figures), geometry(*image.outlines, each)),
        text);
  }
  return text + "]}\n";
}

std::string labelme_text(const AnnotatedImage& image) {
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
  return text + fmt::format(
                    "],\n\"imagePath\":{},\"imageData\":null,\"imageHeight\":{},"
                    "\"imageWidth\":{}}}\n",
                    json_text(image.name), image.labels->height, image.labels->width);
}

std::string label_studio_text(const AnnotatedImage& image) {
  std::string text = fmt::format(
      R"({{"data":{{"image":{}}},"predictions":[{{"model_version":"diacut {}","result":[)",
      json_text("/data/local-files/?d=" + link_to(image.name)), kVersion);
  for (const AnnotatedRegion& each : regions_of(image)) {
    add_line(label_studio_result(image, each), text);
  }
  return text + "]}]}";
}

std::string cvat_text(const AnnotatedImage& image) {
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
      const RegionFigures& box = each.figures;
      begin("mask", each);
      fmt::format_to(std::back_inserter(text),
                     R"( rle="{}" left="{}" top="{}" width="{}" height="{}")",
                     fmt::join(run_lengths(region_mask(*image.labels, each)), ", "), box.x, box.y,
                     box.width, box.height);
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
  return text + "\n  </image>\n";
}

}  // namespace diacut
