#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "diacut/annotations.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image_file.hpp"
#include "diacut/map.hpp"
#include "results.hpp"

namespace diacut::app {

/// How regions are annotated and measured.
struct AnnotationStyle {
  bool rle = false;        ///< Whether COCO's masks are all RLE.
  std::string simplified;  ///< Pixels that simplified outlines may be off; empty: exact.
  std::string classes;     ///< The class of all regions, or a table of labels and classes.
  std::string channels;    ///< That are measured; empty: those that are segmented.
  bool outlined = false;   ///< Whether SVG has outlines, not fills.
  bool smooth = false;     ///< Whether SVG has curves.
  std::optional<double> simplify() const;
};

/// Declares the options of annotations and those of AnnotationStyle.
void declare_annotations(CommandLine& line, Places& places, AnnotationStyle& style);

/// Throws ConfigError when an option of the style has no effect or makes no sense, or a graph's
/// format is not known; InputError for a table of classes that cannot be read.
void check_annotations(const Places& places, const AnnotationStyle& style, bool batch);

/// Throws InputError where a table of classes names a file that is none of these images.
void check_class_files(const AnnotationStyle& style, const std::vector<std::string>& files);

/// What the regions of an image are measured in.
struct Measured {
  PixelSize pixel = {};
  /// Of regions in squares of the pixels' unit, where that is not the area of their pixels.
  std::function<std::vector<double>(const Outlines&)> areas = {};
  /// Gives the channels to a function, one after the other; empty: there is no image.
  std::function<void(const std::function<void(Channel&&)>&)> read = {};
};

/// The channels that the style asks for, of a scene's bands or of the picture in a file. `file`:
/// null for a scene, or where there is no picture.
Measured measured_in(const AnnotationStyle& style, const MapFrame* frame,
                     const std::shared_ptr<const ImageFile>& file, const PictureFacts& facts,
                     const ImageParameters& parameters, const ImagePart& part);

/// The outlines and figures of an image's regions, and the results that are made from them.
class Annotations {
 public:
  /// Traces and measures what `wanted` needs; nothing if it needs nothing. `labels` must outlive
  /// the object; `hierarchy` may be null. `image`: whose colours SVG has; `file`: what tables call
  /// it; `names`: what files call the regions; empty: by their numbers.
  Annotations(const Places& wanted, const AnnotationStyle& style, const Image& image,
              const std::string& file, const Labels& labels, const Measured& measured,
              const Hierarchy* hierarchy, const std::vector<std::int64_t>& names = {});

  /// What a person should know of how the regions are held.
  std::vector<std::string> notes() const;

  /// Writes a result that is an annotation. `name`: what files call the image.
  void write(Result result, const std::string& place, const std::string& name) const;

  /// An image's part of a file that holds several. `number`: the image's, from 1; `page`: its page
  /// in its file, for tables.
  AnnotationPart part(Result result, const std::string& name, std::int64_t number, int page) const;

 private:
  void measure_sizes(const Measured& measured);
  AnnotatedImage annotated(const std::string& name, std::int64_t number, int page) const;

  const Places& wanted_;
  bool rle_;
  std::optional<RegionClasses> classes_;
  std::vector<RegionColour> colours_;  ///< Empty: SVG has outlines.
  const Labels& labels_;
  Outlines outlines_;
  std::optional<Outlines> curves_;  ///< With the controls of SVG's curves.
  RegionTable table_;
};

/// Whether a place is named for an annotation, but for the graph alone if `graph` is not set.
bool has_annotations(const Places& places, bool graph);

/// What annotations call an image: its path from the folder that was named, else its file name.
/// `place`: LabelMe's file, which names the image by the way from there; else empty.
std::string annotated_name(const std::string& input, const std::string& name,
                           const std::string& place);

/// An image's parts of the files of a whole run.
using RunParts = std::vector<std::pair<Result, AnnotationPart>>;

/// The parts of the files that `roots` name for a whole run. `name`: what annotations call the
/// image; `file` and `page`: what tables do.
RunParts run_parts(const Places& roots, const Annotations& annotations, const std::string& name,
                   const std::string& file, std::int64_t number, int page);

/// The files of annotations that all images of a batch share. They are there when the run has come
/// to its end, with the images that did not fail; without commit(), or without an image, they are
/// not.
class SharedFiles {
 public:
  /// Begins the files that are named for a whole run; none where `batch` is false. Throws
  /// InputError.
  SharedFiles(const Places& roots, const AnnotationStyle& style, bool batch);

  /// Adds the parts of an image. Throws InputError where a table has other columns.
  void add(const RunParts& parts);
  void commit();

 private:
  const Places& roots_;
  std::vector<std::pair<Result, AnnotationFile>> files_;
  std::size_t images_ = 0;
};

}  // namespace diacut::app
