#include "diacut/annotations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "diacut/version.hpp"
#include "output/annotation_parts.hpp"
#include "output/atomic_file.hpp"

namespace diacut {
namespace {

/// The text of an annotation file before, between and after the parts of its images.
struct Frame {
  std::string head, between, tail;
};

/// COCO keeps images and regions in two lists; the other formats keep regions in their images.
bool is_coco(AnnotationFormat format) {
  return format == AnnotationFormat::kCoco || format == AnnotationFormat::kCocoRle;
}

Frame frame(AnnotationFormat format) {
  switch (format) {
    case AnnotationFormat::kCoco:
    case AnnotationFormat::kCocoRle:
      return {fmt::format(R"({{"info":{{"description":"Regions by diacut","version":"{}"}},)"
                          R"("licenses":[],"categories":[{{"id":1,"name":"region",)"
                          R"("supercategory":""}}],"annotations":[)",
                          kVersion),
              ",\n", "]}\n"};
    case AnnotationFormat::kLabelStudio:
      return {"[", ",\n", "]\n"};
    case AnnotationFormat::kCvat:
      return {
          "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<annotations>\n"
          "  <version>1.1</version>\n  <meta><task><labels><label><name>region</name>"
          "<attributes><attribute><name>label</name><mutable>False</mutable>"
          "<input_type>text</input_type><default_value></default_value><values></values>"
          "</attribute></attributes></label></labels></task></meta>\n",
          "", "</annotations>\n"};
    case AnnotationFormat::kLabelMe:
    case AnnotationFormat::kYolo:
    case AnnotationFormat::kSvg:
    case AnnotationFormat::kGeoJson:
      break;
  }
  return {};
}

}  // namespace

RingCount count_rings(const Outlines& outlines, std::int64_t label) {
  RingCount count;
  for (const Ring& ring : outlines.of(label)) ++(ring.hole ? count.holes : count.pieces);
  return count;
}

bool is_height(float height) { return std::isfinite(height) && height >= 0; }

bool holds_several_images(AnnotationFormat format) { return !frame(format).head.empty(); }

AnnotationPart annotate(const AnnotatedImage& image, AnnotationFormat format) {
  switch (format) {
    case AnnotationFormat::kCoco:
      return coco_part(image, false);
    case AnnotationFormat::kCocoRle:
      return coco_part(image, true);
    case AnnotationFormat::kLabelMe:
      return {labelme_text(image), {}};
    case AnnotationFormat::kYolo:
      return {yolo_text(image), {}};
    case AnnotationFormat::kLabelStudio:
      return {label_studio_text(image), {}};
    case AnnotationFormat::kCvat:
      return {cvat_text(image), {}};
    case AnnotationFormat::kSvg:
      return {svg_text(image), {}};
    case AnnotationFormat::kGeoJson:
      return {geojson_text(image), {}};
  }
  return {};
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
  const auto note = [&](std::int64_t count, const char* text) {
    std::vector<std::string> notes;
    if (count > 0) notes.push_back(fmt::format("{} of {} regions {}", count, regions, text));
    return notes;
  };
  switch (format) {
    case AnnotationFormat::kCoco:
      return note(with_holes, "have holes, which COCO's polygons cannot: they are written as RLE");
    case AnnotationFormat::kLabelMe:
      return note(with_holes,
                  "have holes, which LabelMe's polygons cannot: they are written as masks, which "
                  "LabelMe 5.3 and later read");
    case AnnotationFormat::kYolo:
      return note(several,
                  "have holes or several pieces, and YOLO holds one ring a region: lines of no "
                  "width join these to the outline");
    case AnnotationFormat::kLabelStudio:
      return note(several,
                  "have holes or several pieces, which Label Studio's polygons cannot: they are "
                  "written as brushes");
    case AnnotationFormat::kCvat:
      return note(with_holes,
                  "have holes, which CVAT's polygons cannot: they are written as masks");
    case AnnotationFormat::kCocoRle:
    case AnnotationFormat::kSvg:
    case AnnotationFormat::kGeoJson:
      break;
  }
  return {};
}

struct AnnotationFile::State {
  State(const std::string& path, AnnotationFormat wanted)
      : file(path), format(wanted), parts(frame(wanted)) {
    write(parts.head);
  }
  void write(const std::string& text) { file.write(text.data(), text.size()); }
  void separate(bool& after_another) {
    if (std::exchange(after_another, true)) write(parts.between);
  }

  AtomicFile file;
  AnnotationFormat format;
  Frame parts;
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
  state.write(state.parts.tail);
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
