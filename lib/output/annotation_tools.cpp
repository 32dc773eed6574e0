// The formats of programs in which people draw and correct annotations: LabelMe, Label Studio,
// CVAT.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "diacut/version.hpp"
#include "output/annotation_parts.hpp"
#include "output/page_text.hpp"
#include "output/png.hpp"

namespace diacut {
namespace {

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
  const RegionFigures& region = figures_of(image, label);
  const std::string points = fmt::format("[[{},{}],[{},{}]]", region.x, region.y,
                                         region.x + region.width - 1, region.y + region.height - 1);
  PngExtras extras;
  extras.flat = true;
  const auto png = encode_png(region.width, region.height, 1, region_mask(image, label), extras);
  return labelme_shape(image, label, "null", "mask", points, '"' + base64(png) + '"');
}

/// The mask of a region as Label Studio's brush: red, green, blue and alpha of every pixel of the
/// image, 255 in the region and else 0, as runs of equal bytes in the packing of thi.ng/rle-pack:
/// 32 bits for the number of bytes, 5 for the bits of a value less 1, four times 4 for the bits of
/// a run's length less 1, then for each run 1, the choice of a length in 2 bits, its length less 1,
/// and its value.
std::vector<std::uint8_t> brush(const Labels& labels, const RegionFigures& region,
                                std::int64_t label) {
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
  for (int y = region.y; y < region.y + region.height; ++y) {
    const auto row = labels.values.begin() + std::ptrdiff_t{y} * labels.width + region.x;
    const auto row_end = row + region.width;
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

std::string label_studio_result(const AnnotatedImage& image, std::int64_t label) {
  const Outlines& outlines = *image.outlines;
  const RegionFigures& region = figures_of(image, label);
  const char* const type = outlines.of(label).size() == 1 ? "polygon" : "brush";
  std::string value;
  if (outlines.of(label).size() == 1) {
    for (const Corner& corner : outlines.of(outlines.of(label).front())) {
      value += fmt::format("{}[{},{}]", value.empty() ? R"("points":[)" : ",",
                           100.0 * corner.x / outlines.width, 100.0 * corner.y / outlines.height);
    }
    value += R"(],"closed":true)";
  } else {
    value = fmt::format(R"("format":"rle","rle":[{}])",
                        fmt::join(brush(*image.labels, region, label), ","));
  }
  return fmt::format(
      R"({{"id":"region-{}","from_name":"{}","to_name":"image","type":"{}labels",)"
      R"("original_width":{},"original_height":{},"image_rotation":0,"meta":{{"text":["{}"]}})"
      R"({},"value":{{{},"{}labels":[{}]}}}})",
      region.label, type, type, outlines.width, outlines.height, region.label,
      height_member("score", region), value, type, json_text(class_of(image, label)));
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
      const RegionFigures& region = figures_of(image, label);
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
