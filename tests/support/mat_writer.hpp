#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// MATLAB files as the Berkeley data sets have them, written by matio.
namespace diacut::testing {

/// One annotator's, row by row; empty fields are left out of the structure.
struct WrittenAnnotation {
  std::vector<std::uint16_t> segmentation;
  std::vector<std::uint8_t> boundaries;
};

/// A cell array `groundTruth`, 1 x N, of structures with Segmentation and Boundaries.
void write_ground_truth_mat(const std::string& path, int width, int height,
                            const std::vector<WrittenAnnotation>& annotations,
                            bool compressed = true);

/// One matrix of doubles, given row by row.
void write_matrix_mat(const std::string& path, const std::string& name, int width, int height,
                      const std::vector<double>& values, bool compressed = true);

}  // namespace diacut::testing
