#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "diacut/labels.hpp"

/// @file
/// Labels of several images in one file.
namespace diacut {

/// A TIFF file in memory whose pages are the labels of one image each: signed integers of 32 bits,
/// packed by deflate with horizontal differences (TIFF 6.0, section 14). The pages may differ in
/// size. The bytes depend on the labels alone.
class LabelStack {
 public:
  /// Begins a file without pages.
  /// @param is_big Whether it is a BigTIFF, which may be larger than 4 GiB.
  explicit LabelStack(bool is_big = false);
  ~LabelStack();
  LabelStack(LabelStack&& other) noexcept;  ///< Leaves `other` fit for destruction only.

  /// Adds a page.
  /// @param labels The labels; they are copied.
  /// @throws InputError when they cannot be encoded.
  void add(const Labels& labels);

  /// Ends the file. To be called once, after the last page.
  /// @return The bytes of the file.
  /// @throws InputError when it cannot be encoded.
  std::vector<std::uint8_t> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace diacut
