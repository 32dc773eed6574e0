#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace diacut::app {

/// What can be written for an image.
enum class Result : std::size_t {
  kLabels,
  kOverlay,
  kEigenvectors,
  kTree,
  kUltrametric,
  kContours,
};
inline constexpr std::size_t kResultCount = 6;

struct ResultInfo {
  Result result;
  const char* option;     ///< Where the command line names its place.
  const char* extension;  ///< Behind the image's name in a folder; none: a folder of its own.
  bool of_hierarchy;      ///< Only with --method hierarchy.
};

/// In the order of Result.
inline constexpr std::array<ResultInfo, kResultCount> kResults = {{
    {Result::kLabels, "-o", ".png", false},
    {Result::kOverlay, "--overlay", ".png", false},
    {Result::kEigenvectors, "--eigenvectors", "", false},
    {Result::kTree, "--tree", ".tree", true},
    {Result::kUltrametric, "--ultrametric", ".png", true},
    {Result::kContours, "--contours", ".png", true},
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
