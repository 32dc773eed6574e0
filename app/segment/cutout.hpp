#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "diacut/labels.hpp"

namespace diacut::app {

/// Which regions a cut-out shows.
struct CutoutOptions {
  std::string labels;  ///< "3,17": what files call them; empty: not named.
  std::string point;   ///< "X,Y": a pixel of the only one; empty: not named.
};

/// Declares the options of CutoutOptions.
void declare_cutout(CommandLine& line, CutoutOptions& options, const char* group);

/// Throws ConfigError for texts that are none.
void check_cutout(const CutoutOptions& options);

/// The regions that a cut-out of labels shows. `names`: what files call each region, from region 1
/// on; empty: by its number. `seeded`: whether they grew from seeds. Throws InputError for
/// labels and points that are not there.
std::vector<std::int32_t> regions_to_cut_out(const CutoutOptions& options, const Labels& labels,
                                             const std::vector<std::int32_t>& names, bool seeded);

}  // namespace diacut::app
