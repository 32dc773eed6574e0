#include "pipeline/kernel_requests.hpp"

#include "affinity/affinity.hpp"
#include "affinity/feature_affinity.hpp"
#include "affinity/kept_affinity.hpp"
#include "contour/boundary_orientation.hpp"
#include "contour/combined_contour.hpp"
#include "eigen/decimation/decimation.hpp"
#include "pipeline/pipeline_budget.hpp"

namespace diacut {

bool needs_matrix(const RunParameters& parameters) {
  return !makes_hierarchy(parameters) || needs_eigenvectors(parameters);
}

void request_later_kernels(Context& context, const RunParameters& parameters) {
  if (parameters.has_features()) {
    request_feature_kernels(context, parameters.affinity, parameters.feature_channels);
  } else if (needs_matrix(parameters)) {
    request_affinity_kernels(context, parameters.affinity);
  }
  if (decimates(parameters)) {
    request_kept_affinity(context, parameters.affinity);
    Decimation::request(context, parameters.affinity.radius);
  }
  request_contour_kernels(context, parameters.contour.spectral != SpectralUse::kNever);
  request_orientation_kernels(context);
}

}  // namespace diacut
