#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace diacut::app {

/// Where a driver keeps the kernels that it compiled, and in what state that is.
struct DriverCache {
  std::string driver;  ///< "PoCL", "NVIDIA".
  std::string folder;
  bool exists = false;
  bool usable = false;  ///< Whether files can be made there and, for PoCL, libraries be loaded.
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> damaged;  ///< Files of PoCL that are cut off or not what they should be.
};

/// The caches of the drivers that are known to have one: PoCL's always, NVIDIA's where there is
/// one. Reads the heads of files alone.
std::vector<DriverCache> driver_caches();

}  // namespace diacut::app
