#include "diacut/annotations.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "diacut/version.hpp"
#include "output/annotation_parts.hpp"
#include "output/atomic_file.hpp"

namespace diacut {
namespace {

template <std::string (*text)(const AnnotatedImage&)>
AnnotationPart whole(const AnnotatedImage& image) {
  return {text(image), {}};
}

template <bool all_rle>
AnnotationPart coco(const AnnotatedImage& image) {
  return coco_part(image, all_rle);
}

/// What is known of a format.
struct AnnotationRow {
  AnnotationFormat format;
  AnnotationPart (*part)(const AnnotatedImage& image);
  std::string head = {}, between = {}, tail = {};  ///< Before, between and after images.
  /// What is noted of regions with holes, or with holes or in several pieces.
  const char* with_holes = nullptr;
  const char* several = nullptr;
};

/// COCO keeps images and regions in two lists; the other formats keep regions in their images.
bool is_coco(AnnotationFormat format) {
  return format == AnnotationFormat::kCoco || format == AnnotationFormat::kCocoRle;
}

const AnnotationRow& row_of(AnnotationFormat format) {
  static const std::string coco_head =
      fmt::format(R"({{"info":{{"description":"Regions by diacut","version":"{}"}},)"
                  R"("licenses":[],"categories":[{{"id":1,"name":"region",)"
                  R"("supercategory":""}}],"annotations":[)",
                  kVersion);
  static const std::array<AnnotationRow, 8> rows = {{
      {AnnotationFormat::kCoco, coco<false>, coco_head, ",\n", "]}\n",
       "have holes, which COCO's polygons cannot: they are written as RLE"},
      {AnnotationFormat::kCocoRle, coco<true>, coco_head, ",\n", "]}\n"},
      {.format = AnnotationFormat::kLabelMe,
       .part = whole<labelme_text>,
       .with_holes =
           "have holes, which LabelMe's polygons cannot: they are written as masks, which "
           "LabelMe 5.3 and later read"},
      {.format = AnnotationFormat::kYolo,
       .part = whole<yolo_text>,
       .several = "have holes or several pieces, and YOLO holds one ring a region: lines of no "
                  "width join these to the outline"},
      {.format = AnnotationFormat::kLabelStudio,
       .part = whole<label_studio_text>,
       .head = "[",
       .between = ",\n",
       .tail = "]\n",
       .several = "have holes or several pieces, which Label Studio's polygons cannot: they are "
                  "written as brushes"},
      {AnnotationFormat::kCvat, whole<cvat_text>,
       "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<annotations>\n"
       "  <version>1.1</version>\n  <meta><task><labels><label><name>region</name>"
       "<attributes><attribute><name>label</name><mutable>False</mutable>"
       "<input_type>text</input_type><default_value></default_value><values></values>"
       "</attribute></attributes></label></labels></task></meta>\n",
       "", "</annotations>\n",
       "have holes, which CVAT's polygons cannot: they are written as masks"},
      {AnnotationFormat::kSvg, whole<svg_text>},
      {AnnotationFormat::kGeoJson, whole<geojson_text>},
  }};
  return rows[static_cast<std::size_t>(format)];
}

}  // namespace

RingCount count_rings(const Outlines& outlines, std::int64_t label) {
  RingCount count;
  for (const Ring& ring : outlines.of(label)) ++(ring.hole ? count.holes : count.pieces);
  return count;
}

bool is_height(float height) { return std::isfinite(height) && height >= 0; }

bool holds_several_images(AnnotationFormat format) { return !row_of(format).head.empty(); }

AnnotationPart annotate(const AnnotatedImage& image, AnnotationFormat format) {
  return row_of(format).part(image);
}

std::vector<std::string> annotation_notes(const Outlines& outlines, AnnotationFormat format) {
  const auto regions = static_cast<std::int64_t>(outlines.first_ring.size()) - 2;
  std::int64_t with_holes = 0;
  std::int64_t several = 0;
  for (std::int64_t label = 1; label <= regions; ++label) {
    const RingCount rings = count_rings(outlines, label);
    with_holes += rings.holes > 0 ? 1 : 0;
    several += rings.holes > 0 || rings.pieces > 1 ? 1 : 0;
  }
  const AnnotationRow& row = row_of(format);
  std::vector<std::string> notes;
  for (const auto& [count, text] :
       {std::pair(with_holes, row.with_holes), std::pair(several, row.several)}) {
    if (count > 0 && text != nullptr) {
      notes.push_back(fmt::format("{} of {} regions {}", count, regions, text));
    }
  }
  return notes;
}

struct AnnotationFile::State {
  State(const std::string& path, AnnotationFormat wanted)
      : file(path), format(wanted), row(row_of(wanted)) {
    write(row.head);
  }
  void write(const std::string& text) { file.write(text.data(), text.size()); }
  void separate(bool& after_another) {
    if (std::exchange(after_another, true)) write(row.between);
  }

  AtomicFile file;
  AnnotationFormat format;
  const AnnotationRow& row;
  bool begun = false;
  std::int64_t number = 0;          ///< Of the newest annotation of COCO.
  std::vector<std::string> images;  ///< Of COCO, which the file's end holds.
};

AnnotationFile::AnnotationFile(const std::string& path, AnnotationFormat format)
    : state_(std::make_unique<State>(path, format)) {}
AnnotationFile::~AnnotationFile() = default;
AnnotationFile::AnnotationFile(AnnotationFile&&) noexcept = default;

void AnnotationFile::add(const AnnotationPart& part) {
  State& state = *state_;
  if (is_coco(state.format)) {
    for (const std::string& region : part.regions) {
      state.separate(state.begun);
      state.write(fmt::format(R"({{"id":{},{})", ++state.number, region));
    }
    state.images.push_back(part.image);
    return;
  }
  state.separate(state.begun);
  state.write(part.image);
}

void AnnotationFile::commit() {
  State& state = *state_;
  if (is_coco(state.format)) {
    state.write("],\n\"images\":[");
    bool begun = false;
    for (const std::string& image : state.images) {
      state.separate(begun);
      state.write(image);
    }
  }
  state.write(state.row.tail);
  state.file.commit();
}

void write_annotations(const std::string& path, const AnnotatedImage& image,
                       AnnotationFormat format) {
  const AnnotationPart part = annotate(image, format);
  AnnotationFile file(path, format);
  file.add(part);
  file.commit();
}

}  // namespace diacut
