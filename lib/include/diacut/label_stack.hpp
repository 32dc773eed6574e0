#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diacut/image_file.hpp"
#include "diacut/labels.hpp"

/// @file
/// Labels of several images: in one file, and with one number for what is one thing: the slices of
/// a cell, or a cell of a film.
namespace diacut {

/// A TIFF file in memory whose pages are the labels of one image each: signed integers of 32 bits,
/// packed by deflate, without horizontal differences, which ImageJ does not read. The pages may
/// differ in size. The bytes depend on the arguments alone.
class LabelStack {
 public:
  /// Begins a file of `pages` pages. `is_big`: whether it is a BigTIFF, which may be larger than 4
  /// GiB. `facts`: of the picture's file: the size of pixels goes into the resolution of each page,
  /// and with the axes into the first page's description, OME-XML or ImageJ's.
  explicit LabelStack(bool is_big = false, const PictureFacts& facts = {}, int pages = 1);
  ~LabelStack();
  LabelStack(LabelStack&& other) noexcept;  ///< Leaves `other` fit for destruction only.

  /// Adds a page. The labels are copied. Throws InputError when they cannot be encoded.
  void add(const Labels& labels);
  /// Ends the file, once, after the last page. Throws InputError when it cannot be encoded.
  std::vector<std::uint8_t> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Gives the regions of page after page their numbers. A region continues one of the page before
/// where both overlap by the least share or more (intersection over union): of all such pairs those
/// of the largest overlaps, one to one. Other regions get new numbers.
class PageLinker {
 public:
  /// `least`: that share, above 0 and up to 1.
  explicit PageLinker(double least);

  /// Links the next page. `notes` gets sentences for a person: which regions split and which merge
  /// (more than half of the smaller one lies in the larger one, but only one number goes on), and
  /// that none goes on. Returns the number of each region, from region 1 on. Throws InputError
  /// where the page has another size than the one before.
  std::vector<std::int32_t> link(const Labels& labels, std::vector<std::string>& notes);

 private:
  double least_;
  std::int32_t newest_ = 0;
  Labels before_;
  std::vector<std::int32_t> numbers_;  ///< Of the regions of before_.
};

}  // namespace diacut
