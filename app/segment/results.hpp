#pragma once

#include <array>
#include <cstddef>
#include <string>

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

/// What is known of a kind of result.
struct ResultInfo {
  Result result;
  const char* option;     ///< The option that names the result's place.
  const char* extension;  ///< Of its file in a folder of results; empty: it is a folder itself.
  bool of_hierarchy;      ///< Whether it needs --method hierarchy.
  bool of_run = false;    ///< Whether several images give one file.
};

/// In the order of Result.
inline constexpr std::array<ResultInfo, kResultCount> kResults = {{
    {Result::kLabels, "-o", ".png", false},
    {Result::kOverlay, "--overlay", ".png", false},
    {Result::kEigenvectors, "--eigenvectors", "", false},
    {Result::kTree, "--tree", ".tree", true},
    {Result::kUltrametric, "--ultrametric", ".png", true},
    {Result::kContours, "--contours", ".png", true},
    {Result::kPage, "--html", ".html", true},
    {Result::kCoco, "--coco", ".json", false, true},
    {Result::kLabelMe, "--labelme", ".json", false},
    {Result::kYolo, "--yolo", ".txt", false},
    {Result::kLabelStudio, "--label-studio", ".json", false, true},
    {Result::kCvat, "--cvat", ".xml", false, true},
    {Result::kSvg, "--svg", ".svg", false},
    {Result::kGeoJson, "--geojson", ".geojson", false},
    {Result::kTable, "--table", ".csv", false},
    {Result::kGraph, "--graph", ".graphml", false},
    {Result::kProbabilities, "--probabilities", ".npy", false},
}};

/// A place for each result: a file, a folder, "-" for a standard stream, empty if it is not wanted.
class Places {
 public:
  std::string& operator[](Result result) { return places_[static_cast<std::size_t>(result)]; }
  const std::string& operator[](Result result) const {
    return places_[static_cast<std::size_t>(result)];
  }
  auto begin() const { return places_.begin(); }
  auto end() const { return places_.end(); }

 private:
  std::array<std::string, kResultCount> places_;
};

}  // namespace diacut::app
