#pragma once

#include <string_view>
#include <vector>

#include "doctor/trial.hpp"

namespace diacut {

/// A known answer that a device is held to.
struct DeviceCheck {
  std::string_view name;  ///< What is computed, for a person.
  void (*run)(Trial&);    ///< Throws WrongAnswer, and what the computation throws.
  bool quick = false;     ///< Whether it belongs to the quick part, which runs before many images.
};

/// The checks of each stage, from single kernels to the stage as a whole.
std::vector<DeviceCheck> contents_checks();
std::vector<DeviceCheck> gradient_checks();
std::vector<DeviceCheck> network_checks();
std::vector<DeviceCheck> affinity_checks();
std::vector<DeviceCheck> product_checks();
std::vector<DeviceCheck> block_product_checks();
std::vector<DeviceCheck> lobpcg_checks();
std::vector<DeviceCheck> multilevel_checks();
std::vector<DeviceCheck> lanczos_checks();
std::vector<DeviceCheck> decimation_checks();
std::vector<DeviceCheck> contour_checks();
std::vector<DeviceCheck> region_checks();
std::vector<DeviceCheck> walker_checks();
std::vector<DeviceCheck> graph_checks();
std::vector<DeviceCheck> solver_checks();

/// All of them, in the order of the stages.
const std::vector<DeviceCheck>& device_checks();

}  // namespace diacut
