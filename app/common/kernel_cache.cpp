#include "kernel_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>

namespace diacut::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "POCL_CACHE_DIR";

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string() : value;
}

/// Where PoCL stores kernels by default, by its own rules.
fs::path default_folder() {
  const std::string cache = environment("XDG_CACHE_HOME");
  if (!cache.empty()) return fs::path(cache) / "pocl/kcache";
  const std::string home = environment("HOME");
  if (!home.empty()) return fs::path(home) / ".cache/pocl/kcache";
  return "/tmp/pocl/kcache";
}

/// A new folder that nobody else can read or write; empty if there is no place for one.
fs::path make_folder() {
  for (const std::string& parent : {environment("TMPDIR"), std::string("/tmp"),
                                    std::string("/var/tmp"), std::string("/dev/shm")}) {
    if (parent.empty() || !is_usable_cache(parent)) continue;
    std::string name = (fs::path(parent) / "diacut-kernels-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) return name;
  }
  return {};
}

}  // namespace

fs::path pocl_cache_folder() {
  const std::string named = environment(kVariable);
  return named.empty() ? default_folder() : fs::path(named);
}

bool is_usable_cache(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, error)) return false;
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return false;
  struct statvfs system = {};
  return statvfs(folder.c_str(), &system) != 0 || (system.f_flag & ST_NOEXEC) == 0;
}

KernelCache::KernelCache(Console& console) {
  const fs::path usual = default_folder();
  if (!environment(kVariable).empty() || is_usable_cache(usual)) return;
  folder_ = make_folder();
  if (folder_.empty()) {
    console.note(
        fmt::format("PoCL, the OpenCL driver for CPUs, cannot store its kernels in '{}' nor in a "
                    "temporary folder, and may therefore offer no device; set {} or TMPDIR to a "
                    "folder that can be written and programs can be run from",
                    usual.string(), kVariable));
    return;
  }
  setenv(kVariable, folder_.c_str(), 1);
  console.detail(fmt::format("'{}' cannot be written: kernels are stored in '{}' until the end",
                             usual.string(), folder_.string()));
}

KernelCache::~KernelCache() {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  unsetenv(kVariable);
}

}  // namespace diacut::app
