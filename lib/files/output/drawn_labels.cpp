// Labels of files that hold regions as polygons and masks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "image/geojson_marks.hpp"
#include "image/raster.hpp"
#include "output/annotation_parts.hpp"

namespace diacut {
namespace {

using CocoJson = nlohmann::json;
using VisitPixel = std::function<void(std::size_t pixel)>;

/// The place of the image of that name, or of the only one.
std::size_t image_called(const std::string& name, const std::vector<std::string>& names) {
  const std::filesystem::path path = name;
  for (const bool is_whole : {true, false}) {
    std::vector<std::size_t> found;
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::filesystem::path own = names[k];
      if (is_whole ? own == path : own.filename() == path.filename()) found.push_back(k);
    }
    if (found.size() == 1) return found.front();
    if (found.empty()) continue;
    throw InputError(fmt::format("several of its images are called '{}', as '{}': leave one there",
                                 name, names[found.back()]));
  }
  if (names.size() == 1) return 0;
  throw InputError(fmt::format("it has {} images, and none is called '{}': name one with --image",
                               names.size(), name));
}

/// The number of a region. `text`: as the file has it.
std::int64_t region_number(double number, std::string_view text) {
  if (!(number >= 1 && number < kMostWhole) || number != std::floor(number)) {
    throw InputError(fmt::format("it has a region of the number {}, expected 1 to 2^53 - 1", text));
  }
  return static_cast<std::int64_t>(number);
}

void require_size_of_rle(bool fits) {
  if (!fits) throw InputError("it has RLE of another size than its mask, or outside of its image");
}

/// Visits the places of a mask that are a region's own. `lengths`: of its runs, others' first.
void visit_runs(const std::vector<std::int64_t>& lengths, std::size_t places,
                const VisitPixel& visit) {
  std::size_t at = 0;
  bool is_own = false;
  for (const std::int64_t length : lengths) {
    require_size_of_rle(length >= 0 && static_cast<std::size_t>(length) <= places - at);
    for (const std::size_t end = at + static_cast<std::size_t>(length); at < end; ++at) {
      if (is_own) visit(at);
    }
    is_own = !is_own;
  }
  require_size_of_rle(at == places);
}

/// The labels of an image, in which regions are drawn one after another.
class RegionDrawing {
 public:
  RegionDrawing(int width, int height, std::int64_t max_pixels) : width_(width), height_(height) {
    check_size(width, height, max_pixels);
    values_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  }

  void mark(std::size_t pixel, std::int64_t number) {
    std::int64_t& value = values_[pixel];
    if (value != 0 && value != number) ++shared_;
    value = number;
  }

  /// `numbers`: x and y of the corners of a polygon.
  void fill(const std::vector<double>& numbers, std::int64_t number) {
    std::vector<cv::Point2d> ring;
    for (std::size_t k = 1; k < numbers.size(); k += 2) {
      ring.emplace_back(numbers[k - 1], numbers[k]);
    }
    const auto is_far = [](const cv::Point2d& at) { return !(std::hypot(at.x, at.y) <= 1e9); };
    if (numbers.size() % 2 != 0 || ring.size() < 3 ||
        std::any_of(ring.begin(), ring.end(), is_far)) {
      throw InputError(
          "it has a polygon of fewer than three points, of an odd count of numbers, or far outside "
          "of its image");
    }
    ring.push_back(ring.front());
    const auto visit = [&](std::size_t pixel) { mark(pixel, number); };
    if (!fill_area({ring}, width_, height_, visit)) skip();
  }

  void skip() { ++skipped_; }

  LabelImage labels() const {
    LabelImage labels = numbered(width_, height_, values_);
    const auto note = [&](std::int64_t count, const char* text) {
      if (count > 0) labels.notes.push_back(fmt::format(fmt::runtime(text), count));
    };
    note(shared_, "Its regions overlap in {} pixels, which belong to the last.");
    note(skipped_, "{} of its shapes hold no pixel's centre, or are neither polygons nor masks.");
    return labels;
  }

 private:
  int width_;
  int height_;
  std::vector<std::int64_t> values_;
  std::int64_t shared_ = 0;
  std::int64_t skipped_ = 0;
};

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

/// Throws InputError where an id is there already. `of`: what it is the id of.
void insert_id(const CocoJson& item, const char* of, std::set<CocoJson>& ids) {
  const CocoJson& id = item.at("id");
  if (ids.insert(id).second) return;
  throw InputError(
      fmt::format("several of its {} have the id {}: give each its own", of, id.dump()));
}

LabelImage labels_of_coco(const CocoJson& json, const std::string& name, std::int64_t max_pixels) {
  std::vector<std::string> names;
  std::set<CocoJson> ids;
  for (const CocoJson& each : json.at("images")) {
    names.push_back(each.at("file_name"));
    insert_id(each, "images", ids);
  }
  ids.clear();
  const CocoJson& image = json.at("images").at(image_called(name, names));
  const int width = image.at("width").get<int>();
  const int height = image.at("height").get<int>();
  std::map<std::int64_t, bool> known;  // And whether they are labels, which may have parts.
  RegionDrawing drawing(width, height, max_pixels);
  const auto rows = static_cast<std::size_t>(height);
  const auto columns = static_cast<std::size_t>(width);
  for (const CocoJson& each : json.at("annotations")) {
    if (each.at("image_id") != image.at("id")) continue;
    const CocoJson label = each.value(CocoJson::json_pointer("/attributes/label"), CocoJson());
    const CocoJson& own = label.is_number() ? label : each.at("id");
    const std::int64_t number =
        region_number(own.is_number_integer() ? own.get<double>() : 0, own.dump());
    insert_id(each, "annotations", ids);
    if (known.emplace(number, label.is_number()).first->second != label.is_number()) {
      throw InputError(fmt::format(
          "{} is the label of one of its annotations and the id of another, which has no label: "
          "give that a label",
          number));
    }
    const CocoJson& shape = each.at("segmentation");
    if (shape.is_object()) {  // In column order.
      require_size_of_rle(shape.at("size") == CocoJson({height, width}));
      visit_runs(counts_of(shape.at("counts")), rows * columns,
                 [&](std::size_t at) { drawing.mark(at % rows * columns + at / rows, number); });
    } else if (shape.is_array() && !shape.empty()) {
      for (const CocoJson& numbers : shape) {
        drawing.fill(numbers.get<std::vector<double>>(), number);
      }
    } else {
      throw InputError(fmt::format("its region {} has no polygon and no RLE", number));
    }
  }
  return drawing.labels();
}

/// The numbers of a list, after blanks.
template <class Number>
std::vector<Number> numbers_in(std::string_view list) {
  std::vector<Number> numbers;
  for (std::string_view part : split_text(list, ',')) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    const std::optional<Number> number = number_in<Number>(part);
    if (!number) throw InputError(fmt::format("it has '{:.40}', expected a number", part));
    numbers.push_back(*number);
  }
  return numbers;
}

/// The number of a shape; 0: it has none.
std::int64_t cvat_number(const pugi::xml_node& shape) {
  const std::string_view text =
      shape.find_child_by_attribute("attribute", "name", "label").child_value();
  const std::optional<double> number = number_in<double>(text);
  return number ? region_number(*number, text) : 0;
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

LabelImage cvat_labels(Bytes file, const std::string& name, std::int64_t max_pixels) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(file.data(), file.size());
  std::vector<std::string> names;
  std::vector<pugi::xml_node> images;
  for (const pugi::xml_node& each : document.child("annotations").children("image")) {
    names.emplace_back(each.attribute("name").value());
    images.push_back(each);
  }
  if (!parsed || images.empty()) {
    throw InputError(
        fmt::format("it is no XML of CVAT for images, with <annotations> of <image> ({})",
                    parsed ? "it has none" : parsed.description()));
  }
  const pugi::xml_node& image = images[image_called(name, names)];
  const int width = image.attribute("width").as_int();
  const int height = image.attribute("height").as_int();
  RegionDrawing drawing(width, height, max_pixels);
  std::int64_t last = 0;
  for (const pugi::xml_node& each : image.children()) last = std::max(last, cvat_number(each));
  for (const pugi::xml_node& each : image.children()) {
    const std::string_view kind = each.name();
    const auto value = [&](const char* attribute) { return each.attribute(attribute).value(); };
    if (kind != "polygon" && kind != "mask") {
      if (!kind.empty()) drawing.skip();
      continue;
    }
    std::int64_t number = cvat_number(each);
    if (number == 0) number = ++last;
    if (kind == "polygon") {
      std::string points = value("points");
      std::replace(points.begin(), points.end(), ';', ',');
      drawing.fill(numbers_in<double>(points), number);
      continue;
    }
    const std::vector<std::int64_t> box = numbers_in<std::int64_t>(
        fmt::format("{},{},{},{}", value("left"), value("top"), value("width"), value("height")));
    require_size_of_rle(box.size() == 4 && box[0] >= 0 && box[1] >= 0 && box[2] > 0 && box[3] > 0 &&
                        box[2] <= width - box[0] && box[3] <= height - box[1]);
    const auto columns = static_cast<std::size_t>(box[2]);
    const auto corner = static_cast<std::size_t>(box[1] * width + box[0]);
    visit_runs(numbers_in<std::int64_t>(value("rle")), columns * static_cast<std::size_t>(box[3]),
               [&](std::size_t at) {
                 const std::size_t row = at / columns * static_cast<std::size_t>(width);
                 drawing.mark(corner + row + at % columns, number);
               });
  }
  return drawing.labels();
}

}  // namespace diacut
