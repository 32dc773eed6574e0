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

/// Expects that both are equal in all that they hold.
void expect_same(const Hierarchy& found, const Hierarchy& expected);
void expect_same(const std::vector<Merge>& found, const std::vector<Merge>& expected);

/// Labels from rows of letters or digits: A, a and 1 are label 1, B, b and 2 label 2, and so on; a
/// space, a dot and 0 are 0. The greatest of them is the count.
Labels drawn_labels(const std::vector<std::string>& rows);
/// Such numbers as multiples of a unit.
std::vector<float> drawn_numbers(const std::vector<std::string>& rows, float unit);

/// B and C are the halves of a rectangle on the ground A, D is an angle on it.
Hierarchy rectangle_and_angle();

/// A tree whose leaves are single pixels, which join the first one after the other.
Hierarchy tree_of_pixels(int width, int height);

/// Rows that drawn_labels() takes: what stands for label 1, and for 0.
std::vector<std::string> letters(const Labels& labels, char one = 'A', char zero = ' ');

}  // namespace diacut::testing
