#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "diacut/labels.hpp"
#include "diacut/outlines.hpp"
#include "diacut/region_table.hpp"

/// @file
/// Regions as the files that programs for annotation read. Coordinates are those of pixel corners:
/// the image's upper left corner is (0, 0).
///
/// Errors are those of diacut/output.hpp.
namespace diacut {

/// A format of annotations.
enum class AnnotationFormat {
  kCoco,         ///< COCO JSON: polygons; regions with holes as compressed RLE.
  kCocoRle,      ///< COCO JSON: every region as compressed RLE, in column order.
  kLabelMe,      ///< LabelMe JSON: polygons; regions with holes as masks.
  kYolo,         ///< YOLO segmentation: a line of normalised coordinates for each region, holes and
                 ///< further pieces joined to its outline by lines of no width.
  kLabelStudio,  ///< Label Studio tasks with predictions: polygons; brushes for regions with holes
                 ///< or in several pieces.
  kCvat,         ///< CVAT for images 1.1: polygons; regions with holes as masks.
  kSvg,          ///< SVG: a path for each region, to be filled by the even-odd rule.
  kGeoJson,      ///< GeoJSON in pixels: Polygon or MultiPolygon, holes as their inner rings.
  kTable,        ///< Comma-separated values: region_csv_header() and region_csv_rows().
};

/// What regions are called.
struct RegionClasses {
  std::vector<std::string> names = {"region"};  ///< The last one is that of all other regions.
  std::map<std::int64_t, std::size_t> of_label = {};  ///< By RegionFigures::label.

  /// The class of a region.
  std::size_t of(std::int64_t label) const {
    const auto found = of_label.find(label);
    return found == of_label.end() ? names.size() - 1 : found->second;
  }
};

/// Reads a table of labels and their classes: lines of "label,class", with or without a header.
/// Classes are numbered as they come; regions that it does not name are called "region". Throws
/// InputError naming the file and the line where it is none, or names a label twice.
RegionClasses read_classes(const std::string& path);

/// Checks that the labels with a class are regions. Throws InputError naming the first label that
/// is none.
void check_classes(const RegionClasses& classes, const RegionTable& table);

/// An image and its regions.
struct AnnotatedImage {
  std::string name;                        ///< What the file calls the image: a path or file name.
  std::int64_t number = 1;                 ///< Its number among the images of a file, from 1.
  const Labels* labels = nullptr;          ///< Its regions; not owned.
  const Outlines* outlines = nullptr;      ///< Their outlines; not owned.
  const RegionTable* table = nullptr;      ///< Their figures; not owned.
  const RegionClasses* classes = nullptr;  ///< What they are called; not owned.
  /// Its page in its file, for tables of several images, which have columns for both; 0: there are
  /// none.
  int page = 0;
};

/// The part of a file that is about one image.
struct AnnotationPart {
  std::string image;  ///< The image, with its regions where the format nests them.
  /// COCO: its regions, which wait for their numbers; of tables the lines, and `image` the header.
  std::vector<std::string> regions;
};

/// Makes the part of a file that is about one image.
AnnotationPart annotate(const AnnotatedImage& image, AnnotationFormat format);

/// What a person should know of how a format holds regions with holes or in several pieces. Empty
/// where every region is one ring or the format holds any rings.
std::vector<std::string> annotation_notes(const Outlines& outlines, AnnotationFormat format);

/// A file of annotations, written part by part: it appears under its name when it is complete.
class AnnotationFile {
 public:
  /// Begins a file. `path`: its path; not "-".
  AnnotationFile(const std::string& path, AnnotationFormat format,
                 const RegionClasses& classes = {});
  ~AnnotationFile();
  /// Takes a file over, which may only be destroyed afterwards.
  AnnotationFile(AnnotationFile&&) noexcept;

  /// Writes the part of an image. COCO's annotations are numbered 1, 2, ... as they come. `part`:
  /// the part; one alone where the format holds one image. Throws InputError when it is a table's
  /// and has other columns than the first.
  void add(const AnnotationPart& part);

  /// Ends the file and puts it in its place. To be called once; without it there is no file.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A label image of any program.
struct LabelImage {
  Labels labels;  ///< Numbered 1, 2, ... in the order of `numbers`; regions may lie in pieces.
  std::vector<std::int64_t> numbers;  ///< Of the regions in the file, ascending.
};

/// Reads a label image: a PNG or TIFF of one channel (of a palette the index counts), or a .npy
/// array of two dimensions. 0 is background. `parameters`: the most pixels, and whether the file is
/// trusted; the others have no effect. Throws InputError naming the file when it cannot be read, or
/// holds a number that is negative or fractional.
LabelImage read_label_image(const std::string& path, const ImageParameters& parameters = {});

/// Writes the annotations of one image. `path`: the file; not "-".
void write_annotations(const std::string& path, const AnnotatedImage& image,
                       AnnotationFormat format);

}  // namespace diacut
