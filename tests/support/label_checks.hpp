#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/labels.hpp"

namespace diacut::testing {

/// Expects what diacut::Labels promises of `labels` for an image of this size: labels 1..count in
/// scan order, each one region that is 4-connected, 0 exactly where `valid` (empty: nowhere) is 0.
void expect_labels_contract(const Labels& labels, int width, int height,
                            const std::vector<std::uint8_t>& valid = {});

/// Labels from rows of letters: A is label 1, B label 2, and so on; a space is 0. The greatest of
/// them is the count.
Labels drawn_labels(const std::vector<std::string>& rows);

}  // namespace diacut::testing
