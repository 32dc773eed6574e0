#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "diacut/annotations.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "results.hpp"

namespace diacut::app {

/// An option whose result is made from the regions' outlines and figures.
struct AnnotationOption {
  Result result;
  const char* meaning;
  std::optional<AnnotationFormat> format = {};
};

inline constexpr std::array kAnnotationOptions = {
    AnnotationOption{Result::kCoco,
                     "COCO JSON: polygons, and RLE for regions with holes; one file for a folder",
                     AnnotationFormat::kCoco},
    AnnotationOption{Result::kLabelMe, "LabelMe JSON: polygons, and masks for regions with holes",
                     AnnotationFormat::kLabelMe},
    AnnotationOption{Result::kYolo,
                     "YOLO segmentation labels: one ring for each region, with holes joined to it",
                     AnnotationFormat::kYolo},
    AnnotationOption{Result::kLabelStudio,
                     "Label Studio tasks with predictions (.json); one file for a folder",
                     AnnotationFormat::kLabelStudio},
    AnnotationOption{Result::kCvat, "CVAT for images 1.1 (.xml); one file for a folder",
                     AnnotationFormat::kCvat},
    AnnotationOption{Result::kSvg, "The outlines of the regions as paths (.svg)",
                     AnnotationFormat::kSvg},
    AnnotationOption{Result::kGeoJson,
                     "Polygons with holes, in pixels from the upper left corner (.geojson)",
                     AnnotationFormat::kGeoJson},
    AnnotationOption{Result::kTable,
                     "Figures of each region: area, box, centroid, perimeter, solidity, mean and "
                     "spread of each band, neighbours (.csv)"},
    AnnotationOption{Result::kGraph,
                     "Neighbouring regions, with the length and height of each boundary: .graphml, "
                     "or .csv as a list of edges"},
};

/// Declares the options of kAnnotationOptions and --rle. `folders`: whether a folder may be named.
void declare_annotations(CommandLine& line, Places& places, bool& rle, bool folders);

/// Throws ConfigError when --rle has no effect, or a graph's format is not known.
void check_annotations(const Places& places, bool rle, bool batch);

/// The outlines and figures of an image's regions, and the results that are made from them.
class Annotations {
 public:
  /// Traces and measures what `wanted` needs; nothing if it needs nothing. `labels` must outlive
  /// the object; `image` and `hierarchy` may be null.
  Annotations(const Places& wanted, bool rle, const Labels& labels, const Image* image,
              const Hierarchy* hierarchy);

  /// What a person should know of how the regions are held.
  std::vector<std::string> notes() const;

  /// Writes a result of kAnnotationOptions. `name`: what files call the image.
  void write(Result result, const std::string& place, const std::string& name) const;

  /// An image's part of a file that holds several. `number`: the image's, from 1.
  AnnotationPart part(Result result, const std::string& name, std::int64_t number) const;

 private:
  AnnotatedImage annotated(const std::string& name, std::int64_t number) const;

  const Places& wanted_;
  bool rle_;
  const Labels& labels_;
  Outlines outlines_;
  RegionTable table_;
};

/// Whether a result is one of kAnnotationOptions.
bool is_annotation(Result result);

/// The format of a result; nothing for the table and the graph.
std::optional<AnnotationFormat> annotation_format(Result result, bool rle);

/// What annotations call an image: its path from the folder that was named, else its file name.
/// `place`: LabelMe's file, which names the image by the way from there; else empty.
std::string annotated_name(const std::string& input, const std::string& name,
                           const std::string& place);

}  // namespace diacut::app
