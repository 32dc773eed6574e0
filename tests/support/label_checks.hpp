#pragma once

#include <cstdint>
#include <vector>

#include "diacut/labels.hpp"

namespace diacut::testing {

/// Expects what diacut::Labels promises of `labels` for an image of this size: labels 1..count in
/// scan order, each one region that is 4-connected, 0 exactly where `valid` (empty: nowhere) is 0.
void expect_labels_contract(const Labels& labels, int width, int height,
                            const std::vector<std::uint8_t>& valid = {});

}  // namespace diacut::testing
