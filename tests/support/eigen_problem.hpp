#pragma once

#include "doctor/eigen_problem.hpp"

namespace diacut::testing {

using diacut::EigenProblem;

/// A problem's matrix on a device, in DIA form.
inline NormalizedMatrix on_device(Context& context, const EigenProblem& problem) {
  return matrix_of(context, problem);
}

}  // namespace diacut::testing
