#include "batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diacut/edges.hpp"
#include "diacut/errors.hpp"
#include "diacut/image.hpp"
#include "diacut/output.hpp"
#include "diacut/segmenter.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace diacut::app {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What went wrong in `work`, if anything; `input` is named in any case.
template <class Work>
std::optional<Failure> attempt(const std::string& input, const Work& work) {
  try {
    work();
    return std::nullopt;
  } catch (...) {
    Failure failure = current_failure();
    if (failure.message.find(input) == std::string::npos) {
      failure.message = fmt::format("{}: {}", display_name(input), failure.message);
    }
    return failure;
  }
}

std::string regions_text(const Labels& labels) {
  return fmt::format("{} region{}", labels.count, labels.count == 1 ? "" : "s");
}

/// Empty if the solver converged.
std::string not_converged(const std::string& input, const Segmentation& result, double tolerance) {
  const EigenReport& report = result.eigenvectors.report;
  if (report.converged) return {};
  double worst = 0;
  for (const double residual : report.residuals) worst = std::max(worst, residual);
  return fmt::format(
      "{}: the eigenvectors did not converge: the largest residual is {:.1e}, wanted {:.1e}, after "
      "{} products; the results were written all the same (raise eigen.max_products or "
      "--tolerance)",
      display_name(input), worst, tolerance, report.products);
}

EdgeMap edges_of(const Job& job, std::int64_t max_pixels) {
  std::error_code ignored;
  if (!fs::exists(job.edges, ignored)) {
    throw InputError(
        fmt::format("--edges: there is no map '{}' (in a folder with .png, .tif, .tiff or .npy "
                    "behind the image's name)",
                    job.edges));
  }
  return read_edges(job.edges, max_pixels);
}

/// An image as it was read, or why not.
struct Loaded {
  Image image;
  std::optional<EdgeMap> edges;
  std::optional<Failure> failure;
  double seconds = 0;
};

Loaded load(const Job& job, const ImageParameters& parameters) {
  const Clock::time_point start = Clock::now();
  Loaded loaded;
  loaded.failure = attempt(job.input, [&] {
    loaded.image = read_image(job.input, parameters);
    if (!job.edges.empty()) loaded.edges = edges_of(job, parameters.max_pixels);
  });
  loaded.seconds = seconds_since(start);
  return loaded;
}

/// Whether to read it does not wait for anybody: a signal ends such a wait of this thread only.
bool is_file(const std::string& name) {
  std::error_code ignored;
  return name != "-" && fs::is_regular_file(name, ignored);
}

/// A segmentation when it is written, or why not.
struct Written {
  Segmentation result;
  std::string report;  ///< If one is wanted.
  std::optional<Failure> failure;
  double seconds = 0;  ///< Of all the work on the image.
};

/// At most so many images are begun together.
constexpr std::size_t kMostTogether = 16;

/// Segments the images in the order of the jobs: one after the other, or small ones several
/// together where the device gains by it. While the device is at some, those before them are
/// finished on the host and written, and the next ones are read: at most three times as many are in
/// memory. All that is told and counted is so in this thread and in the order of the jobs.
class Run {
 public:
  Run(const Options& options, const Plan& plan, Console& console, const CancelToken& cancel)
      : options_(options),
        plan_(plan),
        console_(console),
        cancel_(cancel),
        progress_(console, plan.jobs.size(), plan.batch),
        lines_(plan.batch ? options.json : std::string()) {
    for (const Failure& failure : plan.failures) fail(failure);
  }

  ExitCode run() {
    const Clock::time_point start = Clock::now();
    try {
      for (std::size_t i = 0; i < plan_.jobs.size() && !cancel_.cancelled();) i = run_from(i);
      settle();
    } catch (...) {  // No device, or nowhere to report to: no other image would fare better.
      const Failure failure = current_failure();
      errors_.push_back(failure.message);
      worst_ = worse(worst_, failure.code);
    }
    for (const std::string& error : errors_) console_.error(error);
    if (cancel_.cancelled()) {
      worst_ = ExitCode::kInterrupted;
      console_.message("interrupted");
    }
    if (plan_.batch) console_.message(summary(seconds_since(start)));
    return worst_;
  }

 private:
  /// An image whose work on the device is done.
  struct Open {
    const Job* job = nullptr;
    std::future<Written> written;
  };
  /// An image that the device is to work on.
  struct Member {
    const Job* job = nullptr;
    Loaded loaded;
  };
  /// One that is being read.
  struct Ahead {
    std::size_t index = 0;
    std::future<Loaded> loaded;
  };

  bool skips(const Job& job) const { return options_.skip_existing && is_done(job); }

  /// Segments the image at `index`, and those after it that go with it. What they fail of is
  /// counted; throws only what ends the run. Returns the index of the next one.
  std::size_t run_from(std::size_t index) {
    const Job& job = plan_.jobs[index];
    if (skips(job)) {
      std::erase_if(ahead_, [index](const Ahead& each) { return each.index == index; });
      settle();
      skip(job);
      return index + 1;
    }
    progress_.begin(job.input);
    std::vector<Member> members;
    members.push_back({&job, take(index)});
    std::size_t next = index + 1;
    if (!members.front().loaded.failure) {
      open_device();
      next = gather(next, members);
    }
    read_ahead(next, members.size());

    std::vector<BegunSegmentation> begun(members.size());
    if (!members.front().loaded.failure) begin(members, begun);
    settle();
    if (members.front().loaded.failure) {
      for (const Member& each : members) {
        conclude(*each.job, {{}, {}, each.loaded.failure, each.loaded.seconds});
      }
    } else if (members.size() == 1 && next == plan_.jobs.size()) {
      conclude(job, finish(job, members.front().loaded, std::move(begun.front()), watch()));
    } else {
      for (std::size_t k = 0; k < members.size(); ++k) {
        finish_aside(members[k], std::move(begun[k]));
      }
    }
    return next;
  }

  /// Adds to `members`, which holds one, images from `index` on as long as the device gains by it.
  /// Returns the index of the first that is left.
  std::size_t gather(std::size_t index, std::vector<Member>& members) {
    const std::int64_t most = segmenter_->pixels_together();
    auto pixels = static_cast<std::int64_t>(members.front().loaded.image.pixel_count());
    if (pixels > most / 2) return index;
    // They are read side by side.
    const auto together =
        std::min(static_cast<std::size_t>(most / std::max<std::int64_t>(pixels, 1)), kMostTogether);
    read_ahead(index, together - 1);
    while (members.size() < together && !ahead_.empty() && ahead_.front().index == index &&
           !cancel_.cancelled()) {
      Loaded loaded = ahead_.front().loaded.get();
      pixels += static_cast<std::int64_t>(loaded.image.pixel_count());
      if (loaded.failure || pixels > most) {
        // By itself, later.
        std::promise<Loaded> read;
        ahead_.front().loaded = read.get_future();
        read.set_value(std::move(loaded));
        return index;
      }
      ahead_.pop_front();
      members.push_back({&plan_.jobs[index], std::move(loaded)});
      ++index;
    }
    return index;
  }

  /// The device's part. If all fail of something at once, the first one's failure says so.
  void begin(std::vector<Member>& members, std::vector<BegunSegmentation>& begun) {
    const Clock::time_point start = Clock::now();
    const auto edges_of_member = [](const Member& each) {
      return each.loaded.edges ? &*each.loaded.edges : nullptr;
    };
    std::optional<Failure> failure = attempt(members.front().job->input, [&] {
      if (members.size() == 1) {
        const Member& only = members.front();
        begun.front() = segmenter_->begin(only.loaded.image, edges_of_member(only), watch());
        return;
      }
      std::vector<ImageToSegment> images;
      for (const Member& each : members) {
        images.push_back({&each.loaded.image, edges_of_member(each)});
      }
      begun = segmenter_->begin(images, watch());
    });
    const double seconds = seconds_since(start) / static_cast<double>(members.size());
    for (Member& each : members) {
      each.loaded.seconds += seconds;
      each.loaded.failure = failure;
    }
  }

  void finish_aside(Member& member, BegunSegmentation begun) {
    const Job& job = *member.job;
    open_.push_back(
        {&job, std::async(std::launch::async, [this, &job, loaded = std::move(member.loaded),
                                               begun = std::move(begun)]() mutable {
           return finish(job, loaded, std::move(begun), {{}, &cancel_});
         })});
  }

  Loaded take(std::size_t index) {
    if (ahead_.empty() || ahead_.front().index != index) {
      return load(plan_.jobs[index], options_.parameters.image);
    }
    Loaded loaded = ahead_.front().loaded.get();
    ahead_.pop_front();
    return loaded;
  }

  /// Of this thread.
  Watch watch() {
    return {[this](std::string_view stage, double share) { progress_.stage(stage, share); },
            &cancel_};
  }

  void skip(const Job& job) {
    ++skipped_;
    progress_.skipped();
    const std::string text = display_name(job.input) + ": skipped, its results exist";
    if (plan_.batch) {
      lines_.add_skipped(job.input);
      console_.detail(text);
    } else {
      console_.message(text);
    }
  }

  /// Has `count` images from `index` on read, or as many as can be without waiting for anybody.
  void read_ahead(std::size_t index, std::size_t count) {
    const std::size_t end = std::min(index + count, plan_.jobs.size());
    std::size_t from = ahead_.empty() ? index : ahead_.back().index + 1;
    for (; from < end; ++from) {
      const Job& job = plan_.jobs[from];
      if (skips(job) || !is_file(job.input) || (!job.edges.empty() && !is_file(job.edges))) return;
      ahead_.push_back({from, std::async(std::launch::async, [this, &job] {
                          return load(job, options_.parameters.image);
                        })});
    }
  }

  /// What is left to do for an image without the device. For any thread.
  Written finish(const Job& job, const Loaded& loaded, BegunSegmentation begun,
                 const Watch& watching) const {
    const Clock::time_point start = Clock::now();
    Written written;
    written.failure = attempt(job.input, [&] {
      written.result = std::move(begun).finish(watching);
      watching.report("writing", 0);
      if (!options_.json.empty()) {
        written.report = report_json(written.result, loaded.image, segmenter_->parameters(),
                                     segmenter_->device(), job.input);
        if (!plan_.batch) write_file(options_.json, written.report);
      }
      write_results(job, loaded.image, written.result);
    });
    written.seconds = loaded.seconds + seconds_since(start);
    return written;
  }

  /// Waits for the images that are being finished.
  void settle() {
    for (; !open_.empty(); open_.pop_front()) {
      const Written written = open_.front().written.get();
      conclude(*open_.front().job, written);
    }
  }

  void conclude(const Job& job, const Written& written) {
    if (written.failure && cancel_.cancelled()) return;
    if (!written.failure) tell(job, written.result, written.seconds);
    progress_.worked();
    if (written.failure) {
      fail(*written.failure);
      lines_.add_failure(job.input, *written.failure);
    } else {
      ++done_;
      lines_.add_report(written.report);
    }
  }

  void open_device() {
    if (segmenter_) return;
    segmenter_.emplace(options_.parameters, options_.device, options_.kernel_dir);
    segmenter_->limit_device_memory(options_.memory);
    segmenter_->keep_eigenvectors(!plan_.roots.results[Result::kEigenvectors].empty());
    const DeviceInfo& device = segmenter_->device();
    console_.detail(
        fmt::format("device {}: {} ({})", device.index(), device.name, device.platform));
  }

  /// The labels come last: where they are, all is.
  void write_results(const Job& job, const Image& image, const Segmentation& result) const {
    for (auto info = kResults.rbegin(); info != kResults.rend(); ++info) {
      const std::string& place = job.results[info->result];
      if (!place.empty()) write_result(info->result, place, image, result);
    }
  }

  void write_result(Result kind, const std::string& place, const Image& image,
                    const Segmentation& result) const {
    if (kind == Result::kEigenvectors) {
      write_eigenvectors(place, result.eigenvectors, &image);
      return;
    }
    make_folder_of(place);
    switch (kind) {
      case Result::kLabels:
        return write_labels(place, result.labels, options_.indexed);
      case Result::kOverlay:
        return write_overlay(place, image, result.labels);
      case Result::kTree:
        return write_tree(place, result.hierarchy.value());
      case Result::kUltrametric:
        return write_ultrametric(place, result.hierarchy.value());
      case Result::kContours:
        return write_contours(place, result.contours, image.width, image.height);
      case Result::kEigenvectors:
        break;
    }
  }

  void make_folder_of(const std::string& file) const {
    // A folder that cannot be made is told of by the writing that follows.
    std::error_code ignored;
    if (plan_.batch) fs::create_directories(fs::path(file).parent_path(), ignored);
  }

  void tell(const Job& job, const Segmentation& result, double seconds) {
    if (!result.notes.empty()) ++noted_;
    for (const std::string& note : result.notes) {
      if (!plan_.batch || options_.verbosity == Verbosity::kVerbose) {
        console_.note(fmt::format("{}: {}", display_name(job.input), note));
      }
    }
    std::string line = fmt::format("{}: {}", display_name(job.input), regions_text(result.labels));
    std::vector<std::string> places;
    for (const std::string& place : job.results) {
      if (!place.empty()) places.push_back(place == "-" ? "standard output" : place);
    }
    if (!places.empty()) line += fmt::format(" -> {}", fmt::join(places, ", "));
    line += fmt::format(" ({:.1f} s)", seconds);
    if (plan_.batch) {
      console_.detail(line);
    } else {
      console_.message(line);
    }
    console_.detail(describe_run(result));
    const std::string error = not_converged(job.input, result, options_.parameters.eigen.tolerance);
    if (!error.empty()) {
      ++unconverged_;
      errors_.push_back(error);
      worst_ = worse(worst_, ExitCode::kNotConverged);
    }
  }

  void fail(const Failure& failure) {
    ++failed_;
    errors_.push_back(failure.message);
    worst_ = worse(worst_, failure.code);
  }

  std::string summary(double seconds) const {
    const std::size_t tried = done_ + skipped_ + failed_ - plan_.failures.size();
    std::string text = fmt::format("{} done, {} skipped, {} failed", done_, skipped_, failed_);
    if (unconverged_ > 0) text += fmt::format(", {} of those done not converged", unconverged_);
    if (tried < plan_.jobs.size()) {
      text += fmt::format(", {} not tried", plan_.jobs.size() - tried);
    }
    text += fmt::format("; {}", clock_text(seconds));
    if (done_ > 0) text += fmt::format(" ({:.2f} images/s)", static_cast<double>(done_) / seconds);
    if (plan_.ignored > 0) text += fmt::format("; {} other files left out", plan_.ignored);
    if (noted_ > 0 && options_.verbosity != Verbosity::kVerbose) {
      text += fmt::format("; {} with notes (--verbose or --json shows them)", noted_);
    }
    const std::string& labels = plan_.roots.results[Result::kLabels];
    if (!labels.empty()) text += fmt::format("; labels in '{}'", labels);
    return text;
  }

  const Options& options_;
  const Plan& plan_;
  Console& console_;
  const CancelToken& cancel_;
  Progress progress_;
  JsonLines lines_;
  std::optional<Segmenter> segmenter_;
  std::vector<std::string> errors_;  ///< One an image at most, told at the end.
  std::size_t done_ = 0;
  std::size_t skipped_ = 0;
  std::size_t failed_ = 0;
  std::size_t unconverged_ = 0;
  std::size_t noted_ = 0;
  ExitCode worst_ = ExitCode::kDone;
  // Last, so that what they run has all of the above to the end.
  std::deque<Ahead> ahead_;  ///< In the order of the jobs, without gaps.
  std::deque<Open> open_;
};

}  // namespace

ExitCode run_plan(const Options& options, const Plan& plan, Console& console,
                  const CancelToken& cancel) {
  return Run(options, plan, console, cancel).run();
}

}  // namespace diacut::app
