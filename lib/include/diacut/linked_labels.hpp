#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/labels.hpp"

/// @file
/// Regions of the pages of a stack that are one thing: the slices of a cell, or a cell of a film.
namespace diacut {

/// Gives the regions of page after page their numbers. A region continues one of the page before
/// where both overlap by the least share or more (intersection over union): of all such pairs those
/// of the largest overlaps, one to one. Other regions get new numbers.
class PageLinker {
 public:
  /// @param least The least overlap, above 0 and up to 1.
  explicit PageLinker(double least);

  /// Links the next page.
  /// @param labels Its regions.
  /// @param[in,out] notes Gets sentences for a person: which regions split and which merge (more
  ///     than half of the smaller one lies in the larger one, but only one number goes on), and
  ///     that none goes on.
  /// @return The number of each region, from region 1 on.
  /// @throws InputError where the page has another size than the one before.
  std::vector<std::int32_t> link(const Labels& labels, std::vector<std::string>& notes);

 private:
  double least_;
  std::int32_t newest_ = 0;
  Labels before_;
  std::vector<std::int32_t> numbers_;  ///< Of the regions of before_.
};

}  // namespace diacut
