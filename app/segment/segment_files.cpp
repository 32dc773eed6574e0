#include <fmt/format.h>

#include "options.hpp"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <future>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "annotate.hpp"
#include "diacut/device.hpp"
#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "diacut/output.hpp"
#include "diacut/page.hpp"
#include "diacut/segmenter.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "memory_check.hpp"
#include "output/format.hpp"
#include "paths.hpp"
#include "reader.hpp"
#include "run_log.hpp"
#include "stacks.hpp"
#include "stopwatch.hpp"
#include "writer.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

namespace {

/// The most images that are begun together.
constexpr std::size_t kMostTogether = 16;
/// How often an image is tried on a device that fails, before another one takes its place.
constexpr int kTriesOnADevice = 2;

/// Sets what the C library, where it is glibc, does with freed memory from now on.
/// `kept`: up to 256 MB stay for later images, which then touch no new pages; else it returns to
/// the system without holes between blocks, and the process stays small. Where an OpenCL device is
/// a CPU, its buffers are memory of the process, to which kept memory would add; elsewhere the
/// process is small, and new pages are a tenth of an image's time.
void keep_freed_memory([[maybe_unused]] bool kept) {
#ifdef M_MMAP_THRESHOLD
  constexpr int kMiB = 1 << 20;
  // Larger blocks are mapped each by itself: 32 MiB is the most that glibc allows here.
  mallopt(M_MMAP_THRESHOLD, kept ? 32 * kMiB : kMiB);
  mallopt(M_TRIM_THRESHOLD, kept ? 256 * kMiB : kMiB);
#endif
}

/// Whether something is measured in pictures, or labels keep the sizes of their pixels, or pages
/// are linked by their places.
bool keeps_files(const Options& options, const Plan& plan) {
  return plan.roots.results.has(Result::kTable) || options.links.wanted ||
         std::any_of(plan.jobs.begin(), plan.jobs.end(), [&](const Job& job) {
           return !job.stack.empty() || names_tiff(job.results[Result::kLabels]);
         });
}

/// Whether an error is one of the device, and not of what it was asked for. `failure` may be null.
bool is_device_failure(const std::exception_ptr& failure) {
  if (!failure) return false;
  try {
    std::rethrow_exception(failure);
  } catch (const DeviceMemoryError&) {
    return false;
  } catch (const DeviceError&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// The device that a run uses, and those that take its place when it fails. A device that the user
/// named is not replaced, nor is any with kernels from a folder, which may be what is wrong.
class DeviceInUse {
 public:
  /// The arguments must outlive the object.
  DeviceInUse(const Options& options, const Plan& plan, RunLog& log, MemoryCheck& memory)
      : options_(options), plan_(plan), log_(log), memory_(memory) {}

  /// Begins to open the device in a thread of its own, unless it is open: drivers take longer for
  /// it than an image takes to be read. Throws as check_parameters() does meanwhile.
  void begin_opening() {
    if (segmenter_ || opening_.valid()) return;
    opening_ = std::async(std::launch::async, [this] {
      if (devices_.empty()) {
        devices_ = loaded_devices();
        if (!options_.kernel_dir.empty()) devices_.resize(1);
        handle_crashes();  // Drivers have taken these signals over.
        memory_.use(devices_.front());
      }
      Segmenter segmenter(options_.parameters, devices_.front().index(), options_.kernel_dir);
      handle_crashes();
      set_up(segmenter);
      return segmenter;
    });
    check_parameters(options_.parameters);
  }

  /// The segmenter on the device, which the first call waits for, and before several images checks.
  /// A device that cannot be opened or computes wrongly is given up. Throws what Segmenter's
  /// constructor and check_device() throw for the last device.
  Segmenter& segmenter() {
    while (!segmenter_) {
      begin_opening();
      try {
        use(opening_.get());
        if (plan_.jobs.size() > 1) check();
      } catch (const DeviceError&) {
        if (!is_replaceable()) throw;
        give_up(std::current_exception());
      }
    }
    return *segmenter_;
  }

  /// Whether another device is left.
  bool is_replaceable() const { return devices_.size() > 1; }
  /// Gives the device up for a failure; the next call of segmenter() opens another one.
  /// Precondition: is_replaceable(), and nobody uses the segmenter.
  void give_up(const std::exception_ptr& failure) {
    segmenter_.reset();
    const DeviceInfo lost = devices_.front();
    devices_.erase(devices_.begin());
    const DeviceInfo& next = devices_.front();
    memory_.use(next);
    log_.gave_up(lost, attempt("", [&] { std::rethrow_exception(failure); })->message, next);
    note_ = fmt::format("device {} ({}) failed and was given up: segmented on device {} ({})",
                        lost.index(), lost.name, next.index(), next.name);
  }

  /// What reports say of images on a device that took another one's place; empty: it did not.
  const std::string& note() const { return note_; }

 private:
  /// A driver that gets no memory while it is loaded leaves the dynamic loader locked, for which
  /// other threads would wait for ever: it ends the process.
  std::vector<DeviceInfo> loaded_devices() const {
    try {
      return devices_to_try(options_.device);
    } catch (const std::bad_alloc&) {
      end_with(
          "error: there is not enough memory to load the OpenCL drivers: close other programs, or "
          "allow this one more\n",
          ExitCode::kDevice);
    }
  }

  void set_up(Segmenter& segmenter) {
    segmenter.limit_device_memory(options_.memory);
    segmenter.keep_probabilities(plan_.roots.results.has(Result::kProbabilities));
    segmenter.keep_eigenvectors(options_.results.has(Result::kEigenvectors));
    segmenter.verify_results(options_.verify);
    // A kernel of --kernel-dir that does not build is reported for the image, and once.
    if (has_own_maps() || !options_.kernel_dir.empty()) return;
    segmenter.on_compiling([this] { compiled_ = true; });
    try {
      segmenter.prepare();
    } catch (const Error&) {  // It fails again with an image.
    }
  }

  void use(Segmenter opened) {
    segmenter_.emplace(std::move(opened));
    keep_freed_memory(segmenter_->device().kind != DeviceKind::kCpu);
    log_.opened(segmenter_->device());
    const auto report = [this] { log_.compiling(segmenter_->device()); };
    if (std::exchange(compiled_, false)) report();
    segmenter_->on_compiling(report);
  }

  bool has_own_maps() const {
    return options_.sidecars.has(Sidecar::kBoundary) || options_.sidecars.has(Sidecar::kFeatures);
  }

  void check() {
    try {
      segmenter_->check_device(has_own_maps());
    } catch (const DeviceMemoryError&) {
      throw;
    } catch (const DeviceError&) {
      // Once more, as images are tried twice on a device.
      segmenter_->check_device(has_own_maps());
    }
  }

  const Options& options_;
  const Plan& plan_;
  RunLog& log_;
  MemoryCheck& memory_;
  std::vector<DeviceInfo> devices_;  ///< The one in use, and those after it.
  std::optional<Segmenter> segmenter_;
  std::string note_;
  bool compiled_ = false;           ///< Whether kernels were compiled while the device was opened.
  std::future<Segmenter> opening_;  ///< Last: its thread uses the others.
};

/// Segments the images in the order of the jobs: one after the other, or several small ones
/// together where the device gains by it. While the device works on a group of images, the group
/// before it is finished on the host and written, and the group after it is read, so that at most
/// three groups are in memory, fewer where there is no room for them. Everything is reported and
/// counted in the thread that calls run_from(), in the order of the jobs.
class Scheduler {
 public:
  Scheduler(const Options& options, const Plan& plan, RunLog& log, const CancelToken& cancel)
      : options_(options),
        plan_(plan),
        log_(log),
        cancel_(cancel),
        memory_check_(options),
        reader_(
            plan.jobs, options.parameters.image, [this](const Job& job) { return skips(job); },
            &memory_check_, keeps_files(options, plan)),
        device_(options, plan, log, memory_check_),
        writer_(options, plan, cancel, memory_check_),
        shared_(plan.roots.results, options.annotations, plan.batch),
        stacks_(options.batch.skip_existing),
        objects_(options) {}

  /// Segments the image at `index` and those after it that form a group with it. Returns the index
  /// of the next image. Throws what ends the run; other errors are those of an image.
  std::size_t run_from(std::size_t index) {
    const Job& job = plan_.jobs[index];
    if (skips(job)) {
      reader_.drop(index);
      finish_all();
      log_.skipped(job);
      return index + 1;
    }
    log_.began(job);
    device_.begin_opening();
    Group group;
    group.push_back(read(index));
    if (group.front().failure) {
      reader_.read_ahead(index + 1, 1);
      finish_all();
      fail(group);
      return index + 1;
    }
    device_.segmenter();
    gather(index + 1, group);
    const std::size_t next = index + group.size();
    reader_.read_ahead(next, group.size());
    std::vector<BegunSegmentation> begun = begin(group);
    finish_all();
    if (group.front().failure) {
      fail(group);
    } else if (group.size() == 1 && is_last(next)) {
      // In this thread, so that the progress of the last stages is shown.
      conclude(
          writer_.write(group.front(), std::move(begun.front()), device_.segmenter(), watch()));
    } else {
      for (std::size_t k = 0; k < group.size(); ++k) {
        writer_.begin(std::move(group[k]), std::move(begun[k]), device_.segmenter());
      }
    }
    return next;
  }

  /// Ends the run, after the last image.
  void finish() {
    finish_all();
    if (cancel_.cancelled()) return;
    shared_.commit();
    objects_.commit();
  }

 private:
  /// Images that the device is to work on.
  using Group = std::vector<LoadedImage>;

  bool skips(const Job& job) const { return options_.batch.skip_existing && is_done(job); }
  bool is_last(std::size_t next) const { return next == plan_.jobs.size(); }
  Watch watch() { return log_.watch(cancel_); }

  /// The image at `index`. One that was not read ahead, or for which there was no room, is read
  /// when no other image is in memory.
  LoadedImage read(std::size_t index) {
    auto ahead = reader_.take_if(index, [](const LoadedImage& each) { return !each.postponed; });
    if (ahead) return std::move(*ahead);
    reader_.drop_all();
    finish_all();
    return reader_.take(index);
  }

  /// Adds images from `index` on to a group of one, as long as the device gains by it.
  void gather(std::size_t index, Group& group) {
    const Segmenter& segmenter = device_.segmenter();
    const std::int64_t most = segmenter.pixels_together();
    std::int64_t pixels = segmenter.working_pixels(group.front().image);
    if (pixels > most / 2) return;
    // So many images of this size fit; they are read side by side.
    const auto together =
        std::min(static_cast<std::size_t>(most / std::max<std::int64_t>(pixels, 1)), kMostTogether);
    reader_.read_ahead(index, together - 1);
    for (; group.size() < together && !cancel_.cancelled(); ++index) {
      std::optional<LoadedImage> loaded = reader_.take_if(index, [&](const LoadedImage& candidate) {
        if (candidate.failure || candidate.postponed) return false;
        pixels += segmenter.working_pixels(candidate.image);
        return pixels <= most;
      });
      if (!loaded) return;
      group.push_back(std::move(*loaded));
    }
  }

  /// Does the device's part of the group. Images that the device fails at are tried once more on
  /// it, and then on the devices that may take its place. What fails for another reason has its
  /// failure; if the whole group fails, each image has the failure.
  std::vector<BegunSegmentation> begin(Group& group) {
    const Stopwatch stopwatch;
    std::vector<BegunSegmentation> begun(group.size());
    std::vector<std::size_t> places(group.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::erase_if(places, [&](std::size_t k) { return group[k].needs_no_device(); });
    std::optional<Failure> failure;
    for (int tries = 1; !places.empty(); ++tries) {
      try {
        Segmenter& segmenter = device_.segmenter();
        auto [images, seeded] = asked_of(group, places);
        auto found =
            seeded.empty() ? segmenter.begin(images, watch()) : segmenter.begin(seeded, watch());
        for (std::size_t i = 0; i < places.size(); ++i) begun[places[i]] = std::move(found[i]);
      } catch (...) {
        failure = current_failure(group.front().job->input);
      }
      std::erase_if(places, [&](std::size_t k) { return !is_device_failure(begun[k].failure()); });
      if (failure || places.empty() || cancel_.cancelled() || !device_.is_replaceable()) break;
      if (tries % kTriesOnADevice != 0) continue;
      finish_all();  // So that nobody uses its segmenter.
      device_.give_up(begun[places.front()].failure());
    }
    const double seconds = stopwatch.seconds() / static_cast<double>(group.size());
    for (LoadedImage& each : group) {
      each.failure = failure;
      each.seconds += seconds;
      each.features.reset();  // Only the device's part needs them.
    }
    return begun;
  }

  /// The images at these places of the group, and, where seeds were read, all of them with seeds.
  std::pair<std::vector<ImageToSegment>, std::vector<SeededImage>> asked_of(
      Group& group, const std::vector<std::size_t>& places) const {
    const auto pointer = [](const auto& value) { return value ? &*value : nullptr; };
    std::vector<ImageToSegment> images;
    std::vector<SeededImage> seeded;
    for (const std::size_t k : places) {
      LoadedImage& each = group[k];
      if (!device_.note().empty()) each.image.notes.push_back(device_.note());
      images.emplace_back(each.image, pointer(each.boundary_map), pointer(each.features));
      if (!each.seeds) continue;
      SeededImage& one = seeded.emplace_back(images.back(), *each.seeds);
      one.barriers = pointer(each.barriers);
      one.start = pointer(each.start);
    }
    return {std::move(images), std::move(seeded)};
  }

  void fail(const Group& group) {
    for (const LoadedImage& each : group) {
      WrittenImage failed;
      failed.job = each.job;
      failed.failure = each.failure;
      failed.seconds = each.seconds;
      conclude(std::move(failed));
    }
  }

  /// Waits for the images that are being finished.
  void finish_all() {
    while (auto written = writer_.next()) conclude(std::move(*written));
  }

  void conclude(WrittenImage written) {
    // What fails after an interruption fails because of it.
    if (written.failure && cancel_.cancelled()) return;
    if (!written.failure) {
      written.failure = attempt(written.job->input, [&] { shared_.add(written.parts); });
    }
    log_.concluded(written);
    objects_.add(written);
    if (const auto failure = stacks_.add(written)) log_.failed(*failure);
  }

  const Options& options_;
  const Plan& plan_;
  RunLog& log_;
  const CancelToken& cancel_;
  // Before the reader, because its threads use it to the end.
  MemoryCheck memory_check_;
  Reader reader_;
  // Before the writer, because its threads use the segmenter to the end.
  DeviceInUse device_;
  Writer writer_;
  SharedFiles shared_;
  Stacks stacks_;
  ObjectTable objects_;
};

/// Writes the index of the pages of a batch, with those of earlier runs that were left out. A share
/// of a run writes none, because it would lack the others' pages.
void write_index(const Options& options, const Plan& plan) {
  const std::string index = page_index(plan);
  if (index.empty() || options.batch.shard.divides()) return;
  std::vector<std::string> pages;
  for (const Job& job : plan.jobs) pages.push_back(job.results[Result::kPage]);
  const std::string title = options.inputs.size() == 1
                                ? whole_path(options.inputs.front()).filename().string()
                                : "Pictures";
  write_page_index(index, title, pages);
}

}  // namespace

ExitCode segment_images(Options options, Console& console, const CancelToken& cancel) {
  keep_freed_memory(false);  // Until a device is opened.
  if (options.tiles.wanted()) {
    std::vector<Job> jobs(options.inputs.size());
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      jobs[k].input = options.inputs[k];
      jobs[k].map = is_map(jobs[k].input);
    }
    set_least_size(jobs, options);
    return run_in_tiles(options, console, cancel);
  }
  const Plan plan = make_plan(options);
  const std::size_t images = plan.jobs.size();
  set_least_size(plan.jobs, options);
  prepare_results(options, plan);
  RunLog log(options, plan, console);
  try {
    Scheduler scheduler(options, plan, log, cancel);
    for (std::size_t i = 0; i < images && !cancel.cancelled();) i = scheduler.run_from(i);
    scheduler.finish();
    write_index(options, plan);
  } catch (...) {  // No network, no device, or nowhere to report to: each image would fail.
    log.failed(current_failure());
  }
  return log.end(cancel.cancelled());
}

}  // namespace diacut::app
