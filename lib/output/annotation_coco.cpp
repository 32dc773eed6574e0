#include <fmt/format.h>

#include <iterator>
#include <opencv2/core.hpp>

#include "output/annotation_parts.hpp"

namespace diacut {
namespace {

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

std::string polygons(const Outlines& outlines, std::int64_t label) {
  std::string text = "[";
  for (const Ring& ring : outlines.of(label)) {
    text += text.size() > 1 ? ",[" : "[";
    for (const Corner& corner : outlines.of(ring)) {
      fmt::format_to(std::back_inserter(text), "{},{},", corner.x, corner.y);
    }
    text.back() = ']';
  }
  return text + "]";
}

}  // namespace

AnnotationPart coco_part(const AnnotatedImage& image, bool all_rle) {
  const Labels& labels = *image.labels;
  AnnotationPart part;
  part.image = fmt::format(R"({{"id":{},"width":{},"height":{},"file_name":{}}})", image.number,
                           labels.width, labels.height, json_text(image.name));
  std::vector<bool> as_runs(static_cast<std::size_t>(labels.count) + 1, all_rle);
  for (std::int64_t label = 1; label <= labels.count && !all_rle; ++label) {
    as_runs[static_cast<std::size_t>(label)] = count_rings(*image.outlines, label).holes > 0;
  }
  const auto runs = column_runs(labels, as_runs);
  part.regions.reserve(static_cast<std::size_t>(labels.count));
  for (std::int64_t label = 1; label <= labels.count; ++label) {
    const auto at = static_cast<std::size_t>(label);
    const RegionFigures& region = figures_of(image, label);
    const std::string shape =
        as_runs[at] ? fmt::format(R"({{"size":[{},{}],"counts":{}}})", labels.height, labels.width,
                                  json_text(compressed_counts(runs[at])))
                    : polygons(*image.outlines, label);
    part.regions.push_back(fmt::format(
        R"("image_id":{},"category_id":{},"area":{},"bbox":[{},{},{},{}],"iscrowd":0,)"
        R"("attributes":{{"label":{}{}}},"segmentation":{}}})",
        image.number, class_number(image, label) + 1, region.area, region.x, region.y, region.width,
        region.height, region.label, height_member("merge_height", region), shape));
  }
  return part;
}

}  // namespace diacut
