#include "doctor/checks.hpp"

namespace diacut {

const std::vector<DeviceCheck>& device_checks() {
  static const std::vector<DeviceCheck> checks = [] {
    std::vector<DeviceCheck> all;
    for (const auto& of_stage :
         {contents_checks(), gradient_checks(), network_checks(), affinity_checks(),
          product_checks(), block_product_checks(), lobpcg_checks(), multilevel_checks(),
          lanczos_checks(), solver_checks(), decimation_checks(), contour_checks(), region_checks(),
          walker_checks(), graph_checks()}) {
      all.insert(all.end(), of_stage.begin(), of_stage.end());
    }
    return all;
  }();
  return checks;
}

}  // namespace diacut
