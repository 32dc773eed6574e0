#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "image/raster.hpp"

/// The files that are scored.
namespace diacut {

enum class ResultKind {
  kContours,     ///< Boundary strength, as large as the image.
  kLabels,       ///< One segmentation.
  kUltrametric,  ///< Boundary strength between pixels, on the doubled grid; a hierarchy.
};

/// "contours", "labels", "ultrametric".
std::string to_string(ResultKind kind);

/// What is in a folder but hidden files, sorted by name. Throws InputError naming the folder.
std::vector<std::filesystem::directory_entry> list_folder(const std::string& folder);

/// The extension in lower case with its dot.
std::string result_extension(const std::filesystem::path& path);

/// .png, .tif, .tiff, .npy.
bool is_raster_extension(const std::string& extension);

struct ResultFile {
  std::string name;  ///< Without folder and extension.
  std::string path;
};

/// The .png, .tif, .tiff, .npy and .mat files of a folder, sorted by name. Throws InputError when
/// there is none, or two for a name.
std::vector<ResultFile> find_results(const std::string& folder);

/// One number a pixel; of a .mat file the variable ucm2, else ucm. Throws InputError naming the
/// file.
Raster read_result(const std::string& path);

/// What a result must be, as far as it shows; `width` and `height` are those of its ground truth.
///  - the size of the doubled grid: ultrametric
///  - numbers that are no integers: contours
///  - palette indices, and integers of 32 bits or signed: labels
///  - grey pictures: labels when they use all numbers up to their greatest, which is not full
///    strength, and most neighbours are alike though most pixels are not 0; else contours
/// Throws InputError naming both sizes when the result has neither size.
ResultKind detect_kind(const Raster& result, int width, int height);

/// Throws InputError naming both sizes unless the result has the size that its kind needs.
void check_result_size(const Raster& result, ResultKind kind, int width, int height);

/// Strengths in [0, 1] as full strength is 1. Throws InputError for numbers outside of that.
std::vector<double> strengths_of(const Raster& result);

/// Throws InputError for numbers that are not integers of 32 bits.
std::vector<std::int32_t> labels_of(const Raster& result);

/// The strengths at the pixels' lower right corners, where the benchmark's ucm2(3:2:end, 3:2:end)
/// is: a contour map of width x height.
std::vector<double> contours_of_ultrametric(const std::vector<double>& strength, int width,
                                            int height);

/// Whether boundaries are thicker than suppression leaves them: more than a third of the pixels
/// that are at least half as strong as the strongest lie in 2 x 2 blocks of such pixels.
bool is_thick(const std::vector<double>& strength, int width, int height);

}  // namespace diacut
