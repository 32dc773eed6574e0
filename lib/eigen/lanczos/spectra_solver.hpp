#pragma once

#include "eigen/lanczos/lanczos.hpp"

namespace diacut {

/// Spectra's implicitly restarted Lanczos (SymEigsSolver) in double on the host, driving the
/// product on the device: the yardstick for our own solver. `sqrt_degree` on the host, op.rows()
/// elements.
KrylovResult spectra_lanczos(Context& context, DeviceOperator& op,
                             const std::vector<float>& sqrt_degree, std::size_t support,
                             std::size_t pitch, const EigenParameters& parameters,
                             const Watch& watch);

}  // namespace diacut
