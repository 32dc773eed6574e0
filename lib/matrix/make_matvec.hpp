#pragma once

#include <memory>

#include "matrix/matvec.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/operator.hpp"

namespace diacut {

/// The product of a normalized affinity matrix with single vectors. A matrix in DIA form is
/// multiplied by the kernel that `choice` names; for MatvecKind::kSymmetric the operator makes, and
/// owns, a compressed copy of it (compress()). A matrix in compressed form is multiplied as it is,
/// whatever `choice` says. The matrix must outlive the operator. Builds the kernels of a matrix in
/// DIA form at once, so that failures show here. Throws DeviceError.
std::unique_ptr<DeviceOperator> make_matvec(Context& context, const NormalizedMatrix& matrix,
                                            const MatvecChoice& choice);

}  // namespace diacut
