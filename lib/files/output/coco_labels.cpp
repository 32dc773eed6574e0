#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <utility>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "image/geojson_marks.hpp"
#include "image/raster.hpp"
#include "output/annotation_parts.hpp"

namespace diacut {
namespace {

using CocoJson = nlohmann::json;
using VisitPixel = std::function<void(std::size_t pixel)>;

/// The image of that name, or the only one.
const CocoJson& image_in(const CocoJson& images, const std::string& name) {
  const std::filesystem::path path = name;
  for (const bool is_whole : {true, false}) {
    for (const CocoJson& image : images) {
      const std::filesystem::path own = image.at("file_name").get<std::string>();
      if (is_whole ? own == path : own.filename() == path.filename()) return image;
    }
  }
  if (images.size() == 1) return images[0];
  throw InputError(fmt::format("it has {} images, and none is called '{}': name one with --image",
                               images.size(), name));
}

/// The run lengths of a mask: numbers, or the text of compressed_counts().
std::vector<std::int64_t> counts_of(const CocoJson& counts) {
  if (counts.is_array()) return counts.get<std::vector<std::int64_t>>();
  std::vector<std::int64_t> lengths;
  std::int64_t length = 0;
  int bits = 0;
  for (const char each : counts.get<std::string>()) {
    const int group = each - '0';
    if (group < 0 || group > 63 || bits > 30) throw InputError("its RLE is damaged");
    length |= std::int64_t{group & 31} << bits;
    bits += 5;
    if ((group & 32) != 0) continue;
    if ((group & 16) != 0) length -= std::int64_t{1} << bits;
    if (lengths.size() > 2) length += lengths[lengths.size() - 2];
    lengths.push_back(std::exchange(length, 0));
    bits = 0;
  }
  return lengths;
}

/// Visits the pixels of a mask, which is in column order.
void visit_runs(const CocoJson& mask, int width, int height, const VisitPixel& visit) {
  const auto rows = static_cast<std::size_t>(height);
  const auto columns = static_cast<std::size_t>(width);
  std::size_t at = 0;
  bool is_own = false;
  bool fits = mask.at("size") == CocoJson({height, width});
  for (const std::int64_t length : counts_of(mask.at("counts"))) {
    fits = fits && length >= 0 && static_cast<std::size_t>(length) <= rows * columns - at;
    if (!fits) break;
    for (const std::size_t end = at + static_cast<std::size_t>(length); at < end; ++at) {
      if (is_own) visit(at % rows * columns + at / rows);
    }
    is_own = !is_own;
  }
  if (!fits || at != rows * columns) throw InputError("it has RLE of another size than its image");
}

std::vector<cv::Point2d> ring_of(const CocoJson& numbers) {
  std::vector<cv::Point2d> ring;
  for (std::size_t k = 0; k + 1 < numbers.size(); k += 2) {
    ring.emplace_back(numbers.at(k).get<double>(), numbers.at(k + 1).get<double>());
  }
  const auto is_far = [](const cv::Point2d& at) { return std::hypot(at.x, at.y) > 1e9; };
  if (ring.size() < 3 || std::any_of(ring.begin(), ring.end(), is_far)) {
    throw InputError(
        "it has a polygon of fewer than three points, or one far outside of its image");
  }
  ring.push_back(ring.front());
  return ring;
}

LabelImage labels_of_coco(const CocoJson& json, const std::string& name, std::int64_t max_pixels) {
  const CocoJson& image = image_in(json.at("images"), name);
  const int width = image.at("width").get<int>();
  const int height = image.at("height").get<int>();
  check_size(width, height, max_pixels);
  std::vector<std::int64_t> values(static_cast<std::size_t>(width) *
                                   static_cast<std::size_t>(height));
  std::int64_t shared = 0;
  std::int64_t unseen = 0;
  for (const CocoJson& each : json.at("annotations")) {
    if (each.at("image_id") != image.at("id")) continue;
    const CocoJson label = each.value(CocoJson::json_pointer("/attributes/label"), CocoJson());
    const CocoJson& own = label.is_number() ? label : each.at("id");
    const double number_read = own.is_number_integer() ? own.get<double>() : 0;
    if (number_read < 1 || number_read >= kMostWhole) {
      throw InputError(
          fmt::format("it has a region of the number {}, expected 1 to 2^53 - 1", own.dump()));
    }
    const auto number = static_cast<std::int64_t>(number_read);
    const auto visit = [&](std::size_t pixel) {
      std::int64_t& value = values[pixel];
      if (value != 0 && value != number) ++shared;
      value = number;
    };
    const CocoJson& shape = each.at("segmentation");
    if (shape.is_object()) {
      visit_runs(shape, width, height, visit);
    } else if (shape.is_array() && !shape.empty()) {
      for (const CocoJson& ring : shape) {
        if (!fill_area({ring_of(ring)}, width, height, visit)) ++unseen;
      }
    } else {
      throw InputError(fmt::format("its region {} has no polygon and no RLE", number));
    }
  }
  LabelImage labels = numbered(width, height, values);
  if (shared > 0) {
    labels.notes.push_back(
        fmt::format("Its regions overlap in {} pixels, which belong to the last.", shared));
  }
  if (unseen > 0) {
    labels.notes.push_back(
        fmt::format("{} of its polygons hold no pixel's centre, and are left out.", unseen));
  }
  return labels;
}

}  // namespace

LabelImage coco_labels(Bytes file, const std::string& name, std::int64_t max_pixels) {
  try {
    return labels_of_coco(CocoJson::parse(file.begin(), file.end()), name, max_pixels);
  } catch (const CocoJson::exception& error) {
    throw InputError(fmt::format(
        "it is no COCO JSON with images, and annotations that have polygons or RLE ({})",
        error.what()));
  }
}

}  // namespace diacut
