#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "opencl/context.hpp"
#include "spmv/measure/measure.hpp"

namespace diacut::bench {

/// The options of every subcommand.
struct CommonOptions {
  std::string device;
  std::string kernel_dir;
  std::string json;  ///< File for the figures; empty: none.
  int repeats = 9;
  int megabytes = 0;  ///< Moved by measurements of memory; 0: more than the caches hold.
};
void add_common_options(CLI::App& app, CommonOptions& options);
/// An option for a file to write. That it can be written is checked before anything is measured.
void add_file_option(CLI::App& app, const char* name, std::string& path, const char* meaning);

/// Milliseconds of device time that one call of `enqueue` takes: calls are queued back to back, as
/// a solver queues them, in batches of about 20 ms; the median of `repeats` batches.
double median_milliseconds(Context& context, int repeats, const std::function<void()>& enqueue);

/// The median; of an even number of values the mean of the two in the middle. Precondition: there
/// is a value.
double median(std::vector<double> values);

/// The larger of two errors, or NaN if any of them is NaN: a wrong product must show.
double larger_error(double a, double b);

/// Throws NumericalError unless all products are `right`.
void check_products(bool right);

/// `count` elements in a single row, so that random_matrix() fills a vector.
RandomMatrixShape random_vector_shape(std::size_t count);

/// The rate of the copy kernel.
struct CopyBandwidth {
  int floats = 0;         ///< An element's size in floats.
  std::size_t bytes = 0;  ///< Read and written together.
  double milliseconds = 0.0;
  double gigabytes_per_second = 0.0;
};

/// Copies bytes / 2 of random floats from one buffer to another.
CopyBandwidth copy_bandwidth(Context& context, int floats, std::size_t bytes, int repeats);

/// The best rate over the widths of an element.
CopyBandwidth best_copy_bandwidth(Context& context, std::size_t bytes, int repeats);

/// The best rate over yardstick_bytes(), after a line that names the device and the rate.
CopyBandwidth printed_copy_bandwidth(Context& context, const CommonOptions& options);

/// The bytes that a measurement of memory moves: as --megabytes asks for; else `bytes`, or more if
/// `bytes` could stay in a cache: twice the cache that the device reports, and at least 256 MiB.
/// Never more than a quarter of the device's memory.
std::size_t yardstick_bytes(Context& context, const CommonOptions& options, std::size_t bytes = 0);

nlohmann::json to_json(const DeviceInfo& device);
nlohmann::json to_json(const CopyBandwidth& copy);

/// Throws InputError.
void write_json(const std::string& path, const nlohmann::json& json);
void write_text(const std::string& path, const std::string& text);

}  // namespace diacut::bench
