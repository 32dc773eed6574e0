#include "annotate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "image/naming.hpp"
#include "map/region_format.hpp"
#include "text.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kGroup = "Annotations and tables";
/// How far off the controls of curves may be, pixels: as the steps of slanted edges.
constexpr double kSmoothed = 1.5;
/// Paths of an SVG that browsers and Inkscape draw within seconds.
constexpr std::int32_t kManyPaths = 20'000;

/// The format of a file of annotations.
AnnotationFormat annotation_format(Result result, bool rle) {
  return rle && result == Result::kCoco ? AnnotationFormat::kCocoRle
                                        : info_of(result).format.value();
}

/// What regions are called.
RegionClasses classes_of(const AnnotationStyle& style) {
  if (style.classes.ends_with(".csv")) return read_classes(style.classes);
  return style.classes.empty() ? RegionClasses() : RegionClasses{{style.classes}, {}};
}

}  // namespace

bool has_annotations(const Places& places, bool graph) {
  const std::vector<NamedResult> results = named(places);
  return std::any_of(results.begin(), results.end(), [&](const NamedResult& each) {
    return each.info.format || (graph && each.info.is_annotation());
  });
}

std::optional<double> AnnotationStyle::simplify() const {
  if (simplified.empty()) return std::nullopt;
  return number_of<double>("--simplify", simplified, 0, 1000,
                           "the pixels that an outline may be off, 0 to 1000");
}

void declare_annotations(CommandLine& line, Places& places, AnnotationStyle& style) {
  for (const ResultInfo& info : kResults) {
    if (info.is_annotation()) declare_result(line, info.result, places, kGroup);
    if (info.result == Result::kCoco) {
      line.flag("--rle", style.rle, kGroup, "With --coco: write every region as RLE");
    }
    if (info.result == Result::kSvg) {
      line.flag("--svg-outlines", style.outlined, kGroup, "With --svg: outlines, not fills");
      line.flag(
          "--svg-smooth", style.smooth, kGroup,
          "With --svg: curves, which neighbours share, about a pixel from the exact outlines, or "
          "so far as --simplify says");
    }
  }
  line.option("--measure", style.channels, "all|NAMES", kGroup,
              "With --table: these channels, by names or numbers (default: those that are "
              "segmented; of scenes all bands)");
  line.option("--simplify", style.simplified, "PIXELS", kGroup,
              "Polygons of fewer corners, at most so far from the exact ones; neighbours share "
              "their boundaries as before");
  line.option(
      "--class", style.classes, "NAME|FILE", kGroup,
      "What regions are called (default region): one name, or a .csv of [file,]label,class");
  line.need("--coco", {"--rle"});
  line.need("--table", {"--measure"});
  line.need("--svg", {"--svg-outlines", "--svg-smooth"});
  line.exclude("--rle", {"--simplify"});
}

void check_annotations(const Places& places, const AnnotationStyle& style, bool batch) {
  const bool polygons = names_polygons(places[Result::kLabels]);
  const bool annotated = has_annotations(places, false);
  if (style.simplify() && !annotated && !polygons) {
    throw ConfigError(
        "--simplify is about polygons: add --coco FILE, another file of annotations, or polygons "
        "of "
        "a scene");
  }
  if (style.classes.empty()) return;
  if (!annotated) {
    throw ConfigError(
        "--class names regions in annotations and tables: add --coco FILE or another");
  }
  const RegionClasses classes = classes_of(style);
  if (batch && !classes.of_label.empty()) {
    throw ConfigError(fmt::format(
        "--class: '{}' gives classes to the labels of one image, and there are several: give it "
        "the columns file,label,class, or name one class",
        style.classes));
  }
}

void check_class_files(const AnnotationStyle& style, const std::vector<std::string>& files) {
  const RegionClasses classes = classes_of(style);
  std::set<fs::path> known(files.begin(), files.end());
  for (const std::string& file : files) known.insert(fs::path(file).replace_extension());
  for (const auto& [file, of_label] : classes.of_file) {
    if (known.contains(file) || known.contains(fs::path(file).replace_extension())) continue;
    throw InputError(fmt::format("--class: '{}' has classes of '{}', which is none of the images",
                                 style.classes, file));
  }
}

Measured measured_in(const AnnotationStyle& style, const MapFrame* frame,
                     const std::shared_ptr<const ImageFile>& file, const PictureFacts& facts,
                     const ImageParameters& parameters, const ImagePart& part) {
  if (frame != nullptr) {
    return {ground_pixel(*frame),
            [=](const Outlines& outlines) { return ground_areas(*frame, outlines); },
            [=, wanted = style.channels](const auto& visit) {
              read_map_channels(*frame, wanted, visit);
            }};
  }
  if (!file) return {};
  return {facts.pixel, {}, [=, wanted = style.channels](const auto& visit) {
            file->read_channels(parameters, part, wanted, visit);
          }};
}

Annotations::Annotations(const Places& wanted, const AnnotationStyle& style, const Image& image,
                         const std::string& file, const Labels& labels, const Measured& measured,
                         const Hierarchy* hierarchy, const std::vector<std::int64_t>& names)
    : wanted_(wanted), rle_(style.rle), labels_(labels) {
  if (!has_annotations(wanted, true)) return;
  outlines_ = trace_outlines(labels);
  // A picture shows no figures.
  const std::vector<NamedResult> results = named(wanted);
  if (std::any_of(results.begin(), results.end(), [](const NamedResult& each) {
        return each.info.is_annotation() && each.info.result != Result::kSvg;
      })) {
    table_ = measure_regions(labels, outlines_, hierarchy);
  } else {
    table_.regions.resize(static_cast<std::size_t>(labels.count));
    for (std::int64_t k = 0; k < labels.count; ++k) table_.regions[k].label = k + 1;
  }
  for (std::size_t k = 0; k < names.size(); ++k) table_.regions[k].label = names[k];
  measure_sizes(measured);
  if (wanted.has(Result::kSvg) && !style.outlined) colours_ = region_colours(image, labels);
  const std::optional<double> distance = style.simplify();
  if (style.smooth && wanted.has(Result::kSvg)) {
    curves_ = simplify_outlines(outlines_, distance.value_or(kSmoothed));
  }
  if (distance) outlines_ = simplify_outlines(outlines_, *distance);
  if (!style.classes.empty()) {
    classes_ = classes_of(style).in_file(file);
    naming("--class " + style.classes, [&] { check_classes(*classes_, table_); });
  }
  if (!wanted.has(Result::kTable)) return;
  if (!measured.read) return;
  const ChannelMeter meter(labels);
  measured.read(
      [&](Channel&& channel) { table_.channels.push_back(meter.measure(std::move(channel))); });
}

void Annotations::measure_sizes(const Measured& measured) {
  if (!wanted_.has(Result::kTable)) return;
  table_.pixel = measured.pixel;
  const std::vector<double> areas =
      measured.areas ? measured.areas(outlines_) : std::vector<double>();
  if (!areas.empty()) table_.pixel.unit = "m";
  for (std::size_t k = 0; k < table_.regions.size(); ++k) {
    RegionFigures& region = table_.regions[k];
    region.unit_area =
        areas.empty() ? static_cast<double>(region.area) * table_.pixel.width * table_.pixel.height
                      : areas[k];
  }
}

std::vector<std::string> Annotations::notes() const {
  std::vector<std::string> notes;
  if (wanted_.has(Result::kSvg) && labels_.count > kManyPaths) {
    notes.push_back(
        fmt::format("--svg: {} paths, which most programs draw slowly or not at all: ask for fewer "
                    "regions (--regions, --min-size)",
                    labels_.count));
  }
  for (const auto& [info, place] : named(wanted_)) {
    if (!info.format) continue;
    for (const std::string& note :
         annotation_notes(outlines_, annotation_format(info.result, rle_))) {
      notes.push_back(fmt::format("{}: {}", info.option, note));
    }
  }
  return notes;
}

void Annotations::write(Result result, const std::string& place, const std::string& name) const {
  if (result == Result::kRegionGraph) return write_region_graph(place, table_);
  AnnotatedImage image = annotated(name, 1, 0);
  image.colours = colours_.empty() ? nullptr : &colours_;
  if (result == Result::kSvg && curves_) {
    image.outlines = &*curves_;
    image.smooth = true;
  }
  write_annotations(place, image, annotation_format(result, rle_));
}

AnnotationPart Annotations::part(Result result, const std::string& name, std::int64_t number,
                                 int page) const {
  return annotate(annotated(name, number, page), annotation_format(result, rle_));
}

AnnotatedImage Annotations::annotated(const std::string& name, std::int64_t number,
                                      int page) const {
  return {name, number, &labels_, &outlines_, &table_, classes_ ? &*classes_ : nullptr, page};
}

std::string annotated_name(const std::string& input, const std::string& name,
                           const std::string& place) {
  if (input == "-") return "stdin";
  if (place.empty()) return name;
  const fs::path from = fs::absolute(place).lexically_normal().parent_path();
  return fs::absolute(input).lexically_normal().lexically_relative(from).generic_string();
}

RunParts run_parts(const Places& roots, const Annotations& annotations, const std::string& name,
                   const std::string& file, std::int64_t number, int page) {
  RunParts parts;
  for (const NamedResult& each : named(roots)) {
    if (!each.of_run()) continue;
    const Result result = each.info.result;
    const bool table = result == Result::kTable;  // Which has a column for pages.
    parts.emplace_back(result,
                       annotations.part(result, table ? file : name, number, table ? page : 0));
  }
  return parts;
}

SharedFiles::SharedFiles(const Places& roots, const AnnotationStyle& style, bool batch)
    : roots_(roots) {
  if (!batch) return;
  const RegionClasses classes = classes_of(style);
  for (const NamedResult& each : named(roots)) {
    if (!each.of_run()) continue;
    const AnnotationFormat format = annotation_format(each.info.result, style.rle);
    files_.emplace_back(each.info.result, AnnotationFile(each.place, format, classes));
  }
}

void SharedFiles::add(const RunParts& parts) {
  // Tables may refuse a part, and come first: then no file has the image.
  for (const bool table : {true, false}) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if ((parts[i].first == Result::kTable) == table) files_[i].second.add(parts[i].second);
    }
  }
  ++images_;
}

void SharedFiles::commit() {
  if (images_ == 0) return;
  for (auto& [result, file] : files_) file.commit();
}

}  // namespace diacut::app
