#include "segment_files.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "annotate.hpp"
#include "device_in_use.hpp"
#include "diacut/output.hpp"
#include "diacut/page.hpp"
#include "diacut/segmenter.hpp"
#include "exit_code.hpp"
#include "memory_check.hpp"
#include "output/format.hpp"
#include "paths.hpp"
#include "prepare_results.hpp"
#include "reader.hpp"
#include "run_log.hpp"
#include "stacks.hpp"
#include "stopwatch.hpp"
#include "writer.hpp"

namespace diacut::app {

namespace {

/// The most images that are begun together.
constexpr std::size_t kMostTogether = 16;
/// How often an image is tried on a device that fails, before another one takes its place.
constexpr int kTriesOnADevice = 2;

/// Whether something is measured in pictures, or labels keep the sizes of their pixels.
bool keeps_files(const Plan& plan) {
  return plan.roots.results.has(Result::kTable) ||
         std::any_of(plan.jobs.begin(), plan.jobs.end(), [&](const Job& job) {
           return !job.stack.empty() || names_tiff(job.results[Result::kLabels]);
         });
}

/// Segments the images in the order of the jobs: one after the other, or several small ones
/// together where the device gains by it. While the device works on a group of images, the group
/// before it is finished on the host and written, and the group after it is read, so that at most
/// three groups are in memory, fewer where there is no room for them. Everything is told and
/// counted in the thread that calls run(), in the order of the jobs.
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
            &memory_check_, keeps_files(plan)),
        device_(options, plan, log, memory_check_),
        writer_(options, plan, cancel, memory_check_),
        shared_(plan.roots.results, options.annotations, plan.batch),
        stacks_(options.batch.skip_existing) {}

  /// Throws what ends the run.
  void run() {
    for (std::size_t i = 0; i < plan_.jobs.size() && !cancel_.cancelled();) i = run_from(i);
    settle();
    if (!cancel_.cancelled()) shared_.commit();
  }

 private:
  /// An image that the device is to work on.
  struct Member {
    const Job* job = nullptr;
    LoadedImage loaded;
  };
  using Group = std::vector<Member>;

  bool skips(const Job& job) const { return options_.batch.skip_existing && is_done(job); }
  bool is_last(std::size_t next) const { return next == plan_.jobs.size(); }
  Watch watch() { return log_.watch(cancel_); }

  /// Segments the image at `index` and those after it that form a group with it. Returns the index
  /// of the next image. Throws what ends the run; other errors are those of an image.
  std::size_t run_from(std::size_t index) {
    const Job& job = plan_.jobs[index];
    if (skips(job)) {
      reader_.drop(index);
      settle();
      log_.skipped(job);
      return index + 1;
    }
    log_.began(job);
    Group group;
    group.push_back({&job, read(index)});
    if (group.front().loaded.failure) {
      reader_.read_ahead(index + 1, 1);
      settle();
      fail(group);
      return index + 1;
    }
    device_.segmenter();
    gather(index + 1, group);
    const std::size_t next = index + group.size();
    reader_.read_ahead(next, group.size());
    std::vector<BegunSegmentation> begun = begin(group);
    settle();
    if (group.front().loaded.failure) {
      fail(group);
    } else if (group.size() == 1 && is_last(next)) {
      // In this thread, so that the progress of the last stages is shown.
      conclude(job, writer_.write(job, group.front().loaded, std::move(begun.front()),
                                  device_.segmenter(), watch()));
    } else {
      for (std::size_t k = 0; k < group.size(); ++k) {
        writer_.begin(*group[k].job, std::move(group[k].loaded), std::move(begun[k]),
                      device_.segmenter());
      }
    }
    return next;
  }

  /// The image at `index`. One that was not read ahead, or for which there was no room, is read
  /// when no other image is in memory.
  LoadedImage read(std::size_t index) {
    auto ahead = reader_.take_if(index, [](const LoadedImage& each) { return !each.postponed; });
    if (ahead) return std::move(*ahead);
    reader_.drop_all();
    settle();
    return reader_.take(index);
  }

  /// Adds images from `index` on to a group of one, as long as the device gains by it.
  void gather(std::size_t index, Group& group) {
    const Segmenter& segmenter = device_.segmenter();
    const std::int64_t most = segmenter.pixels_together();
    std::int64_t pixels = segmenter.working_pixels(group.front().loaded.image);
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
      group.push_back({&plan_.jobs[index], std::move(*loaded)});
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
    for (int tries = 1;; ++tries) {
      const std::optional<Failure> failure = begin_at(group, places, begun);
      for (Member& each : group) each.loaded.failure = failure;
      std::erase_if(places, [&](std::size_t k) { return !is_device_failure(begun[k].failure()); });
      if (failure || places.empty() || cancel_.cancelled() || !device_.is_replaceable()) break;
      if (tries % kTriesOnADevice != 0) continue;
      settle();  // So that nobody uses its segmenter.
      device_.give_up(begun[places.front()].failure());
    }
    const double seconds = stopwatch.seconds() / static_cast<double>(group.size());
    for (Member& each : group) {
      each.loaded.seconds += seconds;
      each.loaded.features.reset();  // Only the device's part needs them.
    }
    return begun;
  }

  /// Begins the images at these places of the group. Returns what ended all of them, if anything
  /// did.
  std::optional<Failure> begin_at(Group& group, const std::vector<std::size_t>& places,
                                  std::vector<BegunSegmentation>& begun) {
    return attempt(group.front().job->input, [&] {
      Segmenter& segmenter = device_.segmenter();
      std::vector<ImageToSegment> images;
      for (const std::size_t k : places) {
        LoadedImage& each = group[k].loaded;
        if (!device_.note().empty()) each.image.notes.push_back(device_.note());
        images.push_back(
            {&each.image, each.edges ? &*each.edges : nullptr, each.seeds ? &*each.seeds : nullptr,
             each.features ? &*each.features : nullptr, each.barriers ? &*each.barriers : nullptr,
             each.start ? &*each.start : nullptr});
      }
      std::vector<BegunSegmentation> found = segmenter.begin(images, watch());
      for (std::size_t i = 0; i < places.size(); ++i) begun[places[i]] = std::move(found[i]);
    });
  }

  void fail(const Group& group) {
    for (const Member& each : group) {
      writer_.pass(*each.job);
      conclude(*each.job, {{}, {}, each.loaded.failure, each.loaded.seconds});
    }
  }

  /// Waits for the images that are being finished.
  void settle() {
    while (const auto done = writer_.next()) conclude(*done->job, std::move(done->written));
  }

  void conclude(const Job& job, WrittenImage written) {
    // What fails after an interruption fails because of it.
    if (written.failure && cancel_.cancelled()) return;
    if (!written.failure) {
      written.failure = attempt(job.input, [&] { shared_.add(written.parts); });
    }
    log_.concluded(job, written);
    if (const auto failure = stacks_.add(job, written)) log_.failed(*failure);
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

ExitCode segment_files(const Options& options, const Plan& plan, Console& console,
                       const CancelToken& cancel) {
  RunLog log(options, plan, console);
  try {
    check_parameters(options.parameters);
    Scheduler(options, plan, log, cancel).run();
    write_index(options, plan);
  } catch (...) {  // No network, no device, or nowhere to report to: each image would fail.
    log.failed(current_failure());
  }
  return log.end(cancel.cancelled());
}

}  // namespace diacut::app
