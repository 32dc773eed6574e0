#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "image/bytes.hpp"
#include "image/raster.hpp"

struct _mat_t;  // NOLINT(bugprone-reserved-identifier): matio's name.
namespace diacut {

/// Throws InputError, without the file's name, where a variable of a MATLAB file of version 4 or 5
/// announces more elements than the file has bytes for, or a matrix more than `most` elements:
/// matio takes memory for what is announced. What a compressed variable holds is decompressed piece
/// by piece, and not kept. Files of other versions are left alone.
void check_mat_sizes(Bytes file, std::uint64_t most);

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
