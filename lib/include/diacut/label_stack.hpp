#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "diacut/image_file.hpp"
#include "diacut/labels.hpp"

/// @file
/// Labels of several images in one file.
namespace diacut {

/// A TIFF file in memory whose pages are the labels of one image each: signed integers of 32 bits,
/// packed by deflate, without horizontal differences, which ImageJ reads of no such file. The pages
/// may differ in size. The bytes depend on the arguments alone.
class LabelStack {
 public:
  /// Begins a file without pages.
  /// @param is_big Whether it is a BigTIFF, which may be larger than 4 GiB.
  /// @param facts Of the picture's file: the size of pixels goes into the resolution of each page,
  ///     and with the axes into the first page's description, OME-XML or ImageJ's.
  /// @param pages How many pages the file will have.
  explicit LabelStack(bool is_big = false, const PictureFacts& facts = {}, int pages = 1);
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
