#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "diacut/annotations.hpp"
#include "parameters/methods.hpp"

namespace diacut::app {

/// The kinds of results that can be written for an image.
enum class Result : std::size_t {
  kLabels,
  kOverlay,
  kFlat,
  kCutout,
  kEigenvectors,
  kTree,
  kUltrametric,
  kContours,
  kPage,
  kCoco,
  kLabelMe,
  kYolo,
  kLabelStudio,
  kCvat,
  kSvg,
  kGeoJson,
  kTable,
  kRegionGraph,
  kProbabilities,
};
inline constexpr std::size_t kResultCount = 19;

/// What a file of a kind of results holds in a run of several images.
enum class Span {
  kImage,   ///< One image: results go into a folder.
  kRun,     ///< All images.
  kEither,  ///< All images if the place is a file's name, else one.
};

/// What is known of a kind of result.
struct ResultInfo {
  Result result;
  const char* option;      ///< The option that names the result's place.
  const char* extensions;  ///< Of its file, the first one in a folder of results; empty: a folder.
  const char* meaning;     ///< What the help says of the option.
  Methods methods = kForAll;  ///< That it is for.
  Span span = Span::kImage;
  std::optional<AnnotationFormat> format = {};  ///< Of a file of annotations.

  /// Whether it is made from the regions' outlines and figures.
  bool is_annotation() const { return format.has_value() || result == Result::kRegionGraph; }
};

/// In the order of Result.
inline constexpr std::array<ResultInfo, kResultCount> kResults = {{
    {Result::kLabels, "-o", ".png .tif .tiff .npy .gpkg .geojson .shp",
     "Labels: .png (16 bits), .tif or .npy (32 bits); for scenes with coordinates also polygons: "
     ".gpkg, .geojson or .shp; - writes a PNG to standard output; for several images a folder"},
    {Result::kOverlay, "--overlay", ".png .jpg",
     "The image with region boundaries drawn: .png or .jpg"},
    {Result::kFlat, "--flat", ".png .jpg", "Each region in its mean colour: .png or .jpg"},
    {Result::kCutout, "--cutout", ".png",
     "The image with all but some regions transparent (.png): by default seeds' label 1, else the "
     "largest region that does not surround the others, with what it encloses"},
    {Result::kEigenvectors, "--eigenvectors", "",
     "Eigenvectors as PNG, a montage and NPY; one folder for each image", kForRegions},
    {Result::kTree, "--tree", ".tree", "The merge tree of all regions, for segment recut (.tree)",
     kForHierarchies},
    {Result::kUltrametric, "--ultrametric", ".png .npy .tif .tiff",
     "The tree's ultrametric contour map: .png (16 bits), .npy or .tif (floats)", kForHierarchies},
    {Result::kContours, "--contours", ".png .npy .tif .tiff",
     "Boundary strength, not thinned: .png (16 bits), .npy or .tif (floats)", kForHierarchies},
    {Result::kPage, "--html", ".html",
     "A page for a browser, with every cut of the tree (.html), and with --eigenvectors those too; "
     "for several images a folder with index.html",
     kForHierarchies & ~kForSeededCuts},
    {Result::kCoco, "--coco", ".json",
     "COCO JSON: polygons, and RLE for regions with holes; one file for a folder", kForAll,
     Span::kRun, AnnotationFormat::kCoco},
    {Result::kLabelMe, "--labelme", ".json",
     "LabelMe JSON: polygons, and masks for regions with holes", kForAll, Span::kImage,
     AnnotationFormat::kLabelMe},
    {Result::kYolo, "--yolo", ".txt",
     "YOLO segmentation labels: one ring for each region, with holes joined to it", kForAll,
     Span::kImage, AnnotationFormat::kYolo},
    {Result::kLabelStudio, "--label-studio", ".json",
     "Label Studio tasks with predictions (.json); one file for a folder", kForAll, Span::kRun,
     AnnotationFormat::kLabelStudio},
    {Result::kCvat, "--cvat", ".xml", "CVAT for images 1.1 (.xml); one file for a folder", kForAll,
     Span::kRun, AnnotationFormat::kCvat},
    {Result::kSvg, "--svg", ".svg", "The regions as paths in their mean colours (.svg)", kForAll,
     Span::kImage, AnnotationFormat::kSvg},
    {Result::kGeoJson, "--geojson", ".geojson",
     "Polygons with holes, in pixels from the upper left corner (.geojson)", kForAll, Span::kImage,
     AnnotationFormat::kGeoJson},
    {Result::kTable, "--table", ".csv",
     "Figures of each region: shape, size in pixels and in the file's unit, values of channels as "
     "the file stores them, neighbours (.csv); for several images or pages one file, or a folder",
     kForAll, Span::kEither, AnnotationFormat::kTable},
    {Result::kRegionGraph, "--region-graph", ".graphml .csv",
     "Neighbouring regions, with the length and height of each boundary: .graphml, or .csv as a "
     "list of edges"},
    {Result::kProbabilities, "--probabilities", ".npy",
     "The probability of each label at each pixel, .npy (labels, height, width)", kForGrowth},
}};

inline const ResultInfo& info_of(Result result) {
  return kResults[static_cast<std::size_t>(result)];
}

/// The kinds of files that may come with an image.
enum class Sidecar : std::size_t { kBoundary, kSeeds, kBarriers, kFeatures, kStart, kCorrected };
inline constexpr std::size_t kSidecarCount = 6;

/// What is known of a kind of sidecars.
struct SidecarInfo {
  Sidecar sidecar;
  const char* option;      ///< The option that names its file, or a folder of such files.
  Methods methods;         ///< That it is for.
  const char* extensions;  ///< Of its file in a folder.
  const char* meaning;     ///< What the help says of the option.
};

/// In the order of Sidecar.
inline constexpr std::array<SidecarInfo, kSidecarCount> kSidecars = {{
    {Sidecar::kBoundary, "--boundary-map", kForAll & ~kForObjects, ".png .tif .tiff .npy",
     "Use your own boundary map: a grey image of 8 or 16 bits, or floats in [0, 1] (TIFF, NPY), of "
     "the image's size; for several images a folder: a/b.png for photos/a/b.jpg"},
    {Sidecar::kSeeds, "--seeds", kForSeeds, ".png .tif .tiff .npy .geojson",
     "Grow labels from these pixels: a PNG, TIFF or NPY of the image's size with numbers from 1, "
     "and 0 elsewhere, or GeoJSON in pixels with properties.label; with --method hierarchy, find "
     "the largest regions that do not join two labels; for several images a folder"},
    {Sidecar::kBarriers, "--barriers", kForGrowth, ".png .tif .tiff .npy .geojson",
     "Lines that labels do not cross, pixels other than 0 of a PNG, TIFF or NPY of "
     "the image's size, or GeoJSON in pixels; for several images a folder"},
    {Sidecar::kFeatures, "--features", kForAll & ~kForObjects, ".npy",
     "Compare pixels by your own features instead of boundaries: .npy of float32 or float16, "
     "(height, width, channels), of the image's size or a smaller one of its proportions; for "
     "several images a folder"},
    {Sidecar::kStart, "--start-from", kForGrowth, ".npy",
     "Start from the --probabilities of an earlier run (.npy), to save time after "
     "adding a few seeds; for several images a folder"},
    {Sidecar::kCorrected, "--correct", kForSeeds, ".png .tif .tiff .npy",
     "Correct these labels (PNG, TIFF, NPY, COCO JSON or CVAT XML) where marks touch them; for "
     "several images a folder"},
}};

inline const SidecarInfo& info_of(Sidecar sidecar) {
  return kSidecars[static_cast<std::size_t>(sidecar)];
}

/// A place for each of some kinds: a file, a folder, "-" for a standard stream, empty if there is
/// none.
template <class Kind, std::size_t count>
class PlacesOf {
 public:
  std::string& operator[](Kind kind) { return places_[static_cast<std::size_t>(kind)]; }
  const std::string& operator[](Kind kind) const { return places_[static_cast<std::size_t>(kind)]; }
  bool has(Kind kind) const { return !(*this)[kind].empty(); }
  bool any() const {
    return std::any_of(begin(), end(), [](const std::string& place) { return !place.empty(); });
  }
  auto begin() const { return places_.begin(); }
  auto end() const { return places_.end(); }

 private:
  std::array<std::string, count> places_;
};
using Places = PlacesOf<Result, kResultCount>;
using Sidecars = PlacesOf<Sidecar, kSidecarCount>;

/// A result that is named, and its place.
struct NamedResult {
  const ResultInfo& info;
  const std::string& place;

  /// Whether its place holds the results of all images of a run.
  bool of_run() const;
};
/// In the order of Result.
std::vector<NamedResult> named(const Places& places);

/// A list of extensions, as the tables above have it, one by one.
std::vector<std::string> extensions_in(const char* list);

/// Declares the option of a kind of results, which sets its place. `meaning`: what the help says
/// in place of the table's words, or null.
void declare_result(CommandLine& line, Result result, Places& places, const char* group,
                    const char* meaning = nullptr);

/// What a shell offers for files of these extensions; nothing for none.
Values files_of(const std::string& extensions);

}  // namespace diacut::app
