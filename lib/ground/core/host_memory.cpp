#include "core/host_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "diacut/memory.hpp"

namespace diacut {
namespace {

/// A file of the kernel, whose reading throws where memory is short: else a failed allocation would
/// count as the end of the file.
std::ifstream opened(const char* path) {
  std::ifstream file(path);
  file.exceptions(std::ios::badbit);
  return file;
}

/// The number that a file of the kernel begins with; nothing where it begins with a word ("max") or
/// is not there.
std::optional<std::uint64_t> number_at(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// The sum of free memory, memory that can be freed, and free swap.
std::uint64_t free_on_machine() {
  std::ifstream file = opened("/proc/meminfo");
  std::uint64_t free = 0;
  std::string name;
  std::uint64_t kibibytes = 0;
  for (std::string unit; file >> name >> kibibytes; std::getline(file, unit)) {
    if (name == "MemAvailable:" || name == "SwapFree:") free += kibibytes * 1024;
  }
  return free;
}

/// What the control group of a container may hold beyond what it holds, of which file caches can be
/// freed; nothing without a limit.
std::optional<std::uint64_t> free_in_group() {
  const auto limit = number_at("/sys/fs/cgroup/memory.max");
  const auto held = number_at("/sys/fs/cgroup/memory.current");
  if (!limit || !held) return std::nullopt;
  std::ifstream file = opened("/sys/fs/cgroup/memory.stat");
  std::uint64_t cached = 0;
  std::string name;
  std::uint64_t bytes = 0;
  while (file >> name >> bytes) {
    if (name == "inactive_file" || name == "active_file") cached += bytes;
  }
  const std::uint64_t taken = *held - std::min(*held, cached);
  return *limit - std::min(*limit, taken);
}

/// What the process has of memory, bytes; 0 where the system does not report it.
struct Held {
  std::uint64_t addresses = 0;
  std::uint64_t resident = 0;
};

Held held_by_process() {
  std::ifstream file("/proc/self/statm");
  Held held;
  if (!(file >> held.addresses >> held.resident)) return {};
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {held.addresses * page, held.resident * page};
}

/// The addresses that are left to the process; nothing without a limit.
std::optional<std::uint64_t> free_addresses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::uint64_t most = limit.rlim_cur;
  return most - std::min(most, held_by_process().addresses);
}

}  // namespace

std::uint64_t host_memory_held() { return held_by_process().resident; }

std::uint64_t host_memory_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB.
}

std::uint64_t host_memory_available() {
  std::uint64_t free = free_on_machine();
  if (free == 0) return 0;
  if (const auto in_group = free_in_group()) free = std::min(free, *in_group);
  if (const auto addresses = free_addresses()) free = std::min(free, *addresses);
  return free + host_memory_held();
}

}  // namespace diacut
