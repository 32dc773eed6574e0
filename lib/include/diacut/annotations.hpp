#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diacut/labels.hpp"
#include "diacut/outlines.hpp"
#include "diacut/region_table.hpp"

/// @file
/// Regions as the files that programs for annotation read. All regions are of one category,
/// "region". Coordinates are those of pixel corners: the image's upper left corner is (0, 0).
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
};

/// Whether one file of a format holds several images.
/// @param format The format.
/// @return True for COCO, Label Studio and CVAT.
bool holds_several_images(AnnotationFormat format);

/// An image and its regions.
struct AnnotatedImage {
  std::string name;                    ///< What the file calls the image: a path or file name.
  std::int64_t number = 1;             ///< Its number among the images of a file, from 1.
  const Labels* labels = nullptr;      ///< Its regions; not owned.
  const Outlines* outlines = nullptr;  ///< Their outlines; not owned.
  const RegionTable* table = nullptr;  ///< Their figures; not owned.
};

/// The part of a file that is about one image.
struct AnnotationPart {
  std::string image;                 ///< The image, with its regions where the format nests them.
  std::vector<std::string> regions;  ///< COCO: its regions, which wait for their numbers.
};

/// Makes the part of a file that is about one image.
/// @param image The image.
/// @param format The format.
/// @return The part.
AnnotationPart annotate(const AnnotatedImage& image, AnnotationFormat format);

/// What a person should know of how a format holds regions with holes or in several pieces.
/// @param outlines The outlines of the regions.
/// @param format The format.
/// @return A sentence, or nothing where every region is one ring or the format holds any rings.
std::vector<std::string> annotation_notes(const Outlines& outlines, AnnotationFormat format);

/// A file of annotations, written part by part: it appears under its name when it is complete.
class AnnotationFile {
 public:
  /// Begins a file.
  /// @param path Its path; not "-".
  /// @param format The format.
  AnnotationFile(const std::string& path, AnnotationFormat format);
  ~AnnotationFile();
  /// Takes a file over, which may only be destroyed afterwards.
  AnnotationFile(AnnotationFile&&) noexcept;

  /// Writes the part of an image. COCO's annotations are numbered 1, 2, ... as they come.
  /// @param part The part; one alone where the format holds one image.
  void add(const AnnotationPart& part);

  /// Ends the file and puts it in its place. To be called once; without it there is no file.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes the annotations of one image.
/// @param path The file; not "-".
/// @param image The image.
/// @param format The format.
void write_annotations(const std::string& path, const AnnotatedImage& image,
                       AnnotationFormat format);

}  // namespace diacut
