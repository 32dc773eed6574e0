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
#include "diacut/memory_plan.hpp"
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
  TileFile of_run;                ///< The file of the run, which tells that it is done.
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

class TileRun::Implementation {
 public:
  Implementation(const std::string& plan_path, Role role)
      : plan_(read_tile_plan(plan_path)),
        tiling_(tiling_of(plan_)),
        lock_(lock_of(folder_of(plan_path), role == Role::kTile)),
        path_(folder_of(plan_path)),
        folder_(path_, tiling_, number_of(plan_text(plan_))) {}

  void use_device(std::string device, std::string kernel_dir, std::uint64_t memory,
                  std::function<void()> compiling) {
    device_ = std::move(device);
    kernel_dir_ = std::move(kernel_dir);
    memory_ = memory;
    compiling_ = std::move(compiling);
  }

  const TilePlan& plan() const { return plan_; }
  const Tiling& tiling() const { return tiling_; }

  TileStep due() const {
    auto due = TileStep::kMap;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      if (folder_.has(steps_[k].of_run)) due = static_cast<TileStep>(k + 1);
    }
    for (const std::string* file : {&plan_.contours, &plan_.output}) {
      if (file->empty() || due != TileStep::kDone || std::filesystem::exists(*file)) continue;
      return TileStep::kPaint;
    }
    return due;
  }

  bool is_done(std::size_t tile) const {
    const auto step = static_cast<std::size_t>(due());
    return step == steps_.size() ||
           std::all_of(steps_[step].of_tile.begin(), steps_[step].of_tile.end(),
                       [&](TileFile kind) { return folder_.has(kind, tile); });
  }

  void tiles(const std::vector<std::size_t>& wanted, const std::function<void(std::size_t)>& done) {
    for (const std::size_t tile : wanted) {
      if (tile < tiling_.tiles()) continue;
      throw ConfigError(fmt::format("there is no tile {}: the picture has tiles 0 to {}", tile,
                                    tiling_.tiles() - 1));
    }
    const bool all_done =
        std::all_of(wanted.begin(), wanted.end(), [&](std::size_t tile) { return is_done(tile); });
    if (!all_done) open();  // Before there are threads.
    const std::size_t together = all_done ? 1 : std::min(tiles_together(), wanted.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex telling;
    const auto work = [&] {
      for (std::size_t k = next++; k < wanted.size() && !failed; k = next++) {
        try {
          if (!is_done(wanted[k])) do_tile(wanted[k]);
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

  void do_tile(std::size_t tile) {
    try {
      steps_[static_cast<std::size_t>(due())].make(tile);
    } catch (const DeviceMemoryError& error) {
      throw DeviceError(fmt::format(
          "tiles of {} pixels: {}; a new plan with smaller tiles (--tile-size) needs less",
          plan_.tile_size, error.what()));
    }
  }

  void join(std::vector<std::string>& notes) {
    const TileStep step = due();
    std::size_t missing = 0;
    std::size_t first = 0;
    for (std::size_t tile = tiling_.tiles(); tile-- > 0;) {
      if (is_done(tile)) continue;
      ++missing;
      first = tile;
    }
    if (missing > 0) {
      throw InputError(fmt::format(
          "{} of {} tiles are not done in the step {}, the first of them tile {}: run segment tile",
          missing, tiling_.tiles(), to_string(step), first));
    }
    folder_.set_device(
        folder_.device_of(step == TileStep::kMap ? TileFile::kMap : TileFile::kFull));
    if (step < TileStep::kPaint) steps_[static_cast<std::size_t>(step)].join(notes);
  }

  void paint(const std::function<void(double)>& painted) {
    if (due() < TileStep::kPaint) {
      throw InputError(fmt::format(
          "the labels are not joined yet: the next step is {} (segment tile, then segment join)",
          to_string(due())));
    }
    const TileWork all = work();
    // The coordinates alone: the pixels of a scene are not read.
    const std::int64_t regions = paint_results(all, picture().frame, path_, memory(), painted);
    folder_.write(TileFile::kPainted, 0, std::vector<std::int64_t>{regions});
  }

  std::int64_t regions() const {
    // Of a run that was stopped while it removed its files, this is the last one.
    if (due() != TileStep::kDone) return read_labels(work()).count;
    std::vector<std::int64_t> regions;
    folder_.read(TileFile::kPainted, 0, regions);
    return regions.at(0);
  }

  void remove_files() {
    for (const Step& each : steps_) {
      folder_.remove(each.of_run);
      parallel_for(static_cast<int>(tiling_.tiles()), [&](int k) {
        const auto tile = static_cast<std::size_t>(k);
        for (const TileFile kind : each.of_tile) folder_.remove(kind, tile);
        folder_.remove(TileFile::kRim, tile);
        folder_.remove(TileFile::kNumbers, tile);
      });
    }
  }

 private:
  TileWork work() const { return {plan_, tiling_, folder_}; }

  /// Whether the step that is due needs no device.
  bool needs_no_device() const { return due() >= TileStep::kBasins; }

  /// Opens what the tiles of the step that is due are made with.
  void open() {
    if (needs_no_device()) return take_device();
    if (due() == TileStep::kMap) picture();
    maps();
  }

  /// Main memory that may be taken, bytes.
  std::uint64_t memory() const { return memory_ != 0 ? memory_ : host_memory_available() / 2; }

  /// How many tiles of the step that is due are worked on at once. While the device computes one,
  /// others are read and written, unless the device is the processor that would do it.
  std::size_t tiles_together() {
    if (!needs_no_device() && maps().device().kind == DeviceKind::kCpu) return 1;
    const auto side = static_cast<std::uint64_t>(tiling_.side);
    const std::uint64_t fit = memory() / (side * side * kHostBytes);
    const auto cores = static_cast<std::uint64_t>(parallel_threads());
    const std::uint64_t most = needs_no_device() ? cores : std::min(cores, kTilesOfDevice);
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(fit, 1, most));
  }

  void join_maps_of_one_device() {
    // Each file is checked against the first one's device.
    for (std::size_t tile = 0; tile < tiling_.tiles(); ++tile) {
      folder_.read_part(TileFile::kMap, tile, 0, {0, 0, 0, 0}, nullptr, 0);
    }
    join_maps(work());
  }

  const PictureBlocks& picture() {
    if (!picture_) {
      check_source(plan_);
      picture_ = open_picture(plan_.source, plan_.parameters.image, plan_.bands);
      if (picture_->frame.width != plan_.width || picture_->frame.height != plan_.height) {
        throw InputError(fmt::format("{}: it has {} x {} pixels, the plan says {} x {}",
                                     plan_.source, picture_->frame.width, picture_->frame.height,
                                     plan_.width, plan_.height));
      }
    }
    return *picture_;
  }

  /// Files of host steps belong to the device of the first step.
  void take_device() { folder_.set_device(folder_.device_of(TileFile::kFull)); }

  PartMaps& maps() {
    if (maps_) return *maps_;
    maps_.emplace(plan_.parameters, device_, kernel_dir_);
    maps_->limit_memory(memory_);
    if (compiling_) maps_->on_compiling(compiling_);
    const std::uint64_t mine = number_of(text_of(maps_->device()));
    const std::uint64_t theirs = folder_.device_of(TileFile::kFull);
    if (theirs != 0 && theirs != mine) {
      throw ConfigError(fmt::format(
          "the tiles of this run were begun on another device or driver than {}, and labels depend "
          "on the device: choose the same one with --device",
          text_of(maps_->device())));
    }
    folder_.set_device(mine);
    return *maps_;
  }

  TilePlan plan_;
  Tiling tiling_;
  /// In the order of TileStep.
  const std::vector<Step> steps_ = {
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
  Descriptor lock_;
  std::string path_;  ///< Of the folder.
  TileFolder folder_;
  std::string device_;
  std::string kernel_dir_;
  std::uint64_t memory_ = 0;
  std::function<void()> compiling_;
  std::optional<PartMaps> maps_;
  std::unique_ptr<PictureBlocks> picture_;
};

TileRun::TileRun(const std::string& plan_path, Role role)
    : implementation_(std::make_unique<Implementation>(plan_path, role)) {}
TileRun::~TileRun() = default;

void TileRun::use_device(const std::string& device, const std::string& kernel_dir,
                         std::uint64_t memory, std::function<void()> compiling) {
  implementation_->use_device(device, kernel_dir, memory, std::move(compiling));
}
const TilePlan& TileRun::plan() const { return implementation_->plan(); }
std::size_t TileRun::tiles() const { return implementation_->tiling().tiles(); }
TileStep TileRun::due() const { return implementation_->due(); }
bool TileRun::is_done(std::size_t tile) const { return implementation_->is_done(tile); }
void TileRun::tiles(const std::vector<std::size_t>& tiles,
                    const std::function<void(std::size_t)>& done) {
  implementation_->tiles(tiles, done);
}
void TileRun::join(std::vector<std::string>& notes) { implementation_->join(notes); }
void TileRun::paint(const std::function<void(double)>& painted) { implementation_->paint(painted); }
std::int64_t TileRun::regions() const { return implementation_->regions(); }
void TileRun::remove_files() { implementation_->remove_files(); }

}  // namespace diacut
