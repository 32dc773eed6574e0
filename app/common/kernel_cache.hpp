#pragma once

#include <filesystem>

#include "console.hpp"

namespace diacut::app {

/// A place for the kernels that PoCL compiles, for users whose home cannot be written (a container,
/// a service). PoCL, the OpenCL driver for CPUs, stores each compiled kernel in a file and offers
/// no device where it cannot: then, and if the environment does not name a folder, this object
/// makes a temporary folder, names it in POCL_CACHE_DIR, and removes it when it is destroyed.
///
/// Create it before the first call of OpenCL and while the process has one thread, as it may change
/// the environment. It reports to the console with --verbose what it did, and as a note if no
/// folder can be had.
class KernelCache {
 public:
  explicit KernelCache(Console& console);
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;
  ~KernelCache();

 private:
  std::filesystem::path
      folder_;  ///< The temporary folder; empty: none was needed or could be made.
};

}  // namespace diacut::app
