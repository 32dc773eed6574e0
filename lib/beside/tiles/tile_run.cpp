#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "core/descriptor.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "diacut/memory.hpp"
#include "diacut/tiles.hpp"
#include "pipeline/part_maps.hpp"
#include "tiles/tile_folder.hpp"
#include "tiles/tile_steps.hpp"

namespace diacut {

namespace {

/// Keeps other runs out of a folder as long as it is open.
Descriptor lock_of(const std::string& folder, bool shared) {
  const std::string path = folder + "/lock";
  Descriptor lock(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
  if (lock.get() < 0) {
    throw InputError(
        fmt::format("{}: cannot be written: {}", path, std::generic_category().message(errno)));
  }
  const bool is_locked = ::flock(lock.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0;
  if (is_locked || errno != EWOULDBLOCK) return lock;  // Some file systems have no locks.
  throw InputError(fmt::format(
      "{}: another run is at work in this folder: wait for its end, or stop it", folder));
}

/// What a step leaves and does.
struct Step {
  std::vector<TileFile> of_tile;  ///< The files that it leaves of a tile.
  TileFile of_run;                ///< The file of the run, which shows that it is done.
  std::function<void(std::size_t tile)> make = {};
  std::function<void(std::vector<std::string>& notes)> join = {};
};

/// The most that a step holds on the host for each pixel of a tile, bytes.
constexpr std::uint64_t kHostBytes = 100;
/// Tiles at once that keep a device busy, while the others are read and written.
constexpr std::uint64_t kTilesOfDevice = 8;

std::string text_of(const DeviceInfo& device) {
  return fmt::format("{}, {}, driver {}", device.name, device.platform, device.driver);
}

}  // namespace

const char* to_string(TileStep step) {
  static constexpr std::array kNames = {"map", "contours", "basins", "regions", "paint", "done"};
  return kNames.at(static_cast<std::size_t>(step));
}

struct TileRun::State {
  State(const std::string& plan_path, Role role)
      : plan(read_tile_plan(plan_path)),
        tiling(tiling_of(plan)),
        lock(lock_of(folder_of(plan_path), role == Role::kTile)),
        path(folder_of(plan_path)),
        folder(path, tiling, number_of(plan_text(plan))) {}

  TileWork work() const { return {plan, tiling, folder}; }

  TileStep due() const {
    auto due = TileStep::kMap;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (folder.has(steps[k].of_run)) due = static_cast<TileStep>(k + 1);
    }
    for (const std::string* file : {&plan.contours, &plan.output}) {
      if (file->empty() || due != TileStep::kDone || std::filesystem::exists(*file)) continue;
      return TileStep::kPaint;
    }
    return due;
  }

  /// Whether the step that is due needs no device.
  bool needs_no_device() const { return due() >= TileStep::kBasins; }

  /// Opens what the tiles of the step that is due are made with.
  void open() {
    if (needs_no_device()) return take_device();
    if (due() == TileStep::kMap) picture();
    maps();
  }

  void make(std::size_t tile) {
    try {
      steps[static_cast<std::size_t>(due())].make(tile);
    } catch (const DeviceMemoryError& error) {
      throw DeviceError(fmt::format(
          "tiles of {} pixels: {}; a new plan with smaller tiles (--tile-size) needs less",
          plan.tile_size, error.what()));
    }
  }

  /// Main memory that may be taken, bytes.
  std::uint64_t free_memory() const { return memory != 0 ? memory : host_memory_available() / 2; }

  /// How many tiles of the step that is due are worked on at once. While the device computes one,
  /// others are read and written, unless the device is the processor that would do it.
  std::size_t tiles_together() {
    if (!needs_no_device() && maps().device().kind == DeviceKind::kCpu) return 1;
    const auto side = static_cast<std::uint64_t>(tiling.side);
    const std::uint64_t fit = free_memory() / (side * side * kHostBytes);
    const auto cores = static_cast<std::uint64_t>(parallel_threads());
    const std::uint64_t most = needs_no_device() ? cores : std::min(cores, kTilesOfDevice);
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(fit, 1, most));
  }

  void join_maps_of_one_device() {
    // Each file is checked against the first one's device.
    for (std::size_t tile = 0; tile < tiling.tiles(); ++tile) {
      folder.read_part(TileFile::kMap, tile, 0, {0, 0, 0, 0}, nullptr, 0);
    }
    join_maps(work());
  }

  const PictureBlocks& picture() {
    if (!opened) {
      check_source(plan);
      opened = open_picture(plan.source, plan.parameters.image, plan.bands);
      if (opened->frame.width != plan.width || opened->frame.height != plan.height) {
        throw InputError(fmt::format("{}: it has {} x {} pixels, the plan says {} x {}",
                                     plan.source, opened->frame.width, opened->frame.height,
                                     plan.width, plan.height));
      }
    }
    return *opened;
  }

  /// Files of host steps belong to the device of the first step.
  void take_device() { folder.set_device(folder.device_of(TileFile::kFull)); }

  PartMaps& maps() {
    if (made_maps) return *made_maps;
    made_maps.emplace(plan.parameters, device, kernel_dir);
    made_maps->limit_memory(memory);
    if (compiling) made_maps->on_compiling(compiling);
    const std::uint64_t mine = number_of(text_of(made_maps->device()));
    const std::uint64_t theirs = folder.device_of(TileFile::kFull);
    if (theirs != 0 && theirs != mine) {
      throw ConfigError(fmt::format(
          "the tiles of this run were begun on another device or driver than {}, and labels depend "
          "on the device: choose the same one with --device",
          text_of(made_maps->device())));
    }
    folder.set_device(mine);
    return *made_maps;
  }

  TilePlan plan;
  Tiling tiling;
  /// In the order of TileStep.
  const std::vector<Step> steps = {
      {{TileFile::kMap},
       TileFile::kFull,
       [this](std::size_t tile) { map_tile(work(), tile, picture(), maps()); },
       [this](auto&) { join_maps_of_one_device(); }},
      {{TileFile::kContours, TileFile::kPlateaus},
       TileFile::kPlateausJoined,
       [this](std::size_t tile) { contours_tile(work(), tile, maps()); },
       [this](auto&) { join_contours(work()); }},
      {{TileFile::kBasins, TileFile::kPieces},
       TileFile::kSizes,
       [this](std::size_t tile) { basins_tile(work(), tile); },
       [this](auto&) { join_basins(work()); }},
      {{TileFile::kLeaves, TileFile::kRegions},
       TileFile::kLabels,
       [this](std::size_t tile) { regions_tile(work(), tile); },
       [this](auto& notes) { join_all_regions(work(), notes); }},
      {{}, TileFile::kPainted},
  };
  Descriptor lock;
  std::string path;  ///< Of the folder.
  TileFolder folder;
  std::string device = {};
  std::string kernel_dir = {};
  std::uint64_t memory = 0;  ///< As use_device() takes it.
  std::function<void()> compiling = {};
  std::optional<PartMaps> made_maps = {};
  std::unique_ptr<PictureBlocks> opened = {};
};

TileRun::TileRun(const std::string& plan_path, Role role)
    : state_(std::make_unique<State>(plan_path, role)) {}
TileRun::~TileRun() = default;

void TileRun::use_device(const std::string& device, const std::string& kernel_dir,
                         std::uint64_t memory, std::function<void()> compiling) {
  state_->device = device;
  state_->kernel_dir = kernel_dir;
  state_->memory = memory;
  state_->compiling = std::move(compiling);
}

const TilePlan& TileRun::plan() const { return state_->plan; }
std::size_t TileRun::tiles() const { return state_->tiling.tiles(); }
TileStep TileRun::due() const { return state_->due(); }

bool TileRun::is_done(std::size_t tile) const {
  const auto step = static_cast<std::size_t>(due());
  if (step == state_->steps.size()) return true;
  const std::vector<TileFile>& files = state_->steps[step].of_tile;
  return std::all_of(files.begin(), files.end(),
                     [&](TileFile kind) { return state_->folder.has(kind, tile); });
}

void TileRun::tiles(const std::vector<std::size_t>& wanted,
                    const std::function<void(std::size_t)>& done) {
  for (const std::size_t tile : wanted) {
    if (tile < tiles()) continue;
    throw ConfigError(
        fmt::format("there is no tile {}: the picture has tiles 0 to {}", tile, tiles() - 1));
  }
  const bool all_done =
      std::all_of(wanted.begin(), wanted.end(), [&](std::size_t tile) { return is_done(tile); });
  if (!all_done) state_->open();  // Before there are threads.
  const std::size_t together = all_done ? 1 : std::min(state_->tiles_together(), wanted.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex telling;
  const auto work = [&] {
    for (std::size_t k = next++; k < wanted.size() && !failed; k = next++) {
      try {
        if (!is_done(wanted[k])) state_->make(wanted[k]);
        const std::lock_guard<std::mutex> guard(telling);
        done(wanted[k]);
      } catch (...) {
        failed = true;
        throw;
      }
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t k = 1; k < together; ++k) {
    others.push_back(std::async(std::launch::async, work));
  }
  work();
  for (std::future<void>& each : others) each.get();
}

void TileRun::join(std::vector<std::string>& notes) {
  const TileStep step = due();
  std::size_t missing = 0;
  std::size_t first = 0;
  for (std::size_t tile = tiles(); tile-- > 0;) {
    if (is_done(tile)) continue;
    ++missing;
    first = tile;
  }
  if (missing > 0) {
    throw InputError(fmt::format(
        "{} of {} tiles are not done in the step {}, the first of them tile {}: run segment tile",
        missing, tiles(), to_string(step), first));
  }
  TileFolder& folder = state_->folder;
  folder.set_device(folder.device_of(step == TileStep::kMap ? TileFile::kMap : TileFile::kFull));
  if (step < TileStep::kPaint) state_->steps[static_cast<std::size_t>(step)].join(notes);
}

void TileRun::paint(const std::function<void(double)>& painted) {
  if (due() < TileStep::kPaint) {
    throw InputError(fmt::format(
        "the labels are not joined yet: the next step is {} (segment tile, then segment join)",
        to_string(due())));
  }
  // The coordinates alone: the pixels of a scene are not read.
  const std::int64_t regions = paint_results(state_->work(), state_->picture().frame, state_->path,
                                             state_->free_memory(), painted);
  state_->folder.write(TileFile::kPainted, 0, std::vector<std::int64_t>{regions});
}

std::int64_t TileRun::regions() const {
  // Of a run that was stopped while it removed its files, this is the last one.
  if (due() != TileStep::kDone) return read_labels(state_->work()).count;
  std::vector<std::int64_t> regions;
  state_->folder.read(TileFile::kPainted, 0, regions);
  return regions.at(0);
}

void TileRun::remove_files() {
  const TileFolder& folder = state_->folder;
  for (const Step& each : state_->steps) {
    folder.remove(each.of_run);
    parallel_for(tiles(), [&](std::size_t tile) {
      for (const TileFile kind : each.of_tile) folder.remove(kind, tile);
      folder.remove(TileFile::kRim, tile);
      folder.remove(TileFile::kNumbers, tile);
    });
  }
}

}  // namespace diacut
