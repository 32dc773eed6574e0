#pragma once

#include "opencl/context.hpp"
#include "pipeline/pipeline_budget.hpp"

namespace diacut {

/// Whether a run needs the matrix: for eigenvectors, or for a random walk.
bool needs_matrix(const RunParameters& parameters);

/// Asks for kernels of stages after that of the boundary maps, so that one program has them all
/// (opencl/kernel.hpp). Direct cuts need no contours, but a program that drivers have kept for
/// other runs.
void request_later_kernels(Context& context, const RunParameters& parameters);

}  // namespace diacut
