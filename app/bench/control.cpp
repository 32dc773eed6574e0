#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "commands.hpp"
#include "measure.hpp"
#include "opencl/launchers/copy.hpp"

namespace diacut::bench {

namespace {

struct Latency {
  double queued_microseconds = 0.0;      ///< A launch among many, on the device.
  double round_trip_microseconds = 0.0;  ///< A launch and a wait for it, on the host.
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

void run(const CommonOptions& options) {
  Context context(options.device, options.kernel_dir);
  fmt::print("{} ({})\n\n", context.info().name, context.info().platform);
  const std::size_t bytes = beyond_cache(context, 0);
  nlohmann::json copies = nlohmann::json::array();
  fmt::print("copy of {:.0f} MB read and written\n", 1e-6 * static_cast<double>(bytes));
  for (const int floats : {1, 2, 4, 8, 16}) {
    const CopyBandwidth copy = copy_bandwidth(context, floats, bytes, options.repeats);
    fmt::print("  {:2} floats an item  {:9.1f} GB/s\n", copy.floats, copy.gigabytes_per_second);
    copies.push_back(to_json(copy));
  }
  const Latency latency = launch_latency(context, options.repeats);
  fmt::print("\na launch among many {:.1f} us, with a wait for it {:.1f} us\n",
             latency.queued_microseconds, latency.round_trip_microseconds);
  if (options.json.empty()) return;
  write_json(options.json, {{"device", to_json(context.info())},
                            {"copies", copies},
                            {"launch_microseconds", latency.queued_microseconds},
                            {"round_trip_microseconds", latency.round_trip_microseconds}});
}

}  // namespace

Command control_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "control", "What the device gives: bandwidth of a plain copy kernel, and launch latency");
  const auto options = std::make_shared<CommonOptions>();
  add_common_options(*command, *options);
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
