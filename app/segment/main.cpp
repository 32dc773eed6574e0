#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"
#include "diacut/device.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/map.hpp"
#include "diacut/output.hpp"
#include "freed_memory.hpp"
#include "interrupt.hpp"
#include "kernel_cache.hpp"
#include "options.hpp"
#include "output/program_json.hpp"
#include "plan.hpp"
#include "prepare_results.hpp"
#include "program.hpp"
#include "report.hpp"
#include "segment_files.hpp"
#include "subcommand.hpp"

namespace diacut::app {

namespace {

constexpr const char* kMainStandardOutput = "-";

void list_devices(const Options& options, Console& console) {
  const std::vector<DeviceInfo> devices = diacut::list_devices();
  std::optional<DeviceInfo> chosen;
  try {
    chosen = choose_device(options.device);
  } catch (const ConfigError& error) {
    if (!options.device.empty()) throw;
    // The environment variable names no device: the list shows what it may name.
    console.note(error.what());
  }
  const DeviceInfo* mark = chosen ? &*chosen : nullptr;
  if (options.json.empty()) {
    write_file(kMainStandardOutput, device_table(devices, mark));
  } else {
    write_file(options.json, devices_json(devices, mark));
  }
}

struct NamedSubcommand {
  const char* name;
  MakeSubcommand* make;
};

constexpr std::array kSubcommands = {
    NamedSubcommand{"recut", make_recut},       NamedSubcommand{"annotate", make_recut},
    NamedSubcommand{"graph", make_graph},       NamedSubcommand{"tile", make_tile_command},
    NamedSubcommand{"join", make_tile_command}, NamedSubcommand{"paint", make_tile_command},
    NamedSubcommand{"doctor", make_doctor}};

CommandDescription describe_program() {
  CommandDescription description = describe_options();
  for (const NamedSubcommand& each : kSubcommands) {
    description.subcommands.push_back(each.make(each.name)->describe());
    description.subcommands.back().name = each.name;
  }
  return description;
}

ExitCode run(Options options, Console& console, const CancelToken& cancel) {
  // Before there are threads, and before anything of a device or of a file is in memory.
  if (options.parameters.image.untrusted) start_sandbox();
  if (!begin(options, console)) return ExitCode::kDone;
  if (options.time_limit > 0) limit_time(options.time_limit);
  const KernelCache kernels(console);
  switch (options.action) {
    case Action::kPrintConfig:
      write_file(kMainStandardOutput, print_parameters(options.parameters));
      return ExitCode::kDone;
    case Action::kListDevices:
      list_devices(options, console);
      return ExitCode::kDone;
    case Action::kSegment:
      break;
  }
  set_freed_memory(FreedMemory::kReturned);  // Until a device is opened.
  if (options.tiles.wanted()) {
    std::vector<Job> jobs(options.inputs.size());
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      jobs[k].input = options.inputs[k];
      jobs[k].map = is_map(jobs[k].input);
    }
    settle_least_size(jobs, options);
    return run_in_tiles(options, console, cancel);
  }
  const Plan plan = make_plan(options);
  settle_least_size(plan.jobs, options);
  prepare_results(options, plan);
  return segment_files(options, plan, console, cancel);
}

}  // namespace

}  // namespace diacut::app

int main(int argc, char** argv) {
  using namespace diacut::app;
  return run_program("segment", [&](Console& console) {
    const diacut::CancelToken& cancel = handle_signals();
    if (const auto text = generated(argc, argv, describe_program)) {
      diacut::write_file(kMainStandardOutput, *text);
      return ExitCode::kDone;
    }
    for (const NamedSubcommand& each : kSubcommands) {
      if (argc < 2 || std::string_view(argv[1]) != each.name) continue;
      return each.make(each.name)->main(argc - 1, argv + 1, console, cancel);
    }
    return run(parse_options(argc, argv), console, cancel);
  });
}
