#include "batch.hpp"

#include <fmt/format.h>

#include <chrono>
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

/// Segments the images one after the other. While the device is at one, the one before it is
/// finished on the host and written, and the next one is read: at most three are in memory. All
/// that is told and counted is so in this thread and in the order of the jobs.
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
      for (std::size_t i = 0; i < plan_.jobs.size() && !cancel_.cancelled(); ++i) run(i);
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
  /// The image whose work on the device is done.
  struct Open {
    const Job* job = nullptr;
    std::future<Written> written;
  };

  bool skips(const Job& job) const { return options_.skip_existing && is_done(job); }

  /// Segments one image. What it fails of is counted; throws only what ends the run.
  void run(std::size_t index) {
    const Job& job = plan_.jobs[index];
    if (skips(job)) {
      next_ = {};
      settle();
      skip(job);
      return;
    }
    progress_.begin(job.input);
    Loaded loaded = next_.valid() ? next_.get() : load(job, options_.parameters.image);
    const bool last = index + 1 == plan_.jobs.size();
    if (!last) read_ahead(plan_.jobs[index + 1]);
    const Clock::time_point start = Clock::now();
    BegunSegmentation begun;
    if (!loaded.failure) {
      open_device();
      loaded.failure = attempt(job.input, [&] {
        begun = segmenter_->begin(loaded.image, loaded.edges ? &*loaded.edges : nullptr, watch());
      });
    }
    loaded.seconds += seconds_since(start);
    settle();
    if (loaded.failure) {
      conclude(job, {{}, {}, std::move(loaded.failure), loaded.seconds});
    } else if (last) {
      conclude(job, finish(job, loaded, std::move(begun), watch()));
    } else {
      open_.job = &job;
      open_.written = std::async(std::launch::async, [this, &job, loaded = std::move(loaded),
                                                      begun = std::move(begun)]() mutable {
        return finish(job, loaded, std::move(begun), {{}, &cancel_});
      });
    }
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

  void read_ahead(const Job& job) {
    if (skips(job) || !is_file(job.input) || (!job.edges.empty() && !is_file(job.edges))) return;
    next_ = std::async(std::launch::async,
                       [this, &job] { return load(job, options_.parameters.image); });
  }

  /// What is left to do for an image without the device. For any thread, one at a time.
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

  /// Waits for the image that is being finished, if there is one.
  void settle() {
    if (!open_.written.valid()) return;
    const Written written = open_.written.get();
    conclude(*open_.job, written);
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
  std::future<Loaded> next_;  ///< The next image, if it is being read.
  Open open_;
};

}  // namespace

ExitCode run_plan(const Options& options, const Plan& plan, Console& console,
                  const CancelToken& cancel) {
  return Run(options, plan, console, cancel).run();
}

}  // namespace diacut::app
