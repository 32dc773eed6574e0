#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "command_line.hpp"

namespace diacut::app {

/// The device that computes, and how much of it.
struct DeviceOptions {
  std::string device;      ///< As choose_device() takes it.
  std::string kernel_dir;  ///< A folder of kernels in place of those built in; empty: none.
  std::optional<std::string> memory_text;  ///< --memory
  std::uint64_t memory = 0;  ///< Limit of the device memory held at once, bytes; 0: none.
};

inline constexpr const char* kDeviceGroup = "Device";

/// Declares the options that choose the device. `beyond`: what becomes of work that does not fit
/// the memory.
void declare_device(CommandLine& line, DeviceOptions& options, const std::string& beyond);
/// Declares --memory alone. `which`: the memory that it limits.
void declare_memory(CommandLine& line, DeviceOptions& options, const char* group,
                    const std::string& which, const std::string& beyond);

/// Sets options.memory from its text. Throws ConfigError.
void set_memory(const CommandLine& line, DeviceOptions& options);

}  // namespace diacut::app
