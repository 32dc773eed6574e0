#include "measure.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "diacut/version.hpp"
#include "stopwatch.hpp"

namespace diacut::bench {

void add_common_options(CLI::App& app, CommonOptions& options) {
  app.add_option("--device", options.device,
                 "The device: gpu, cpu, an index P:D, or part of a name (default: DIACUT_DEVICE, "
                 "else the first GPU, else the first CPU)");
  app.add_option("--kernel-dir", options.kernel_dir,
                 "Read the kernels from this folder instead of the built-in ones");
  add_file_option(app, "--json", options.json, "Also write the figures to this file");
  app.add_option("--repeats", options.repeats, "Batches whose median is taken")
      ->check(CLI::Range(1, 1000));
  app.add_option("--megabytes", options.megabytes,
                 "MiB moved to measure memory; 0: more than the caches hold")
      ->check(CLI::Range(0, 1 << 16));
}

void add_file_option(CLI::App& app, const char* name, std::string& path, const char* meaning) {
  app.add_option(name, path, meaning)->check([](const std::string& given) {
    check_writable(given);
    return std::string();
  });
}

namespace {

std::string padded(const std::string& text, int width) {
  return width < 0 ? fmt::format("{:<{}}", text, -width) : fmt::format("{:>{}}", text, width);
}

}  // namespace

void print_head(std::span<const Column> columns, int indent) {
  std::string line(static_cast<std::size_t>(indent), ' ');
  for (const Column& each : columns) line += padded(each.title, each.width);
  fmt::print("{}\n", line);
}

void print_row(std::span<const Column> columns, const nlohmann::json& figures, int indent) {
  std::string line(static_cast<std::size_t>(indent), ' ');
  for (const Column& each : columns) {
    const nlohmann::json& figure =
        figures.at(nlohmann::json::json_pointer(std::string("/") + each.key));
    line += padded(figure.is_string() ? figure.get<std::string>()
                   : std::string_view(each.form) != "{}"
                       ? fmt::format(fmt::runtime(each.form), each.factor * figure.get<double>())
                       : figure.dump(),
                   each.width);
  }
  fmt::print("{}{}\n", line, figures.value("wrong", false) ? "  WRONG" : "");
  std::fflush(stdout);
}

Times median_times(Context& context, int repeats, const std::function<void()>& work,
                   const std::function<void()>& prepare) {
  Times times;
  std::vector<double> wall;
  std::vector<double> device;
  for (int i = 0; i <= repeats; ++i) {
    if (prepare) prepare();
    context.finish();
    const app::Stopwatch stopwatch;
    const cl::Event begin = context.mark();
    work();
    const cl::Event end = context.mark();
    context.finish();
    const double taken = stopwatch.milliseconds();
    if (i == 0 && repeats > 0) continue;
    wall.push_back(taken);
    device.push_back(milliseconds_between(begin, end));
  }
  times.wall = median(wall);
  times.device = median(device);
  return times;
}

double larger_error(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

void check_right(const nlohmann::json& figures) {
  for (const nlohmann::json& each : figures) {
    if (!each.value("wrong", false)) continue;
    const std::string name = each.value("product", std::string());
    throw NumericalError(fmt::format("{} is wrong: its error is over the bound for its terms",
                                     name.empty() ? "a product" : "the product " + name));
  }
}

CopyBandwidth printed_copy_bandwidth(Context& context, const CommonOptions& options) {
  const CopyBandwidth copy =
      best_copy_bandwidth(context, yardstick_bytes(context, options), options.repeats);
  fmt::print("{} ({}): a copy reaches {:.1f} GB/s\n", context.info().name, context.info().platform,
             copy.gigabytes_per_second);
  return copy;
}

std::size_t yardstick_bytes(Context& context, const CommonOptions& options, std::size_t bytes) {
  if (options.megabytes > 0) return static_cast<std::size_t>(options.megabytes) << 20;
  return memory_yardstick(context, bytes);
}

void write_figures(const CommonOptions& options, const DeviceInfo& device, nlohmann::json figures) {
  if (options.json.empty()) return;
  figures["device"] = {{"name", device.name},
                       {"platform", device.platform},
                       {"version", device.version},
                       {"driver", device.driver},
                       {"kind", to_string(device.kind)},
                       {"compute_units", device.compute_units},
                       {"diacut", kVersion}};
  write_file(options.json, figures.dump(2) + '\n');
}

}  // namespace diacut::bench
