#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "boundary/boundary.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/network_boundary.hpp"
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

constexpr std::array<Column, 6> kCueColumns = {
    {{"wall_ms", "wall ms", 10, "{:.2f}"},
     {"device_ms", "device ms", 12, "{:.2f}"},
     {"gflop", "GFLOP", 10, "{:.2f}"},
     {"gflop_per_second", "GFLOP/s", 12, "{:.1f}"},
     {"peak_bytes", "peak MiB", 12, "{:.1f}", kMebibytes},
     {"first_wall_ms", "first ms", 12, "{:.1f}"}}};

void run(const CueOptions& options) {
  Parameters parameters;
  parameters.cue.kind = CueKind::kLearned;
  parameters.cue.weights = options.weights;
  parameters.cue.tile = options.tile;
  set_parameter(parameters, "cue.scales", options.scales);
  const Image image = read_image(options.image);
  const Networks networks = load_networks(options.weights);
  Context context(options.common.device, options.common.kernel_dir);
  const Grid grid{image.width, image.height, image.width};
  DeviceNetworks kept;
  const Times times = median_times(
      context, options.common.repeats,
      [&] { boundary_map(context, image, grid, parameters.cue, kept); },
      [&] { context.reset_memory_peak(); });
  const double gflop = operations_of(networks, image, parameters.cue) * 1e-9;
  const int reach = reach_of(networks);
  const nlohmann::json figures = {{"image", options.image},
                                  {"width", image.width},
                                  {"height", image.height},
                                  {"weights", options.weights},
                                  {"scales", parameters.cue.scales},
                                  {"tile", options.tile},
                                  {"reach", reach},
                                  {"wall_ms", times.wall},
                                  {"first_wall_ms", times.first},
                                  {"device_ms", times.device},
                                  {"gflop", gflop},
                                  {"gflop_per_second", gflop / times.device * 1e3},
                                  {"peak_bytes", context.memory_peak()}};
  fmt::print("{} ({}), {}: {}x{}, a pixel sees {} pixels around it\n", context.info().name,
             context.info().platform, options.image, image.width, image.height, reach);
  print_head(kCueColumns);
  print_row(kCueColumns, figures);
  write_figures(options.common, context.info(), figures);
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
