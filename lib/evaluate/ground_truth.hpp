#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diacut {

/// One person's segmentation of an image; width * height values row by row.
struct Annotation {
  std::vector<std::int32_t> labels;      ///< One region a value, whatever the value.
  std::vector<std::uint8_t> boundaries;  ///< 1 on boundaries, 0 elsewhere.
};

struct GroundTruth {
  int width = 0;
  int height = 0;
  std::vector<Annotation> annotations;  ///< At least one.
};

/// Pixels that differ in label from the pixel to the right, below, or below and to the right.
std::vector<std::uint8_t> boundaries_of(std::span<const std::int32_t> labels, int width,
                                        int height);

/// Where the ground truth of one image is.
struct TruthEntry {
  std::string name;
  std::vector<std::string> paths;  ///< One MATLAB file, or one label image an annotator.
};

/// The ground truth in a folder, by name, sorted. For an image NAME it is
///  - NAME.mat, as the Berkeley segmentation data sets have it: a cell array `groundTruth` of
///    structures with Segmentation and Boundaries;
///  - NAME.png, .tif, .tiff or .npy: labels, from one annotator;
///  - NAME_0.png, NAME_1.png, ...: from several;
///  - the folder NAME of such files.
/// `wanted` are the names looked for, sorted: they decide whether a_1.png belongs to a or to a_1.
/// Throws InputError when the folder cannot be read, holds nothing of this, or has two for a name.
std::vector<TruthEntry> find_ground_truth(const std::string& folder,
                                          const std::vector<std::string>& wanted);

/// Boundaries that a file does not hold are those of its labels, thinned, as the data sets make
/// them (what is scored is thinned too). Throws InputError naming the file and what is wrong with
/// it.
GroundTruth read_ground_truth(const TruthEntry& entry);

}  // namespace diacut
