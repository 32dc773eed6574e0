#pragma once

#include <cstddef>
#include <vector>

#include "opencl/context.hpp"
#include "spmv/format_profile.hpp"

namespace diacut::bench {

/// Measures these implementations on matrices of at most `most_elements` elements; the rate of a
/// copy is left to the caller. Prints each size, and what cannot be measured and why.
FormatProfile tune_formats(Context& context, const std::vector<Implementation>& implementations,
                           std::size_t most_elements, int repeats);

}  // namespace diacut::bench
