#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "command_description.hpp"

namespace diacut::app {

/// The kinds of results that can be written for an image.
enum class Result : std::size_t {
  kLabels,
  kOverlay,
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
  kGraph,
  kProbabilities,
};
inline constexpr std::size_t kResultCount = 17;

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
  bool of_hierarchy;       ///< Whether it needs --method hierarchy.
  Span span = Span::kImage;

  /// Whether a place holds the results of all images of a run.
  bool of_run(const std::string& place) const;
};

/// In the order of Result.
inline constexpr std::array<ResultInfo, kResultCount> kResults = {{
    {Result::kLabels, "-o", ".png .tif .tiff .npy .gpkg .geojson .shp", false},
    {Result::kOverlay, "--overlay", ".png .jpg", false},
    {Result::kEigenvectors, "--eigenvectors", "", false},
    {Result::kTree, "--tree", ".tree", true},
    {Result::kUltrametric, "--ultrametric", ".png .npy .tif .tiff", true},
    {Result::kContours, "--contours", ".png .npy .tif .tiff", true},
    {Result::kPage, "--html", ".html", true},
    {Result::kCoco, "--coco", ".json", false, Span::kRun},
    {Result::kLabelMe, "--labelme", ".json", false},
    {Result::kYolo, "--yolo", ".txt", false},
    {Result::kLabelStudio, "--label-studio", ".json", false, Span::kRun},
    {Result::kCvat, "--cvat", ".xml", false, Span::kRun},
    {Result::kSvg, "--svg", ".svg", false},
    {Result::kGeoJson, "--geojson", ".geojson", false},
    {Result::kTable, "--table", ".csv", false, Span::kEither},
    {Result::kGraph, "--graph", ".graphml .csv", false},
    {Result::kProbabilities, "--probabilities", ".npy", false},
}};

/// The kinds of files that may come with an image.
enum class Companion : std::size_t { kEdges, kSeeds, kBarriers, kFeatures, kStart, kCorrected };
inline constexpr std::size_t kCompanionCount = 6;

/// What is known of a kind of companions.
struct CompanionInfo {
  Companion companion;
  const char* option;      ///< The option that names its file, or a folder of such files.
  const char* extensions;  ///< Of its file in a folder.
};

/// In the order of Companion.
inline constexpr std::array<CompanionInfo, kCompanionCount> kCompanions = {{
    {Companion::kEdges, "--edges", ".png .tif .tiff .npy"},
    {Companion::kSeeds, "--seeds", ".png .tif .tiff .npy .geojson"},
    {Companion::kBarriers, "--barriers", ".png .tif .tiff .npy .geojson"},
    {Companion::kFeatures, "--features", ".npy"},
    {Companion::kStart, "--start-from", ".npy"},
    {Companion::kCorrected, "--correct", ".png .tif .tiff .npy"},
}};

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
using Companions = PlacesOf<Companion, kCompanionCount>;

/// A list of extensions, as the tables above have it, one by one.
std::vector<std::string> extensions_in(const char* list);

/// What a shell offers for files of these extensions.
Values files_of(const char* extensions);

/// Sets what a shell offers for all options of `app` that name results and companions.
void describe_places(const CLI::App& app, ValueTable& values);

}  // namespace diacut::app
