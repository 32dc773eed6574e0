#include "contour/combined_contour.hpp"

#include <algorithm>
#include <cmath>

#include "contour/cue_contour.hpp"
#include "contour/reference_spectral_contour.hpp"
#include "contour/spectral_contour.hpp"

namespace diacut {

namespace {

constexpr char kContours[] = "contours";

ContourShares shares(const ContourParameters& parameters) {
  return {parameters.cue_weight, parameters.spectral_weight, parameters.spectral_scale,
          parameters.spectral_power};
}

}  // namespace

void budget_contour(MemoryBudget& budget, const Grid& grid, int vectors) {
  const int nontrivial = std::max(vectors - 1, 0);
  budget.add("eigenvectors with a border", SpectralContour::planes_memory(grid, nontrivial));
  budget.add("scales of eigenvectors", SpectralContour::scales_memory(nontrivial));
  budget.add(kContours, grid.rows() * sizeof(float));
}

void request_contour_kernels(Context& context, bool spectral) {
  if (spectral) {
    SpectralContour::request(context);
  } else {
    request_cue_contour(context);
  }
}

Buffer<float> combined_contour(Context& context, const Grid& grid,
                               const DeviceEigenvectors& eigenvectors,
                               const Buffer<float>& sqrt_degree, const Buffer<float>& boundary,
                               const ContourParameters& parameters) {
  const int count = eigenvectors.count - 1;  // Without the trivial eigenvector.
  std::vector<float> weights;
  for (auto value = eigenvectors.values.begin() + 1; value != eigenvectors.values.end(); ++value) {
    weights.push_back(static_cast<float>(spectral_weight(*value)));
  }
  SpectralContour kernels(context, grid, count);
  auto contour = context.allocate<float>(grid.rows(), kContours);
  kernels.launch({eigenvectors.basis, eigenvectors.pitch, eigenvectors.pitch, count}, sqrt_degree,
                 weights, boundary, shares(parameters), contour);
  return contour;
}

Buffer<float> cue_contour(Context& context, const Grid& grid, const Buffer<float>& boundary,
                          const ContourParameters& parameters) {
  auto contour = context.allocate<float>(grid.rows(), kContours);
  launch_cue_contour(context, boundary, grid.rows(), static_cast<float>(parameters.cue_weight),
                     contour);
  return contour;
}

std::vector<double> reference_combined_contour(const std::vector<float>& boundary,
                                               const std::vector<double>& spectral,
                                               const ContourParameters& parameters) {
  std::vector<double> result(boundary.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double shape =
        std::pow(std::min(spectral[i] / parameters.spectral_scale, 1.0), parameters.spectral_power);
    result[i] =
        std::min(parameters.cue_weight * boundary[i] + parameters.spectral_weight * shape, 1.0);
  }
  return result;
}

}  // namespace diacut
