#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "commands.hpp"
#include "measure.hpp"
#include "spmv/measure/measure.hpp"

namespace diacut::bench {

namespace {

struct ControlOptions : CommonOptions {
  std::vector<int> widths = {1, 2, 4, 8, 16};
};

struct Latency {
  double queued_microseconds = 0.0;      ///< Device time of a launch among many.
  double round_trip_microseconds = 0.0;  ///< Host time of a launch and a wait for its end.
};

Latency launch_latency(Context& context, int repeats) {
  using Clock = std::chrono::steady_clock;
  Buffer<float> in = context.allocate<float>(1, "a float");
  Buffer<float> out = context.allocate<float>(1, "its copy");
  in.fill(1.0f);
  Copy copy(context, 1);
  Latency latency;
  latency.queued_microseconds =
      1e3 * median_milliseconds(context, repeats, [&] { copy(in, out, 1); });
  constexpr int kTrips = 50;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kTrips; ++i) {
    copy(in, out, 1);
    context.finish();
  }
  latency.round_trip_microseconds =
      std::chrono::duration<double, std::micro>(Clock::now() - start).count() / kTrips;
  return latency;
}

/// The rates for one width of an element, in floats.
struct Figures {
  int floats = 0;
  double read = 0.0;   ///< GB/s.
  double write = 0.0;  ///< GB/s.
  double copy = 0.0;   ///< GB/s, read and written together.
  double gflops = 0.0;
};

Figures figures(Context& context, int floats, std::size_t bytes, int repeats) {
  Figures result;
  result.floats = floats;
  const CopyBandwidth copy = copy_bandwidth(context, floats, bytes, repeats);
  result.copy = copy.gigabytes_per_second;
  Control control(context, floats);
  const std::size_t count = bytes / sizeof(float) / control.granularity() * control.granularity();
  Buffer<float> memory = context.allocate<float>(count, "what is read and written");
  // Random weights are positive, and their bits do not compress.
  random_matrix(context, random_vector_shape(count), 1, memory);
  Buffer<float> one = context.allocate<float>(1, "a float");
  const auto rate = [&](const auto& enqueue) {
    return 1e-6 * static_cast<double>(count * sizeof(float)) /
           median_milliseconds(context, repeats, enqueue);
  };
  result.read = rate([&] { control.read(memory, one, count); });
  result.write = rate([&] { control.write(memory, count); });
  double operations = 0.0;
  const double milliseconds =
      median_milliseconds(context, repeats, [&] { operations = control.flops(one); });
  result.gflops = 1e-6 * operations / milliseconds;
  return result;
}

struct Transfers {
  double up = 0.0;    ///< From host to device, GB/s.
  double down = 0.0;  ///< From device to host, GB/s.
};

/// Measures transfers of ordinary host memory, which the library uses everywhere.
Transfers transfers(Context& context, std::size_t bytes, int repeats) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::uint32_t> host(bytes / sizeof(std::uint32_t));
  std::mt19937 random(1);
  for (std::uint32_t& each : host) each = static_cast<std::uint32_t>(random());
  Buffer<std::uint32_t> buffer =
      context.allocate<std::uint32_t>(host.size(), "what is transferred");
  const auto rate = [&](const auto& transfer) {
    transfer();
    std::vector<double> seconds;
    for (int i = 0; i < repeats; ++i) {
      const Clock::time_point start = Clock::now();
      transfer();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    std::sort(seconds.begin(), seconds.end());
    return 1e-9 * static_cast<double>(bytes) / seconds[seconds.size() / 2];
  };
  Transfers result;
  result.up = rate([&] { buffer.upload(host); });
  result.down = rate([&] { buffer.download(std::span<std::uint32_t>(host)); });
  return result;
}

void run(const ControlOptions& options) {
  Context context(options.device, options.kernel_dir);
  fmt::print("{} ({})\n\n", context.info().name, context.info().platform);
  const std::size_t bytes = yardstick_bytes(context, options);
  nlohmann::json widths = nlohmann::json::array();
  fmt::print("GB/s over {:.0f} MB that do not compress, and arithmetic\n",
             1e-6 * static_cast<double>(bytes));
  fmt::print("  {:<16}{:>10}{:>10}{:>10}{:>12}\n", "floats an item", "read", "write", "copy",
             "GFLOP/s");
  for (const int floats : options.widths) {
    const Figures each = figures(context, floats, bytes, options.repeats);
    fmt::print("  {:<16}{:>10.1f}{:>10.1f}{:>10.1f}{:>12.1f}\n", each.floats, each.read, each.write,
               each.copy, each.gflops);
    widths.push_back({{"floats", each.floats},
                      {"read_gigabytes_per_second", each.read},
                      {"write_gigabytes_per_second", each.write},
                      {"copy_gigabytes_per_second", each.copy},
                      {"gflops", each.gflops}});
  }
  const Transfers moved = transfers(context, bytes, options.repeats);
  fmt::print("\ntransfers: {:.1f} GB/s to the device, {:.1f} GB/s back\n", moved.up, moved.down);
  const Latency latency = launch_latency(context, options.repeats);
  fmt::print("a launch among many {:.1f} us, with a wait for it {:.1f} us\n",
             latency.queued_microseconds, latency.round_trip_microseconds);
  if (options.json.empty()) return;
  write_json(options.json, {{"device", to_json(context.info())},
                            {"widths", widths},
                            {"upload_gigabytes_per_second", moved.up},
                            {"download_gigabytes_per_second", moved.down},
                            {"launch_microseconds", latency.queued_microseconds},
                            {"round_trip_microseconds", latency.round_trip_microseconds}});
}

}  // namespace

Command control_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "control",
      "What the device reaches: bandwidth of memory and of transfers, arithmetic, launch latency.");
  const auto options = std::make_shared<ControlOptions>();
  add_common_options(*command, *options);
  command->add_option("--widths", options->widths, "Floats moved at once by a work-item")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::IsMember({1, 2, 4, 8, 16}));
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
