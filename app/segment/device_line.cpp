#include "device_line.hpp"

#include <fmt/format.h>

#include <string_view>

#include "text.hpp"

namespace diacut::app {

namespace {

/// "1500M" in bytes; nothing if it is no size of at least one byte.
std::optional<std::uint64_t> memory_size(const std::string& text) {
  constexpr std::string_view kUnits = "KMG";
  std::string_view digits = text;
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  if (unit != std::string_view::npos) digits.remove_suffix(1);
  const std::size_t shift = unit == std::string_view::npos ? 0 : 10 * (unit + 1);
  const auto number = number_in<std::uint64_t>(digits, 1, UINT64_MAX >> shift);
  return number ? std::optional(*number << shift) : std::nullopt;
}

}  // namespace

void declare_device(CommandLine& line, DeviceOptions& options, const std::string& beyond) {
  constexpr bool kMayBeEmpty = true;
  line.option("--device", options.device, "SPEC", kDeviceGroup,
              "The device: gpu, cpu, gpu:1 for the second GPU, an index such as 0:1, part of a "
              "name, or auto for the one that a job was given (default: DIACUT_DEVICE, else "
              "the first GPU, else the CPU)",
              {.devices = true}, kMayBeEmpty);
  declare_memory(line, options, kDeviceGroup, "of the device's memory", beyond);
  line.option("--kernel-dir", options.kernel_dir, "DIR", kDeviceGroup,
              "Read the kernels from this folder instead of the built-in ones");
}

void declare_memory(CommandLine& line, DeviceOptions& options, const char* group,
                    const std::string& which, const std::string& beyond) {
  line.option(
      "--memory", options.memory_text, "SIZE", group,
      fmt::format(
          "Use at most this much {}: bytes, or with K, M, G (powers of 1024), such as 2G; {}",
          which, beyond));
}

void set_memory(const CommandLine& line, DeviceOptions& options) {
  if (!options.memory_text) return;
  const std::optional<std::uint64_t> size = memory_size(*options.memory_text);
  if (!size) {
    line.fail(
        fmt::format("--memory: '{}' is not a size; expected a number of bytes, or one with "
                    "K, M or G, such as 1500M",
                    *options.memory_text));
  }
  options.memory = *size;
}

}  // namespace diacut::app
