#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image_file.hpp"
#include "diacut/labels.hpp"

/// @file
/// Labels of several images in one file, and one number for the regions of one thing: a cell in
/// several slices or frames.
namespace diacut {

/// A TIFF file in memory whose pages are the labels of one image each: signed integers of 32 bits,
/// packed by deflate, without horizontal differences, which ImageJ does not read. The pages may
/// differ in size. The bytes depend on the arguments alone.
class LabelStack {
 public:
  /// Begins a file. `is_big`: whether it is a BigTIFF, which may be larger than 4 GiB.
  explicit LabelStack(bool is_big = false);
  ~LabelStack();
  LabelStack(LabelStack&& other) noexcept;  ///< Leaves `other` fit for destruction only.

  /// Adds a page. The labels are copied. `facts`: of the picture's page: the size of pixels goes
  /// into the resolution of the page, and with the place into the file's description: ImageJ's, or
  /// OME-XML where the picture's is, planes are missing, or there are several images. Throws
  /// InputError when they cannot be encoded.
  void add(const Labels& labels, const PictureFacts& facts = PictureFacts());
  /// Ends the file, once, after the last page. Throws InputError when it cannot be encoded.
  std::vector<std::uint8_t> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What PageLinker has found so far.
struct LinkedThings {
  std::int64_t objects = 0;  ///< Numbers in use.
  std::int64_t splits = 0;   ///< Regions that split.
  std::int64_t merges = 0;   ///< Regions into which others merge.
};

/// Numbers the regions of page after page. A region continues a region of the previous page if both
/// overlap by the least share or more (intersection over union); pairs are matched one to one, the
/// largest overlaps first. Regions without a match are matched in the same way with regions that
/// ended one page earlier. The rest get new numbers.
class PageLinker {
 public:
  using Series = std::pair<int, int>;  ///< An image and a time.

  /// `least`: the least share, above 0, at most 1.
  explicit PageLinker(double least);

  /// Links the next page of a series, such as the slices of one time; series are independent.
  /// `notes` gets sentences for the user: which regions split and which merge (more than half of
  /// the smaller one lies in the larger one, but only one keeps the number), or that no number
  /// continues. Returns the number of each region, from region 1 on. Throws InputError where the
  /// page has another size than the one before.
  std::vector<std::int32_t> link(const Labels& labels, std::vector<std::string>& notes,
                                 Series series = {});
  /// Moves the pages of a series that it holds to where their regions are on the next page, for
  /// films in which things move far. Call it before link(). `flow`: for each pixel of the next
  /// page, x and y of the displacement to the same thing on the previous page, pixels, as a dense
  /// optical flow from the next picture to the previous one gives it. What comes from outside
  /// overlaps nothing. Throws InputError when the pages have another size.
  void displace(std::span<const float> flow, Series series = {});
  /// Frees the memory of a series that has no further page.
  void end(Series series) { pages_.erase(series); }
  /// Counts of all pages so far.
  const LinkedThings& found() const { return found_; }

 private:
  /// A page that was linked.
  struct Page {
    Labels labels;
    std::vector<std::int32_t> numbers;  ///< Of its regions.
  };
  /// Lets regions of `now` without a number continue those of `before` that are not in `taken`.
  void match(const Page& before, const std::vector<std::int32_t>& taken, Page& now) const;

  double least_;
  LinkedThings found_;
  std::map<Series, std::vector<Page>> pages_;  ///< The last two of each series.
};

}  // namespace diacut
