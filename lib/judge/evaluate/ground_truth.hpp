#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diacut {

/// Thins a mask to lines one pixel wide that are 8-connected where the mask was, by the algorithm
/// of Z. Guo and R. W. Hall ("Parallel thinning with two-subiteration algorithms", 1989), repeated
/// until nothing changes. `mask` has width * height values, row by row, and is set where they are
/// not 0; outside of the image it counts as not set. Returns width * height values 0 and 1.
std::vector<std::uint8_t> thin(std::span<const std::uint8_t> mask, int width, int height);

/// The segmentation of an image by one person, each map width * height values, row by row.
struct Annotation {
  std::vector<std::int32_t> labels;      ///< Pixels of one region have one value, any value.
  std::vector<std::uint8_t> boundaries;  ///< 1 on boundaries, 0 elsewhere.
};

struct GroundTruth {
  int width = 0;
  int height = 0;
  std::vector<Annotation> annotations;  ///< At least one.
};

/// A mask, 1 at pixels whose label differs from that of the pixel to the right, below, or below and
/// to the right, else 0.
std::vector<std::uint8_t> boundaries_of(std::span<const std::int32_t> labels, int width,
                                        int height);

/// The files that hold the ground truth of one image.
struct TruthEntry {
  std::string name;
  std::vector<std::string> paths;  ///< One MATLAB file, or one label image for each annotator.
};

/// The ground truth in a folder, sorted by name. The ground truth of an image NAME is one of
///  - NAME.mat, as the Berkeley segmentation data sets have it: a cell array `groundTruth` of
///    structures with Segmentation and Boundaries;
///  - NAME.png, .tif, .tiff or .npy: labels, the labels of one annotator;
///  - NAME_0.png, NAME_1.png, ...: the labels of several annotators;
///  - a folder NAME with such label files.
/// `wanted` are the names of the results, sorted: they decide whether a_1.png belongs to a or to
/// a_1. Throws InputError when the folder cannot be read, holds no ground truth, or holds two for a
/// name.
std::vector<TruthEntry> find_ground_truth(const std::string& folder,
                                          const std::vector<std::string>& wanted);

/// Reads the ground truth of one image. Where a file holds no boundaries, they are boundaries_of()
/// its labels, thinned, as the authors of the data sets make them. Throws InputError that names the
/// file and what is wrong with it.
GroundTruth read_ground_truth(const TruthEntry& entry);

}  // namespace diacut
