#pragma once

#include <cstdint>
#include <span>

#include "arrays.hpp"
#include "diacut/seeds.hpp"

namespace diacut::python {

/// Seeds with the labels of an array.
inline Seeds seeds_of(const Plane<std::int32_t>& plane) {
  const std::span<const std::int32_t> labels = span_of(plane);
  return {static_cast<int>(plane.shape(1)),
          static_cast<int>(plane.shape(0)),
          {labels.begin(), labels.end()}};
}

}  // namespace diacut::python
