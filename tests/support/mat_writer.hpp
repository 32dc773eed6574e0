#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// MATLAB files: as the Berkeley data sets have them, written by matio, and made part by part.
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

// The parts of a file of version 5 (MathWorks, MAT-File Format).

/// An element: its type, its length, and its data.
std::string mat_element(std::uint32_t type, const std::string& data);
/// An array whose flags name its class, which says that it has these sizes.
std::string mat_array(std::uint32_t flags, const std::vector<std::uint32_t>& sizes,
                      const std::string& name, const std::string& parts);
std::string mat_compressed(const std::string& elements);
/// A file of these elements.
std::string mat_file(const std::string& elements);

}  // namespace diacut::testing
