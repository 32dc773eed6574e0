#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "spmv/measure/measure.hpp"
#include "stopwatch.hpp"
namespace diacut::bench {

namespace {

struct ControlOptions : CommonOptions {
  std::vector<int> widths = {1, 2, 4, 8, 16};
};

constexpr std::array<Column, 5> kControlColumns = {
    {{"floats", "floats an item", -16},
     {"read_gigabytes_per_second", "read", 10, "{:.1f}"},
     {"write_gigabytes_per_second", "write", 10, "{:.1f}"},
     {"copy_gigabytes_per_second", "copy", 10, "{:.1f}"},
     {"gflops", "GFLOP/s", 12, "{:.1f}"}}};

/// Microseconds of a launch and a wait for its end.
double round_trip(Context& context, Control& control, const Buffer<float>& in, Buffer<float>& out) {
  constexpr int kTrips = 50;
  const app::Stopwatch stopwatch;
  for (int i = 0; i < kTrips; ++i) {
    control.copy(in, out, 1);
    context.finish();
  }
  return 1e6 * stopwatch.seconds() / kTrips;
}

/// The rates for one width of an element, in floats: GB/s, of a copy read and written together.
nlohmann::json rates_of(Context& context, int floats, std::size_t bytes, int repeats) {
  Control control(context, floats);
  const CopyBandwidth copy = copy_bandwidth(context, floats, bytes, repeats);
  const std::size_t count = bytes / sizeof(float) / control.granularity() * control.granularity();
  Buffer<float> memory = context.allocate<float>(count, "what is read and written");
  // Random weights are positive, and their bits do not compress.
  random_matrix(context, random_vector_shape(count), 1, memory);
  Buffer<float> one = context.allocate<float>(1, "a float");
  const auto rate = [&](const auto& enqueue) {
    return 1e-6 * static_cast<double>(count * sizeof(float)) /
           median_milliseconds(context, repeats, enqueue);
  };
  double operations = 0.0;
  const double milliseconds =
      median_milliseconds(context, repeats, [&] { operations = control.flops(one); });
  return {{"floats", floats},
          {"read_gigabytes_per_second", rate([&] { control.read(memory, one, count); })},
          {"write_gigabytes_per_second", rate([&] { control.write(memory, count); })},
          {"copy_gigabytes_per_second", copy.gigabytes_per_second},
          {"gflops", 1e-6 * operations / milliseconds}};
}

/// GB/s of transfers to the device and back, of ordinary host memory, which the library uses
/// everywhere.
std::pair<double, double> transfers(Context& context, std::size_t bytes, int repeats) {
  std::vector<std::uint32_t> host(bytes / sizeof(std::uint32_t));
  std::mt19937 random(1);
  for (std::uint32_t& each : host) each = static_cast<std::uint32_t>(random());
  Buffer<std::uint32_t> buffer =
      context.allocate<std::uint32_t>(host.size(), "what is transferred");
  const auto rate = [&](const std::function<void()>& transfer) {
    return 1e-6 * static_cast<double>(bytes) / median_times(context, repeats, transfer).wall;
  };
  const double up = rate([&] { buffer.upload(host); });
  return {up, rate([&] { buffer.download(std::span<std::uint32_t>(host)); })};
}

void run(const ControlOptions& options) {
  Context context(options.device, options.kernel_dir);
  fmt::print("{} ({})\n\n", context.info().name, context.info().platform);
  const std::size_t bytes = yardstick_bytes(context, options);
  nlohmann::json widths = nlohmann::json::array();
  fmt::print("GB/s over {:.0f} MB that do not compress, and arithmetic\n",
             1e-6 * static_cast<double>(bytes));
  print_head(kControlColumns, 2);
  for (const int floats : options.widths) {
    widths.push_back(rates_of(context, floats, bytes, options.repeats));
    print_row(kControlColumns, widths.back(), 2);
  }
  const auto [up, down] = transfers(context, bytes, options.repeats);
  fmt::print("\ntransfers: {:.1f} GB/s to the device, {:.1f} GB/s back\n", up, down);
  Buffer<float> in = context.allocate<float>(1, "a float");
  Buffer<float> out = context.allocate<float>(1, "its copy");
  in.fill(1.0f);
  Control control(context, 1);
  const double queued =
      1e3 * median_milliseconds(context, options.repeats, [&] { control.copy(in, out, 1); });
  const double waited = round_trip(context, control, in, out);
  fmt::print("a launch among many {:.1f} us, with a wait for it {:.1f} us\n", queued, waited);
  write_figures(options, context.info(),
                {{"widths", widths},
                 {"upload_gigabytes_per_second", up},
                 {"download_gigabytes_per_second", down},
                 {"launch_microseconds", queued},
                 {"round_trip_microseconds", waited}});
}

}  // namespace

void control_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "control",
      "What the device reaches: bandwidth of memory and of transfers, arithmetic, launch latency.");
  const auto options = std::make_shared<ControlOptions>();
  add_common_options(*command, *options);
  command->add_option("--widths", options->widths, "Floats moved at once by a work-item")
      ->delimiter(',')
      ->check(CLI::IsMember({1, 2, 4, 8, 16}));
  command->callback([options] { run(*options); });
}

}  // namespace diacut::bench
