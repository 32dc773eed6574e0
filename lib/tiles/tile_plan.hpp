#pragma once

#include <string>

#include "diacut/tiles.hpp"
#include "region/tiling.hpp"

namespace diacut {

/// The plan as the text of its file.
std::string plan_text(const TilePlan& plan);

/// Where the files of a plan's tiles are: the folder of the plan's file.
std::string folder_of(const std::string& plan_path);

inline Tiling tiling_of(const TilePlan& plan) { return {plan.width, plan.height, plan.tile_size}; }

/// Throws InputError where the picture's file has changed since the plan was made.
void check_source(const TilePlan& plan);

}  // namespace diacut
