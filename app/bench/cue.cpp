#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "boundary/boundary.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/network_boundary.hpp"
#include "commands.hpp"
#include "diacut/image.hpp"
#include "measure.hpp"

namespace diacut::bench {

namespace {

struct CueOptions {
  CommonOptions common;
  std::string image;
  std::string weights;
  std::string scales = "1";
  int tile = CueParameters{}.tile;
};

/// Arithmetic of all networks at all scales for an image of that size.
double operations_of(const Networks& networks, const Image& image, const CueParameters& cue) {
  double operations = 0;
  for (const double scale : cue.scales) {
    for (const std::shared_ptr<const Network>& network : networks) {
      operations += network->operations(scaled_side(image.width, scale) + 2 * cue.border,
                                        scaled_side(image.height, scale) + 2 * cue.border);
    }
  }
  return operations;
}

/// How many pixels around it a pixel of the result depends on.
int reach_of(const Networks& networks) {
  int reach = 0;
  for (const std::shared_ptr<const Network>& network : networks) {
    reach = std::max(reach, network->reach());
  }
  return reach;
}

struct Times {
  double first_wall = 0;  ///< The run that builds the kernels and uploads the weights, ms.
  double wall = 0;        ///< The median of the other runs, ms.
  double device = 0;      ///< The median of the other runs, ms.
};

Times measure(Context& context, const Image& image, const CueParameters& cue, int repeats) {
  using Clock = std::chrono::steady_clock;
  const Grid grid{image.width, image.height, image.width};
  DeviceNetworks kept;
  Times times;
  std::vector<double> wall;
  std::vector<double> device;
  for (int i = 0; i <= repeats; ++i) {
    context.reset_memory_peak();
    const Clock::time_point start = Clock::now();
    const cl::Event begin = context.mark();
    const BoundaryMap boundary = boundary_map(context, image, grid, cue, kept);
    const cl::Event end = context.mark();
    context.finish();
    const double elapsed = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (i == 0) {
      times.first_wall = elapsed;
      continue;
    }
    wall.push_back(elapsed);
    device.push_back(milliseconds_between(begin, end));
  }
  times.wall = median(wall);
  times.device = median(device);
  return times;
}

void run(const CueOptions& options) {
  Parameters parameters;
  parameters.cue.kind = CueKind::kLearned;
  parameters.cue.weights = options.weights;
  parameters.cue.tile = options.tile;
  set_parameter(parameters, "cue.scales", options.scales);
  const Image image = read_image(options.image);
  const Networks networks = load_networks(options.weights);
  Context context(options.common.device, options.common.kernel_dir);
  const Times times = measure(context, image, parameters.cue, options.common.repeats);
  const double gflop = operations_of(networks, image, parameters.cue) * 1e-9;
  const double rate = gflop / times.device * 1e3;
  const int reach = reach_of(networks);
  constexpr double kMiB = 1024.0 * 1024.0;
  fmt::print("{} ({}), {}: {}x{}, a pixel sees {} pixels around it\n", context.info().name,
             context.info().platform, options.image, image.width, image.height, reach);
  fmt::print("{:>10}{:>12}{:>10}{:>12}{:>12}{:>12}\n", "wall ms", "device ms", "GFLOP", "GFLOP/s",
             "peak MiB", "first ms");
  fmt::print("{:>10.2f}{:>12.2f}{:>10.2f}{:>12.1f}{:>12.1f}{:>12.1f}\n", times.wall, times.device,
             gflop, rate, static_cast<double>(context.memory_peak()) / kMiB, times.first_wall);
  if (options.common.json.empty()) return;
  write_json(options.common.json, {{"device", to_json(context.info())},
                                   {"image", options.image},
                                   {"width", image.width},
                                   {"height", image.height},
                                   {"weights", options.weights},
                                   {"scales", parameters.cue.scales},
                                   {"tile", options.tile},
                                   {"reach", reach},
                                   {"wall_ms", times.wall},
                                   {"first_wall_ms", times.first_wall},
                                   {"device_ms", times.device},
                                   {"gflop", gflop},
                                   {"gflop_per_second", rate},
                                   {"peak_bytes", context.memory_peak()}});
}

}  // namespace

Command cue_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "cue",
      "The boundary network on a photograph: time to the map on the device, arithmetic, device "
      "memory, and the time of the first run, which loads kernels and networks.");
  const auto options = std::make_shared<CueOptions>();
  add_common_options(*command, options->common);
  command->add_option("image", options->image, "A photograph")->required();
  command->add_option(
      "--weights", options->weights,
      "The network: built in, or a .safetensors file; several, separated by commas, are averaged");
  command->add_option("--scales", options->scales, "As cue.scales")->capture_default_str();
  command->add_option("--tile", options->tile, "As cue.tile")
      ->check(CLI::Range(64, 16'384))
      ->capture_default_str();
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
