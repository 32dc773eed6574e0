#pragma once

#include <cstdint>
#include <vector>

#include "diacut/eigenvectors.hpp"

namespace diacut {

/// k-way discretisation (Yu and Shi 2003): the rotation of the first k eigenvectors, rows scaled to
/// unit length, that is nearest to an indicator matrix. Returns the class of each pixel,
/// 1 to k, or 0 without data. A class need not be connected and may be empty. Deterministic.
std::vector<std::int32_t> discretise(const Eigenvectors& eigenvectors, int k);

}  // namespace diacut
