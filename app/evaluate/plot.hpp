#pragma once

#include <cstdint>
#include <vector>

#include "evaluate/boundary_score.hpp"

namespace diacut::app {

/// Precision against recall as a PNG: the curve of all thresholds, a dot at the best F, and lines
/// of equal F behind them.
std::vector<std::uint8_t> draw_curve(const BoundarySummary& summary);

}  // namespace diacut::app
