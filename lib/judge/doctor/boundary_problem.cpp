#include "doctor/boundary_problem.hpp"

#include <span>

namespace diacut {

BoundaryProblem::BoundaryProblem(const Grid& of, const std::vector<float>& drawn)
    : grid(of), valid(of.rows(), 1) {
  for (const float each : drawn) strength.push_back(each > 0.9F ? each : 0.2F * each * each);
}

void BoundaryProblem::hide(std::size_t element) {
  strength[element] = 0;
  valid[element] = 0;
}

DeviceBoundary BoundaryProblem::on_device(Context& context) const {
  DeviceBoundary map;
  map.grid = grid;
  map.values = context.allocate<float>(strength.size(), "strength");
  map.values.upload(strength);
  map.valid = context.allocate<std::uint8_t>(valid.size(), "valid");
  map.valid.upload(valid);
  return map;
}

FeatureSource FeatureProblem::source() const {
  return {channels, [this](int first, int count, std::size_t pitch, std::size_t offset,
                           Buffer<float>& block) {
            for (int c = 0; c < count; ++c) {
              block.upload(std::span(features).subspan((first + c) * grid.rows(), grid.rows()),
                           c * pitch + offset);
            }
          }};
}

}  // namespace diacut
