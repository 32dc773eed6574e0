#pragma once

#include <string>
#include <vector>

#include "core/bytes.hpp"
#include "image/raster.hpp"

namespace diacut {

/// An array of a MATLAB file: numbers, or the arrays that a cell array or a structure holds.
struct MatArray {
  enum Class : std::uint32_t { kCell = 1, kStructure = 2, kFirstNumeric = 6, kLastNumeric = 15 };

  std::uint32_t kind = 0;
  bool is_complex = false;
  std::vector<std::uint64_t> sizes;
  std::string name;
  std::vector<double> values;  ///< Of numbers, column by column.
  std::vector<MatArray> parts;
  std::vector<std::string> fields;  ///< Names of a structure's parts.
};

/// The variables of a MATLAB file of version 5 (MathWorks, MAT-File Format). Takes no more memory
/// for an array than the file has bytes for, decompressed. Throws InputError, without the file's
/// name, where it is damaged or cut off, is of another version, or has a matrix of more than `most`
/// elements.
std::vector<MatArray> read_mat_variables(Bytes file, std::uint64_t most);

/// The first of these variables that a MATLAB file holds, which must be a matrix of numbers. Throws
/// InputError that names the file.
Raster read_mat_matrix(const std::string& path, const std::vector<std::string>& names);

/// The matrices named in `fields` of each structure in the cell array `variable`. Throws InputError
/// that names the file.
std::vector<std::vector<Raster>> read_mat_cells(const std::string& path,
                                                const std::string& variable,
                                                const std::vector<std::string>& fields);

}  // namespace diacut
