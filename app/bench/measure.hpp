#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "opencl/context.hpp"

namespace diacut::bench {

/// What every subcommand takes.
struct CommonOptions {
  std::string device;
  std::string kernel_dir;
  std::string json;  ///< File for the figures; empty: none.
  int repeats = 9;
  int megabytes = 0;  ///< That measures of memory move; 0: beyond the caches.
};
void add_common_options(CLI::App& app, CommonOptions& options);
/// An option for a file to write; that it can be written is seen before anything is measured.
void add_file_option(CLI::App& app, const char* name, std::string& path, const char* meaning);

/// Milliseconds of device time that one call of `enqueue` takes: calls are queued back to back, as
/// a solver queues them, in batches of about 20 ms; the median of `repeats` batches.
double median_milliseconds(Context& context, int repeats, const std::function<void()>& enqueue);

/// What the copy kernel reaches.
struct CopyBandwidth {
  int floats = 0;         ///< An element's size in floats.
  std::size_t bytes = 0;  ///< Read and written, together.
  double milliseconds = 0.0;
  double gigabytes_per_second = 0.0;
};

/// Of copying `bytes` / 2 floats from one buffer to another, filled with random values.
CopyBandwidth copy_bandwidth(Context& context, int floats, std::size_t bytes, int repeats);

/// The best over the widths of an element.
CopyBandwidth best_copy_bandwidth(Context& context, std::size_t bytes, int repeats);

/// What --megabytes asks for; else `bytes`, or more if that could stay in a cache: twice the cache
/// that the device reports, and at least 256 MiB. Never more than a quarter of the device's memory.
std::size_t yardstick_bytes(Context& context, const CommonOptions& options, std::size_t bytes = 0);

nlohmann::json to_json(const DeviceInfo& device);
nlohmann::json to_json(const CopyBandwidth& copy);

/// Throws InputError.
void write_json(const std::string& path, const nlohmann::json& json);
void write_text(const std::string& path, const std::string& text);

}  // namespace diacut::bench
