// Boundary maps from the gradient.
#include <limits>

#include "boundary/boundary.hpp"
#include "boundary/gradient/gradient.hpp"
#include "boundary/gradient/reference_gradient.hpp"
#include "doctor/checks.hpp"
#include "doctor/drawn_scene.hpp"
#include "doctor/stage_checks.hpp"

namespace diacut {

void check_gradient(Trial& trial, const CueParameters& parameters) {
  Image image = drawn_scene(67, 41);
  image.valid.assign(image.pixel_count(), 1);
  for (std::size_t i = 0; i < image.pixel_count(); i += i < 1000 ? 1 : 7) {
    if (i >= 300 && i < 600) continue;
    image.valid[i] = 0;
    for (std::size_t c = 0; c < 3; ++c) image.pixels[3 * i + c] = 0;
  }
  const Grid grid{image.width, image.height, image.width};
  const BoundaryMap map = boundary_map(trial.context(), image, grid, parameters);
  // A derivative sums 2 (radius + 1) terms, and a few more roundings make it a value of the map.
  // Suppression multiplies an error by at most 1 / softness, once for each of the two magnitudes
  // that it compares.
  const double roundings = 2 * gradient_weights(parameters.sigma).radius() + 10;
  trial.expect_near("boundary strength", map.values.download(),
                    reference_gradient(image, parameters),
                    roundings * Trial::kEps * (parameters.thin ? 2 / kRidgeSoftness : 1));
}

namespace {

void check_gradient(Trial& trial, bool thin) {
  CueParameters parameters;
  parameters.kind = CueKind::kGradient;
  parameters.thin = thin;
  check_gradient(trial, parameters);
}

void gradient(Trial& trial) { check_gradient(trial, false); }
void thinned_gradient(Trial& trial) { check_gradient(trial, true); }

}  // namespace

std::vector<DeviceCheck> gradient_checks() {
  return {{"boundary map from the gradient", gradient},
          {"boundary map from the gradient, thinned", thinned_gradient}};
}

}  // namespace diacut
