#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "image/raster.hpp"

/// The files that are scored.
namespace diacut {

enum class ResultKind {
  kContours,     ///< A boundary map of the size of the image.
  kLabels,       ///< A label image.
  kUltrametric,  ///< An ultrametric map on the doubled grid, which holds a hierarchy.
};

/// "contours", "labels" or "ultrametric".
std::string to_string(ResultKind kind);

/// The entries of a folder without hidden files, sorted by name. Throws InputError that names the
/// folder.
std::vector<std::filesystem::directory_entry> list_folder(const std::string& folder);

/// The extensions of label images and maps.
inline constexpr const char* kRasterExtensions = ".png, .tif, .tiff, .npy";

/// Whether the extension is one of these or .mat.
bool is_scored(const std::filesystem::path& path);

struct ResultFile {
  std::string name;  ///< The name of the file without folder and extension.
  std::string path;
};

/// The .png, .tif, .tiff, .npy and .mat files of a folder, sorted by name. Throws InputError when
/// the folder holds none, or two with one name.
std::vector<ResultFile> find_results(const std::string& folder);

/// Reads a file of one number for each pixel; from a .mat file the variable ucm2, or else ucm.
/// Throws InputError that names the file.
Raster read_result(const std::string& path);

/// The kind of a result, judged by its size and values; `width` and `height` are those of its
/// ground truth. The first of these rules that applies decides:
///  - the size of the doubled grid: ultrametric
///  - numbers that are no integers: contours
///  - palette indices, and integers of 32 bits or signed: labels
///  - grey pictures: labels when they use all numbers up to their greatest, which is not full
///    strength, and most neighbours are alike though most pixels are not 0; else contours
/// Throws InputError that names the sizes when the result has neither the size of the ground truth
/// nor that of its doubled grid.
ResultKind detect_kind(const Raster& result, int width, int height);

/// Throws InputError that names both sizes unless the result has the size that its kind needs.
void check_result_size(const Raster& result, ResultKind kind, int width, int height);

/// The values of a label image. Throws InputError for values that are not integers of 32 bits.
std::vector<std::int32_t> labels_of(const Raster& result);

/// A contour map of width x height pixels: the strengths of an ultrametric map at the lower right
/// corner of each pixel, which are ucm2(3:2:end, 3:2:end) of the benchmark.
std::vector<double> contours_of_ultrametric(const std::vector<double>& strength, int width,
                                            int height);

}  // namespace diacut
