#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "diacut/labels.hpp"

namespace diacut {

/// A TIFF file of labels in memory: one page for each image, of signed integers of 32 bits, packed
/// by deflate with the predictor of TIFF 6.0 (horizontal differences).
class TiffLabels {
 public:
  /// `is_big`: whether the file may become larger than the 4 GiB that TIFF's offsets reach; it is a
  /// BigTIFF then.
  explicit TiffLabels(bool is_big = false);
  ~TiffLabels();
  TiffLabels(TiffLabels&&) noexcept;

  /// Adds a page. Throws InputError where libtiff refuses.
  void add(const Labels& labels);

  /// The bytes of the file. To be called once, after the last page.
  std::vector<std::uint8_t> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace diacut
