#include "driver_cache.hpp"

#include <elf.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "kernel_cache.hpp"

namespace diacut::app {

namespace {

namespace fs = std::filesystem;

/// Whether the file is a whole library of 64 bits: its last part, the table of its sections, is in
/// it.
bool is_whole_library(std::ifstream& file, std::uintmax_t size) {
  Elf64_Ehdr head = {};
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head)) return false;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (head.e_ident[EI_CLASS] != ELFCLASS64) return true;
  return head.e_shoff + std::uintmax_t{head.e_shnum} * head.e_shentsize <= size;
}

bool is_bitcode(std::ifstream& file) {
  constexpr std::array<unsigned char, 4> kMagic = {'B', 'C', 0xc0, 0xde};
  std::array<unsigned char, kMagic.size()> head = {};
  return file.read(reinterpret_cast<char*>(head.data()), head.size()) && head == kMagic;
}

bool is_damaged(const fs::path& path, std::uintmax_t size) {
  const std::string extension = path.extension().string();
  if (extension != ".so" && extension != ".bc") return false;
  std::ifstream file(path, std::ios::binary);
  if (!file) return true;
  return extension == ".so" ? !is_whole_library(file, size) : !is_bitcode(file);
}

DriverCache examined(std::string driver, const fs::path& folder) {
  DriverCache cache;
  cache.driver = std::move(driver);
  cache.folder = folder.string();
  cache.usable = is_usable_kernel_folder(folder);
  std::error_code error;
  cache.exists = fs::is_directory(folder, error);
  if (!cache.exists) return cache;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator each(folder, options, error), end; each != end && !error;
       each.increment(error)) {
    std::error_code gone;  // Other processes may remove files meanwhile.
    if (!each->is_regular_file(gone)) continue;
    const std::uintmax_t size = each->file_size(gone);
    if (gone) continue;
    ++cache.files;
    cache.bytes += size;
    if (is_damaged(each->path(), size)) cache.damaged.push_back(each->path().string());
  }
  return cache;
}

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string() : value;
}

/// By the driver's own rules; empty where there is none.
fs::path nvidia_folder() {
  if (environment("CUDA_CACHE_DISABLE") == "1") return {};
  const std::string named = environment("CUDA_CACHE_PATH");
  if (!named.empty()) return named;
  const std::string home = environment("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".nv/ComputeCache";
}

}  // namespace

std::vector<DriverCache> driver_caches() {
  std::vector<DriverCache> caches = {examined("PoCL", kernel_folder())};
  const fs::path nvidia = nvidia_folder();
  std::error_code error;
  if (!nvidia.empty() && fs::is_directory(nvidia, error)) {
    caches.push_back(examined("NVIDIA", nvidia));
  }
  return caches;
}

}  // namespace diacut::app
