#include "kernel_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "opencl/pocl_cache.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "POCL_CACHE_DIR";

/// A new folder that nobody else can read or write; empty if there is no place for one.
fs::path make_folder() {
  for (const std::string& parent :
       {environment_variable("TMPDIR").value_or(""), std::string("/tmp"), std::string("/var/tmp"),
        std::string("/dev/shm")}) {
    if (parent.empty() || !is_usable_cache(parent)) continue;
    std::string name = (fs::path(parent) / "diacut-kernels-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) return name;
  }
  return {};
}

}  // namespace

KernelCache::KernelCache(Console& console) {
  const std::string fault = pocl_cache_fault();
  if (fault.empty()) return;
  if (!environment_variable(kVariable).value_or("").empty()) {
    // An unusable folder is named by the error of the device; of a full disk PoCL's compiler ends
    // the program.
    if (is_usable_cache(pocl_cache_folder())) console.note(fault);
    return;
  }
  folder_ = make_folder();
  if (folder_.empty()) {
    console.note(fault + ". A temporary folder (TMPDIR) cannot be had either");
    return;
  }
  setenv(kVariable, folder_.c_str(), 1);
  console.detail(
      fmt::format("{}. Until the end, kernels are stored in '{}'", fault, folder_.string()));
}

KernelCache::~KernelCache() {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  unsetenv(kVariable);
}

}  // namespace diacut::app
