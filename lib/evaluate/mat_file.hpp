#pragma once

#include <memory>
#include <string>
#include <vector>

#include "image/raster.hpp"

struct _mat_t;  // NOLINT(bugprone-reserved-identifier): matio's name.

namespace diacut {

/// A MATLAB file. All functions throw InputError that names the file.
class MatFile {
 public:
  explicit MatFile(const std::string& path);

  /// The first of these variables that the file holds, which must be a matrix of numbers.
  Raster matrix(const std::vector<std::string>& names) const;
  /// The matrices named in `fields` of each structure in the cell array `variable`.
  std::vector<std::vector<Raster>> cells(const std::string& variable,
                                         const std::vector<std::string>& fields) const;

 private:
  struct Close {
    void operator()(_mat_t* file) const;
  };
  std::string path_;
  std::unique_ptr<_mat_t, Close> file_;
};

}  // namespace diacut
