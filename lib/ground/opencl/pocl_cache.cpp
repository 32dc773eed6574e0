#include "opencl/pocl_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace diacut {

namespace {

namespace fs = std::filesystem;

/// Less free space than a program's kernels take.
constexpr std::uint64_t kFullDisk = std::uint64_t{1} << 20;

std::string variable_text(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string() : value;
}

/// `folder`, or the nearest one above it that exists.
fs::path existing(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

/// Where PoCL stores kernels if the environment does not name a folder, by its own rules.
fs::path default_folder() {
  const std::string cache = variable_text("XDG_CACHE_HOME");
  if (!cache.empty()) return fs::path(cache) / "pocl/kcache";
  const std::string home = variable_text("HOME");
  if (!home.empty()) return fs::path(home) / ".cache/pocl/kcache";
  return "/tmp/pocl/kcache";
}

}  // namespace

fs::path pocl_cache_folder() {
  const std::string named = variable_text("POCL_CACHE_DIR");
  return named.empty() ? default_folder() : fs::path(named);
}

bool is_usable_cache(fs::path folder) {
  folder = existing(folder);
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return false;
  struct statvfs system = {};
  return statvfs(folder.c_str(), &system) != 0 || (system.f_flag & ST_NOEXEC) == 0;
}

std::string pocl_cache_fault() {
  const fs::path folder = pocl_cache_folder();
  if (!is_usable_cache(folder)) {
    return fmt::format(
        "PoCL, the OpenCL driver for CPUs, cannot store its kernels in '{}': set POCL_CACHE_DIR to "
        "a folder that can be written and programs can be run from",
        folder.string());
  }
  std::error_code error;
  const fs::space_info space = fs::space(existing(folder), error);
  if (error || space.available >= kFullDisk) return {};
  return fmt::format(
      "the disk of '{}' is full, where PoCL, the OpenCL driver for CPUs, stores its kernels: free "
      "some of it, or set POCL_CACHE_DIR to a folder on another one",
      folder.string());
}

}  // namespace diacut
