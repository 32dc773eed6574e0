#include "device_line.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace diacut::app {

namespace {

/// "1500M" in bytes; nothing if it is no size of at least one byte.
std::optional<std::uint64_t> memory_size(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  constexpr std::string_view kUnits = "KMG";
  int shift = 0;
  if (!unit.empty()) {
    const std::size_t at = unit.size() == 1 ? kUnits.find(unit[0]) : std::string_view::npos;
    shift = at == std::string_view::npos ? -1 : 10 * (static_cast<int>(at) + 1);
  }
  if (code != std::errc() || number == 0 || shift < 0 || number > (UINT64_MAX >> shift)) {
    return std::nullopt;
  }
  return number << shift;
}

}  // namespace

void DeviceLine::declare(CommandLine& line, DeviceOptions& options, const std::string& beyond) {
  line.option("--device", options.device, "SPEC", kDeviceGroup,
              "The device: gpu, cpu, gpu:1 for the second GPU, an index such as 0:1, part of a "
              "name, or auto for the one that a job was given (default: DIACUT_DEVICE, else the "
              "first GPU, else the CPU)");
  declare_memory(line, kDeviceGroup, "of the device's memory", beyond);
  line.option("--kernel-dir", options.kernel_dir, "DIR", kDeviceGroup,
              "Read the kernels from this folder instead of the built-in ones");
}

void DeviceLine::declare_memory(CommandLine& line, const char* group, const std::string& which,
                                const std::string& beyond) {
  line.option(
      "--memory", memory_, "SIZE", group,
      fmt::format(
          "Use at most this much {}: bytes, or with K, M, G (powers of 1024), such as 2G; {}",
          which, beyond));
}

void DeviceLine::set_memory(const std::string& program, DeviceOptions& options) const {
  if (!memory_) return;
  const std::optional<std::uint64_t> size = memory_size(*memory_);
  if (!size) {
    fail_usage(program, fmt::format("--memory: '{}' is not a size; expected a number of bytes, or "
                                    "one with K, M or G, such as 1500M",
                                    *memory_));
  }
  options.memory = *size;
}

}  // namespace diacut::app
