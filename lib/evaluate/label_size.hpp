#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "diacut/errors.hpp"

namespace diacut {

/// Throws InputError unless a label image has one value for each of width x height pixels, of which
/// there is at least one.
inline void check_label_size(std::span<const std::int32_t> labels, int width, int height) {
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (width > 0 && height > 0 && labels.size() == pixels) return;
  throw InputError(
      fmt::format("a label image holds {} values, expected {} x {}: one for each pixel",
                  labels.size(), width, height));
}

}  // namespace diacut
