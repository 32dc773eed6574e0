#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/outlines.hpp"
#include "diacut/region_table.hpp"
#include "diacut/seeds.hpp"

/// @file
/// Regions in the file formats of annotation programs. Coordinates are those of pixel corners:
/// the image's upper left corner is (0, 0).
///
/// Errors are those of diacut/output.hpp.
namespace diacut {

/// Red, green, blue in sRGB encoding.
using RegionColour = std::array<std::uint8_t, 3>;
/// The mean colours of the pixels outside all regions, then of regions 1, 2, .... Throws InputError
/// when the sizes differ.
std::vector<RegionColour> region_colours(const Image& image, const Labels& labels);

/// A format of annotations.
enum class AnnotationFormat {
  kCoco,     ///< COCO JSON: polygons; regions with holes as compressed RLE.
  kCocoRle,  ///< COCO JSON: every region as compressed RLE, in column order.
  kLabelMe,  ///< LabelMe JSON: polygons; regions with holes as masks.
  /// YOLO segmentation: a line of normalised coordinates for each region, holes and further pieces
  /// joined to its outline by lines of no width.
  kYolo,
  kLabelStudio,  ///< Label Studio predictions: polygons; brushes for holes and several pieces.
  kCvat,         ///< CVAT for images 1.1: polygons; regions with holes as masks.
  kSvg,          ///< SVG: a path for each region, filled by the even-odd rule, or outlined.
  kGeoJson,      ///< GeoJSON in pixels: Polygon or MultiPolygon, holes as their inner rings.
  kTable,        ///< Comma-separated values: a RegionTable with a line for each region.
};

/// The class of each region.
struct RegionClasses {
  std::vector<std::string> names = {"region"};  ///< The last one is the class of all other regions.
  std::map<std::int64_t, std::size_t> of_label =
      {};  ///< Index of `names`, by RegionFigures::label.
  /// Such maps for several images, by the file names in their table.
  std::map<std::string, std::map<std::int64_t, std::size_t>> of_file = {};

  /// The classes of one image, by its name, or by its name without an extension.
  RegionClasses in_file(const std::string& file) const;

  /// The class of a region.
  std::size_t of(std::int64_t label) const {
    const auto found = of_label.find(label);
    return found == of_label.end() ? names.size() - 1 : found->second;
  }
};

/// Reads classes from comma-separated values: the columns "label", "class" and for several images
/// "file", or without a header a label and its class. Classes are numbered as they come; regions
/// without a class are called "region". Throws InputError naming the file and the line when that
/// cannot be read, or names a label twice.
RegionClasses read_classes(const std::string& path);

/// Throws InputError naming the first label with a class that is no region.
void check_classes(const RegionClasses& classes, const RegionTable& table);

/// An image and its regions.
struct AnnotatedImage {
  std::string name;                        ///< The path or file name of the image, for the file.
  std::int64_t number = 1;                 ///< Its number among the images of a file, from 1.
  const Labels* labels = nullptr;          ///< Its regions; not owned.
  const Outlines* outlines = nullptr;      ///< Their outlines; not owned.
  const RegionTable* table = nullptr;      ///< Their figures; not owned.
  const RegionClasses* classes = nullptr;  ///< Their classes; not owned.
  int page = 0;  ///< Its page in its file, for tables with columns of image and page; else 0.
  /// What SVG fills regions with, as region_colours() gives it; null: it draws outlines. Not owned.
  const std::vector<RegionColour>* colours = nullptr;
  bool smooth = false;  ///< Whether SVG draws curves, whose controls are the outlines' corners.
};

/// The part of a file that is about one image.
struct AnnotationPart {
  std::string image;  ///< The image, with its regions where the format nests them.
  /// COCO: its regions, which wait for their numbers; of tables the lines, and `image` the header.
  std::vector<std::string> regions;
};

/// Makes that part.
AnnotationPart annotate(const AnnotatedImage& image, AnnotationFormat format);

/// Sentences for the user, if a format cannot hold regions with holes or in several pieces.
std::vector<std::string> annotation_notes(const Outlines& outlines, AnnotationFormat format);

/// A file of annotations, written part by part. It gets its name when it is complete.
class AnnotationFile {
 public:
  /// Begins a file. `path`: not "-".
  AnnotationFile(const std::string& path, AnnotationFormat format,
                 const RegionClasses& classes = {});
  ~AnnotationFile();
  AnnotationFile(AnnotationFile&& other) noexcept;  ///< Leaves `other` fit for destruction only.

  /// Writes the part of an image; one alone where the format holds one image. COCO's annotations
  /// are numbered as they come. Throws InputError when a table has other columns than the first.
  void add(const AnnotationPart& part);

  /// Completes the file. Call it once; without it there is no file.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A label image from any program.
struct LabelImage {
  Labels labels;  ///< Numbered 1, 2, ... in the order of `numbers`; regions may lie in pieces.
  std::vector<std::int64_t> numbers;    ///< Of the regions in the file, ascending.
  std::vector<std::string> notes = {};  ///< For the user: colours, and regions that overlap.
};

/// The part of a file of labels that is read.
struct LabelPart {
  int page = 0;            ///< Page of a TIFF, from 1; 0: its only one.
  bool colours = false;    ///< Whether the labels are colours.
  std::string image = {};  ///< Path or file name of one of several images (COCO, CVAT).
};

/// Reads a label image: a PNG or TIFF of one channel (of a palette the index counts), or a .npy
/// array of two dimensions. 0 is background. With LabelPart::colours, each colour of a PNG or TIFF
/// is a label, numbered as they first appear; black and what has no data is background. Or COCO
/// JSON or XML of "CVAT for images": polygons and masks, numbered by the attribute label, else by
/// id or, in CVAT's, on from the largest number; of regions that overlap the last counts.
/// `parameters`: as read_boundary_map() takes them. Throws InputError naming the file when it
/// cannot be read, or holds a negative or fractional number.
LabelImage read_label_image(const std::string& path, const ImageParameters& parameters = {},
                            const LabelPart& part = {});

/// Labels to correct, and the marks that correct them.
struct Correction {
  LabelImage labels;  ///< The labels, with the numbers of their file.
  Seeds marks;        ///< The marks, of the size of the labels.
};

/// Changes only the regions that marks touch. A region with marks of one number gets that number,
/// so you can join regions. A region with marks of several numbers is split among them as they
/// grew. On the background only the marked pixels change. `grown`: the number of
/// each pixel that grew from the marks; 0: none. Returns 4-connected regions, in scan order, and
/// their numbers. `notes` gets the regions that are joined and split. Throws InputError
/// where sizes differ, or a number is too large.
SeededRegions correct_labels(const Correction& correction, const Labels& grown,
                             std::vector<std::string>& notes);

/// Writes the annotations of one image. `path`: not "-".
void write_annotations(const std::string& path, const AnnotatedImage& image,
                       AnnotationFormat format);

}  // namespace diacut
