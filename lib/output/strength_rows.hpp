#pragma once

#include <memory>
#include <span>
#include <string>

#include "output/atomic_file.hpp"
#include "output/png.hpp"

namespace diacut {

/// A map of boundary strength that is written row by row, from the top: the bytes of
/// write_contours(). Errors are InputError and name the path, or ConfigError for its extension.
class StrengthRows {
 public:
  StrengthRows(const std::string& path, int width, int height);

  /// Writes whole rows.
  void write(std::span<const float> rows);
  /// Puts the file in its place. To be called after the last row.
  void commit() { file_.commit(); }

 private:
  std::unique_ptr<PngRows> png_;  ///< Null: .npy.
  AtomicFile file_;
};

}  // namespace diacut
