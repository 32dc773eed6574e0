#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "device_line.hpp"
#include "diacut/device.hpp"
#include "diacut/map.hpp"
#include "diacut/output.hpp"
#include "diacut/tiles.hpp"
#include "find_images.hpp"
#include "interrupt.hpp"
#include "kernel_cache.hpp"
#include "map/region_format.hpp"
#include "maps.hpp"
#include "options.hpp"
#include "output/format.hpp"
#include "paths.hpp"
#include "progress.hpp"
#include "stopwatch.hpp"
#include "subcommand.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTiledProgram = "segment";

/// A command that works on a plan.
struct TileCommand {
  const char* name;
  const char* description;
  const char* usage;
  const char* examples;
};

constexpr std::array kCommands = {
    TileCommand{"tile", "Computes the tiles of the next step of a run in tiles.",
                "segment tile PLAN [OPTION]...",
                R"(Examples:
  segment giant.tif -o out.tif --tile-size 2048 --tiles-in work --plan-only
      the plan, work/plan.json
  segment tile work/plan.json --shard 3/16
      the third of sixteen shares of the tiles, as a job of a cluster

segment tile and segment join alternate four times; then segment paint writes
the results. Finished tiles are left out.
)"},
    TileCommand{"join", "Joins the tiles of the current step of a run in tiles.",
                "segment join PLAN [OPTION]...",
                R"(Example:
  segment join work/plan.json
      after all jobs of segment tile, four times
)"},
    TileCommand{"paint", "Writes the results of a run in tiles.", "segment paint PLAN [OPTION]...",
                R"(Example:
  segment paint work/plan.json
      after the fourth segment join
)"},
};

[[noreturn]] void fail_tiled(const std::string& message) { fail_usage(kTiledProgram, message); }

void tell(Console& console, const std::string& name, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) console.note(fmt::format("{}: {}", name, note));
}

/// Tiles, joins and painting of one plan, with their progress.
class TiledRun {
 public:
  TiledRun(const std::string& plan, TileRun::Role role, const DeviceOptions& device,
           Console& console, const CancelToken& cancel)
      : run_(plan, role),
        device_(device.device),
        console_(console),
        cancel_(cancel),
        progress_(console, 1, false) {
    run_.use_device(device.device, device.kernel_dir, device.memory, [&console] {
      console.detail("the driver compiles kernels, which it does once");
    });
    progress_.begin(run_.plan().source);
  }

  const TileRun& run() const { return run_; }

  /// Does the tiles of the step that is due that are in a share. Returns how many were done.
  std::size_t tiles(const Shard& shard) {
    const std::string step = fmt::format("tiles, {}", to_string(run_.due()));
    std::vector<std::size_t> wanted;
    std::size_t left_out = 0;
    for (std::size_t tile = 0; tile < run_.tiles(); ++tile) {
      if (shard.has(tile) && !run_.is_done(tile)) {
        wanted.push_back(tile);
      } else {
        ++left_out;
      }
    }
    cancel_.throw_if_cancelled();
    progress_.stage(step, share(left_out));
    if (run_.due() <= TileStep::kContours) {  // Later steps need no device.
      choose_device(device_);
      handle_crashes();  // Drivers have taken these signals over.
    }
    std::size_t done = 0;
    const Stopwatch stopwatch;
    run_.tiles(wanted, [&](std::size_t tile) {
      ++done;
      console_.detail(fmt::format("{}: tile {} of {}, after {:.0f} ms", step, tile, run_.tiles(),
                                  stopwatch.milliseconds()));
      progress_.stage(step, share(left_out + done));
      cancel_.throw_if_cancelled();
    });
    progress_.end();
    return done;
  }

  void join() {
    const TileStep step = run_.due();
    const Stopwatch stopwatch;
    progress_.stage(fmt::format("join, {}", to_string(step)), 0);
    std::vector<std::string> notes;
    run_.join(notes);
    progress_.end();
    tell(console_, run_.plan().source, notes);
    console_.detail(fmt::format("join, {} ({:.0f} ms)", to_string(step), stopwatch.milliseconds()));
  }

  void paint() {
    run_.paint([this](double painted) {
      cancel_.throw_if_cancelled();
      progress_.stage("paint", painted);
    });
    progress_.end();
  }

  void all() {
    while (run_.due() < TileStep::kPaint) {
      tiles({});
      cancel_.throw_if_cancelled();
      join();
    }
    if (run_.due() == TileStep::kPaint) paint();
  }

  void remove_files() { run_.remove_files(); }

 private:
  double share(std::size_t tile) const {
    return static_cast<double>(tile) / static_cast<double>(run_.tiles());
  }

  TileRun run_;
  std::string device_;
  Console& console_;
  const CancelToken& cancel_;
  Progress progress_;
};

/// One of kCommands.
class TileSubcommand : public Command {
 public:
  explicit TileSubcommand(const TileCommand& command)
      : Command(fmt::format("segment {}", command.name), command.description, command.usage,
                command.examples),
        name_(command.name) {
    line_.inputs("PLAN", inputs_, "The plan of a run in tiles: plan.json in its folder",
                 files_of(".json"));
    if (name_ == "tile") {
      line_.option("--shard", shard_, "I/N|auto", "Tiles",
                   "Do the I-th of N shares of the tiles, I from 1; auto: the share of this job in "
                   "an array of Slurm, AWS Batch or Kubernetes (default: all)",
                   {.words = {"auto"}});
      declare_device(line_, device_, "a tile that does not fit is refused");
    }
    if (name_ == "paint") {
      declare_memory(line_, device_, "Painting",
                     "of main memory for the parts of the picture that are painted",
                     "default: half of what is free");
    }
    line_.message_flags("Only errors", "Also what each tile took", false);
  }

 private:
  void resolve() override {
    plan_ = only_input("plan", "plans", "one");
    set_memory(line_, device_);
  }

  ExitCode run(Console& console, const CancelToken& cancel) override {
    const Shard shard = parse_shard(shard_, "segment tile", "tiles");
    const KernelCache kernels(console);
    TiledRun tiled(plan_, name_ == "tile" ? TileRun::Role::kTile : TileRun::Role::kAll, device_,
                   console, cancel);
    const auto tell_done = [&](const std::string& what) {
      console.message(fmt::format("{}: {} ({:.0f} ms)", plan_, what, stopwatch_.milliseconds()));
      return ExitCode::kDone;
    };
    const TileStep due = tiled.run().due();
    if (name_ == "paint") {
      if (due != TileStep::kDone) tiled.paint();
    } else if (due >= TileStep::kPaint) {
      console.message(fmt::format("{}: all tiles are joined: run segment paint", plan_));
      return ExitCode::kDone;
    } else if (name_ == "tile") {
      const std::size_t done = tiled.tiles(shard);
      return tell_done(fmt::format("step {}: {} done", to_string(due),
                                   counted(static_cast<std::int64_t>(done), "tile")));
    } else {
      tiled.join();
    }
    return tell_done(tiled.run().due() == TileStep::kDone
                         ? fmt::format("{}, written to {}",
                                       counted(tiled.run().regions(), "region"),
                                       tiled.run().plan().output)
                         : fmt::format("the next step is {}", to_string(tiled.run().due())));
  }

  Stopwatch stopwatch_;
  std::string name_;
  std::string plan_;
  std::string shard_;
  DeviceOptions device_;
};

/// Throws ConfigError where options ask for what tiles do not give.
void check_options(const Options& options) {
  if (options.inputs.size() != 1 || options.inputs.front() == "-" ||
      fs::is_directory(options.inputs.front())) {
    fail_tiled("--tile-size segments one picture: name one file");
  }
  for (const auto& [info, place] : named(options.results)) {
    if (place == "-") fail_tiled(fmt::format("{}: with --tile-size name a file", info.option));
  }
  const std::string& output = options.results[Result::kLabels];
  if (!names_tiff(output) && !names_polygons(output)) {
    fail_tiled(
        "--tile-size writes labels as a GeoTIFF, or regions of a scene as polygons: add -o "
        "FILE.tif, .gpkg, .geojson or .shp");
  }
  check_labels_name(output, options.labels);
}

TilePlan plan_of(const Options& options) {
  TilePlan plan;
  // GDAL opens names that are no files, which stay as they are.
  const std::string& input = options.inputs.front();
  plan.source = fs::exists(input) ? fs::absolute(input).lexically_normal().string() : input;
  const auto place = [&](Result result) {
    const std::string& name = options.results[result];
    return name.empty() ? name : fs::absolute(name).lexically_normal().string();
  };
  plan.output = place(Result::kLabels);
  plan.contours = place(Result::kContours);
  plan.bands = options.bands;
  plan.cloud_optimised = options.labels.cloud_optimised;
  plan.parameters = options.parameters;
  if (options.tiles.size != "auto") {
    const auto size = number_in(options.tiles.size);
    if (!size || *size < 1 || *size > (1U << 15)) {
      fail_tiled(
          fmt::format("--tile-size: '{}' is not a tile size; expected 1 to 32768 pixels, or auto",
                      options.tiles.size));
    }
    plan.tile_size = static_cast<int>(*size);
  }
  return plan;
}

}  // namespace

ExitCode run_in_tiles(const Options& options, Console& console, const CancelToken& cancel) {
  const Stopwatch stopwatch;
  check_options(options);
  const std::string& input = options.inputs.front();
  ResultNames names({input});
  for (const auto& [info, place] : named(options.results)) {
    names.add(info.option, place, "");
    check_writable(place);
  }
  std::vector<std::string> notes;
  const TilePlan plan = complete_plan(plan_of(options), options.memory, notes);
  tell(console, input, notes);
  const std::string folder =
      options.tiles.folder.empty() ? plan.output + ".tiles" : options.tiles.folder;
  const std::string plan_file = write_tile_plan(folder, plan);
  if (options.tiles.plan_only) {
    TiledRun planned(plan_file, TileRun::Role::kTile, options, console, cancel);
    console.message(fmt::format("{}: {} of {} pixels, {} x {} in all", plan_file,
                                counted(static_cast<std::int64_t>(planned.run().tiles()), "tile"),
                                plan.tile_size, plan.width, plan.height));
    return ExitCode::kDone;
  }
  std::int64_t regions = 0;
  {
    TiledRun run(plan_file, TileRun::Role::kAll, options, console, cancel);
    run.all();
    regions = run.run().regions();
    if (options.tiles.folder.empty()) run.remove_files();
  }
  if (options.tiles.folder.empty()) {
    std::error_code ignored;
    fs::remove(fs::path(plan_file), ignored);
    fs::remove(fs::path(folder) / "lock", ignored);
    fs::remove(folder, ignored);
  }
  console.message(fmt::format("{}: {} in tiles of {} pixels ({:.0f} ms)", input,
                              counted(regions, "region"), plan.tile_size,
                              stopwatch.milliseconds()));
  return ExitCode::kDone;
}

std::unique_ptr<Command> make_tile_command(const std::string& name) {
  const auto command = std::find_if(kCommands.begin(), kCommands.end(),
                                    [&](const TileCommand& each) { return name == each.name; });
  return std::make_unique<TileSubcommand>(*command);
}

}  // namespace diacut::app
