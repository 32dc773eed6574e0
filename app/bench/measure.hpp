#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "opencl/context.hpp"
#include "spmv/measure/measure.hpp"
#include "spmv/product.hpp"

namespace diacut {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopyBandwidth, floats, bytes, milliseconds, gigabytes_per_second)
}

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

// Each adds a subcommand of diacut-bench to `app`, its options and its help. CLI11 runs it when the
// command line is parsed; it throws diacut::Error.
void control_command(CLI::App& app);
void cocktail_command(CLI::App& app);
void eigen_command(CLI::App& app);
void formats_command(CLI::App& app);
void jacobian_command(CLI::App& app);
void pairs_command(CLI::App& app);
void spmv_command(CLI::App& app);
void tune_command(CLI::App& app);

/// --formats: the implementations to measure.
void add_formats_option(CLI::App& app, std::vector<std::string>& formats, const char* meaning);
/// The named implementations among those that make sense on the device. Throws ConfigError when
/// there is none.
std::vector<Implementation> chosen_implementations(const std::vector<std::string>& formats,
                                                   const DeviceInfo& device);

/// In a byte.
inline constexpr double kMebibytes = 0x1p-20;

/// Figures are members of JSON objects; a table shows some of them, a line for each object.
struct Column {
  const char* key;  ///< Or a path: "shares/12".
  const char* title;
  int width;                ///< Negative: at the left of so many characters.
  const char* form = "{}";  ///< Of a number, times `factor`; else the figure as it is.
  double factor = 1;
};
void print_head(std::span<const Column> columns, int indent = 0);
/// Ends with "WRONG" where the member "wrong" is true.
void print_row(std::span<const Column> columns, const nlohmann::json& figures, int indent = 0);

/// Milliseconds of work: the medians of `repeats` runs after a first one, which builds kernels.
/// Without others, of the first one.
struct Times {
  double wall = 0;
  double device = 0;
};
/// `prepare` comes before each run and is not timed; the device is waited for before and after.
Times median_times(Context& context, int repeats, const std::function<void()>& work,
                   const std::function<void()>& prepare = {});

/// The larger of two errors, or NaN if any of them is NaN: a wrong product must show.
double larger_error(double a, double b);

/// Throws NumericalError if an object of figures says that it is wrong.
void check_right(const nlohmann::json& figures);

/// The best rate over yardstick_bytes(), after a line that names the device and the rate.
CopyBandwidth printed_copy_bandwidth(Context& context, const CommonOptions& options);

/// The bytes that a measurement of memory moves: as --megabytes asks for, else memory_yardstick().
std::size_t yardstick_bytes(Context& context, const CommonOptions& options, std::size_t bytes = 0);

/// Writes figures to the file of --json, if there is one, after the device. Throws InputError.
void write_figures(const CommonOptions& options, const DeviceInfo& device, nlohmann::json figures);

}  // namespace diacut::bench
