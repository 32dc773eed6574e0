#include "contour/combined_contour.hpp"

#include <algorithm>
#include <cmath>

namespace diacut {

std::vector<float> combined_contour(const std::vector<float>& cue,
                                    const std::vector<float>& spectral,
                                    const ContourParameters& parameters) {
  std::vector<float> result(cue.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double shape =
        std::pow(std::min(spectral[i] / parameters.spectral_scale, 1.0), parameters.spectral_power);
    result[i] = static_cast<float>(
        std::min(parameters.cue_weight * cue[i] + parameters.spectral_weight * shape, 1.0));
  }
  return result;
}

}  // namespace diacut
