#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/labels.hpp"

namespace diacut::testing {

/// Expects what diacut::Labels promises of `labels` for an image of this size: labels 1..count in
/// scan order, each one region that is 4-connected, 0 exactly where `valid` (empty: nowhere) is 0.
void expect_labels_contract(const Labels& labels, int width, int height,
                            const std::vector<std::uint8_t>& valid = {});

/// Labels from rows of letters: A is label 1, B label 2, and so on; a space is 0. The greatest of
/// them is the count.
Labels drawn_labels(const std::vector<std::string>& rows);

/// The reverse: rows of letters, with `none` for 0.
std::vector<std::string> letters(int width, const std::vector<std::int32_t>& labels,
                                 char none = ' ');
inline std::vector<std::string> letters(const Labels& labels, char none = ' ') {
  return letters(labels.width, labels.values, none);
}

/// B and C are the halves of a rectangle on the ground A, D is an angle on it.
Hierarchy rectangle_and_angle();

}  // namespace diacut::testing
