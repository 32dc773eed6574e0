#include "pipeline/kernel_requests.hpp"

#include "affinity/affinity.hpp"
#include "affinity/feature_affinity.hpp"
#include "contour/boundary_orientation.hpp"
#include "contour/combined_contour.hpp"

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
  request_contour_kernels(context, needs_matrix(parameters));
  request_orientation_kernels(context);
}

}  // namespace diacut
