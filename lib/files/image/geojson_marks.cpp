#include "image/geojson_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <string_view>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

using Json = nlohmann::json;
using Mark = std::function<void(std::size_t pixel, std::int32_t label)>;

/// More crossings of a polygon's edges with the rows of a picture are refused: they would take
/// hundreds of megabytes.
constexpr std::int64_t kMostCrossings = std::int64_t{1} << 24;

using Point = cv::Point2d;
using Line = std::vector<Point>;

/// Adds where an edge crosses the middle lines of rows, and returns how many it crosses.
std::int64_t cross(const Point& from, const Point& to,
                   std::vector<std::vector<double>>& crossings) {
  const Point& upper = from.y < to.y ? from : to;
  const Point& lower = from.y < to.y ? to : from;
  const auto rows = static_cast<double>(crossings.size());
  const auto row_at = [&](double y) {
    return static_cast<int>(std::clamp(std::ceil(y - 0.5), 0.0, rows));
  };
  const int first = row_at(upper.y);
  const int end = row_at(lower.y);
  for (int y = first; y < end; ++y) {
    const double share = (y + 0.5 - upper.y) / (lower.y - upper.y);
    crossings[static_cast<std::size_t>(y)].push_back(upper.x + share * (lower.x - upper.x));
  }
  return end - first;
}

bool begins_with(Bytes file, char character) {
  constexpr std::string_view kSpaceAndMark = " \t\r\n\xEF\xBB\xBF";
  const auto first = std::find_if(file.begin(), file.end(), [&](std::uint8_t byte) {
    return kSpaceAndMark.find(static_cast<char>(byte)) == std::string_view::npos;
  });
  return first != file.end() && *first == character;
}

[[noreturn]] void refuse(const std::string& what) { throw InputError("its GeoJSON: " + what); }

const Json& member(const Json& json, const char* name, std::string_view of) {
  if (json.is_object() && json.contains(name)) return json[name];
  refuse(fmt::format("{} has no {}", of, name));
}

/// Draws the features of one file.
class Drawing {
 public:
  Drawing(int width, int height, MarkedBy by, const Mark& mark)
      : width_(width), height_(height), by_(by), mark_(mark) {}

  void draw_file(const Json& json) {
    if (json.is_object() && json.contains("crs") && !json["crs"].is_null()) {
      refuse(
          fmt::format("its coordinates are of a system ({:.80}): expected pixels from the upper "
                      "left corner, without a crs",
                      json["crs"].dump()));
    }
    const std::string type = text(member(json, "type", "the file"));
    if (type == "Feature") return draw_feature(json, "the feature");
    if (type != "FeatureCollection") {
      refuse(fmt::format("its type is '{}', expected FeatureCollection or Feature", type));
    }
    const Json& features = member(json, "features", "the file");
    if (!features.is_array()) refuse("features is no list");
    for (std::size_t k = 0; k < features.size(); ++k) {
      draw_feature(features[k], fmt::format("feature {}", k + 1));
    }
  }

 private:
  static std::string text(const Json& json) {
    return json.is_string() ? json.get<std::string>() : json.dump().substr(0, 40);
  }

  void draw_feature(const Json& feature, const std::string& name) {
    name_ = name;
    const Json& geometry = member(feature, "geometry", name);
    label_ = 1;
    if (by_ == MarkedBy::kLabels) {
      const Json& properties = member(feature, "properties", name);
      const Json& label = member(properties, "label", name + " in its properties");
      const double number = label.is_number() ? label.get<double>() : 0;
      if (number < 1 || number > kMostSeedLabel || number != std::floor(number)) {
        refuse(fmt::format("{} has the label {}{}, expected a whole number from 1 to {}", name,
                           label.dump().substr(0, 40), label.is_string() ? ", which is text" : "",
                           kMostSeedLabel));
      }
      label_ = static_cast<std::int32_t>(number);
    }
    draw_geometry(text(member(geometry, "type", name + " in its geometry")),
                  member(geometry, "coordinates", name + " in its geometry"));
  }

  void draw_geometry(const std::string& type, const Json& coordinates) {
    if (type == "Point") {
      draw_point(point(coordinates));
    } else if (type == "LineString") {
      draw_line(line(coordinates));
    } else if (type == "Polygon") {
      draw_area(coordinates);
    } else if (type == "MultiPoint" || type == "MultiLineString" || type == "MultiPolygon") {
      for (const Json& each : list(coordinates)) draw_geometry(type.substr(5), each);
    } else {
      refuse(fmt::format("{} is a {}, expected Point, LineString, Polygon or several of one kind",
                         name_, type));
    }
  }

  const Json& list(const Json& json) const {
    if (!json.is_array() || json.empty()) {
      refuse(fmt::format("{} has coordinates that are no list, or an empty one", name_));
    }
    return json;
  }

  Point point(const Json& json) const {
    if (!json.is_array() || json.size() < 2 || !json[0].is_number() || !json[1].is_number()) {
      refuse(fmt::format("{} has a point that is not two numbers", name_));
    }
    const Point at{json[0].get<double>(), json[1].get<double>()};
    if (at.x >= 0 && at.x <= width_ && at.y >= 0 && at.y <= height_) return at;
    refuse(
        fmt::format("{} has a point at ({}, {}), outside of the picture of {}x{}: coordinates "
                    "are pixels from the upper left corner",
                    name_, at.x, at.y, width_, height_));
  }

  Line line(const Json& json) const {
    Line points;
    for (const Json& each : list(json)) points.push_back(point(each));
    return points;
  }

  void mark(int x, int y) {
    mark_(static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
              static_cast<std::size_t>(x),
          label_);
  }

  int column(const Point& at) const { return std::min(static_cast<int>(at.x), width_ - 1); }
  int row(const Point& at) const { return std::min(static_cast<int>(at.y), height_ - 1); }

  void draw_point(const Point& at) { mark(column(at), row(at)); }

  void draw_line(const Line& points) {
    draw_point(points.front());
    for (std::size_t k = 1; k < points.size(); ++k) draw_step(points[k - 1], points[k]);
  }

  /// A path of pixels from that of `from`, which is left out, to that of `to`.
  void draw_step(const Point& from, const Point& to) {
    cv::LineIterator path({column(from), row(from)}, {column(to), row(to)});
    for (int k = 1; k < path.count; ++k) {
      ++path;
      mark(path.pos().x, path.pos().y);
    }
  }

  void draw_area(const Json& coordinates) {
    std::vector<Line> rings;
    for (const Json& each : list(coordinates)) {
      rings.push_back(line(each));
      rings.back().push_back(rings.back().front());
    }
    const auto visit = [&](std::size_t pixel) { mark_(pixel, label_); };
    if (by_ == MarkedBy::kLabels && fill_area(rings, width_, height_, visit)) return;
    for (const Line& ring : rings) draw_line(ring);
  }

  int width_;
  int height_;
  MarkedBy by_;
  const Mark& mark_;
  std::string name_;
  std::int32_t label_ = 1;
};

}  // namespace

bool fill_area(const std::vector<std::vector<cv::Point2d>>& rings, int width, int height,
               const std::function<void(std::size_t)>& visit) {
  std::vector<std::vector<double>> crossings(static_cast<std::size_t>(height));
  std::int64_t count = 0;
  for (const Line& ring : rings) {
    for (std::size_t k = 1; k < ring.size(); ++k) count += cross(ring[k - 1], ring[k], crossings);
    if (count > kMostCrossings) {
      throw InputError("it has an area of more edges than can be drawn: simplify it");
    }
  }
  bool any = false;
  const auto column_at = [&](double x) {
    return static_cast<std::size_t>(std::clamp<double>(std::ceil(x - 0.5), 0, width));
  };
  for (std::size_t y = 0; y < crossings.size(); ++y) {
    std::vector<double>& at = crossings[y];
    std::sort(at.begin(), at.end());
    for (std::size_t k = 0; k + 1 < at.size(); k += 2) {
      const std::size_t end = column_at(at[k + 1]);
      for (std::size_t x = column_at(at[k]); x < end; ++x) {
        visit(y * static_cast<std::size_t>(width) + x);
        any = true;
      }
    }
  }
  return any;
}

bool begins_as_json(Bytes file) { return begins_with(file, '{'); }
bool begins_as_xml(Bytes file) { return begins_with(file, '<'); }

void draw_geojson(Bytes file, int width, int height, MarkedBy by, const Mark& mark) {
  Json json;
  try {
    json = Json::parse(file.begin(), file.end());
  } catch (const Json::exception& error) {
    refuse(fmt::format("it cannot be read ({})", error.what()));
  }
  Drawing(width, height, by, mark).draw_file(json);
}

}  // namespace diacut
