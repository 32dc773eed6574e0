#pragma once

#include "eigen/lanczos/lanczos.hpp"

namespace diacut {

/// Spectra's implicitly restarted Lanczos (SymEigsSolver) in double on the host, driving the
/// product on the device: the yardstick for our own solvers. `op` multiplies by `matrix`, which is
/// of one image; `elements` of its elements have data. Throws DeviceError, CancelledError.
KrylovResult spectra_lanczos(Context& context, DeviceOperator& op, const NormalizedMatrix& matrix,
                             std::size_t elements, const EigenParameters& parameters,
                             const Watch& watch);

}  // namespace diacut
