#include "run_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "interrupt.hpp"
#include "report.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

/// What to tell of an image whose eigenvectors did not converge.
std::string convergence_error(const Job& job, const EigenReport& report, double tolerance) {
  double worst = 0;
  for (const double residual : report.residuals) worst = std::max(worst, residual);
  return fmt::format(
      "{}: the eigenvectors did not converge: the largest residual is {:.1e}, wanted {:.1e}, after "
      "{} products; the results were written nevertheless (raise eigen.max_products or "
      "--tolerance)",
      shown_name(job), worst, tolerance, report.products);
}

std::string walk_error(const Job& job, const WalkReport& walk, double tolerance) {
  return fmt::format(
      "{}: the random walker's linear systems did not converge: the largest error is {:.1e}, "
      "wanted {:.1e}, after {} iterations; the results were written nevertheless (raise "
      "walker.max_iterations or walker.tolerance)",
      shown_name(job), walk.error, tolerance, walk.iterations);
}

/// "'a.jpg': 7 regions -> a.png (0.5 s)".
std::string result_line(const Job& job, const WrittenImage& written) {
  std::string line =
      fmt::format("{}: {}", shown_name(job), counted(written.result.labels.count, "region"));
  std::vector<std::string> places;
  for (const std::string& place : job.results) {
    if (!place.empty()) places.push_back(place == "-" ? "standard output" : place);
  }
  if (!job.stack.empty()) places.push_back(job.stack);
  if (!places.empty()) line += fmt::format(" -> {}", fmt::join(places, ", "));
  return line + (written.seconds < 60 ? fmt::format(" ({:.1f} s)", written.seconds)
                                      : fmt::format(" ({})", clock_text(written.seconds)));
}

}  // namespace

std::string summary(const Tally& tally, const Plan& plan, double seconds, bool verbose) {
  const std::size_t tried = tally.done + tally.skipped + tally.failed - plan.failures.size();
  std::string text =
      fmt::format("{} done, {} skipped, {} failed", tally.done, tally.skipped, tally.failed);
  if (tally.not_converged > 0) {
    text += fmt::format(", {} of those done not converged", tally.not_converged);
  }
  if (tried < plan.jobs.size()) text += fmt::format(", {} not tried", plan.jobs.size() - tried);
  text += fmt::format("; {}", clock_text(seconds));
  if (tally.done > 0) {
    text += fmt::format(" ({:.2f} images/s)", static_cast<double>(tally.done) / seconds);
  }
  if (plan.ignored > 0) text += fmt::format("; {} other files left out", plan.ignored);
  if (tally.noted > 0 && !verbose) {
    text += fmt::format("; {} with notes (--verbose or --json shows them)", tally.noted);
  }
  const std::string& folder = plan.roots.results[Result::kLabels];
  const std::string& labels = plan.stack.empty() ? folder : plan.stack;
  if (!labels.empty()) text += fmt::format("; labels in '{}'", labels);
  return text;
}

RunLog::RunLog(const Options& options, const Plan& plan, Console& console)
    : options_(options),
      plan_(plan),
      console_(console),
      progress_(console, plan.jobs.size(), plan.batch),
      lines_(plan.batch ? options.json : std::string(), options.batch.skip_existing) {
  for (const Failure& failure : plan.failures) add_error(failure);
  tally_.failed = plan.failures.size();
}

void RunLog::opened(const DeviceInfo& device) {
  console_.detail(fmt::format("device {}: {} ({})", device.index(), device.name, device.platform));
}

void RunLog::gave_up(const DeviceInfo& device, const std::string& reason, const DeviceInfo& next) {
  console_.note(
      fmt::format("device {} ({}) is given up, and device {} ({}) replaces it: {}; a device named "
                  "by --device is not replaced",
                  device.index(), device.name, next.index(), next.name, reason));
}

void RunLog::compiling(const DeviceInfo& device) {
  progress_.stage(fmt::format("compiling kernels for {}, in the first run only", device.name), 0);
}

void RunLog::skipped(const Job& job) {
  ++tally_.skipped;
  progress_.skipped();
  const std::string text = shown_name(job) + ": skipped, its results exist";
  if (plan_.batch) {
    lines_.add_skipped(job);
    console_.detail(text);
  } else {
    console_.message(text);
  }
}

void RunLog::concluded(const Job& job, const WrittenImage& written) {
  if (!written.failure) tell(job, written);
  progress_.worked();
  if (written.failure) {
    ++tally_.failed;
    add_error(*written.failure);
    lines_.add_failure(job, *written.failure);
  } else {
    ++tally_.done;
    lines_.add_report(written.report);
  }
}

void RunLog::tell(const Job& job, const WrittenImage& written) {
  const Segmentation& result = written.result;
  if (!result.notes.empty()) ++tally_.noted;
  // One region alone is told of in a folder too: it may be a picture that was not read as it
  // should.
  const bool told =
      !plan_.batch || options_.verbosity == Verbosity::kVerbose || result.labels.count == 1;
  for (const std::string& note : result.notes) {
    if (told) {
      console_.note(fmt::format("{}: {}", shown_name(job), note));
    }
  }
  const std::string line = result_line(job, written);
  if (plan_.batch) {
    console_.detail(line);
  } else {
    console_.message(line);
  }
  console_.detail(describe_run(result));
  const EigenReport& report = result.eigenvectors.report;
  if (result.walk ? result.walk->converged : report.converged) return;
  ++tally_.not_converged;
  const Parameters& parameters = options_.parameters;
  add_error({ExitCode::kNotConverged,
             result.walk ? walk_error(job, *result.walk, parameters.walker.tolerance)
                         : convergence_error(job, report, parameters.eigen.tolerance)});
}

void RunLog::stopped(const Failure& failure) { add_error(failure); }

void RunLog::add_error(const Failure& failure) {
  errors_.push_back(failure.message);
  worst_ = worse(worst_, failure.code);
}

ExitCode RunLog::end(bool interrupted) {
  for (const std::string& error : errors_) console_.error(error);
  if (interrupted) {
    worst_ = ExitCode::kInterrupted;
    console_.message(time_is_up() ? "interrupted: the time limit (--time-limit) has been reached"
                                  : "interrupted");
  }
  if (plan_.batch) {
    console_.message(
        summary(tally_, plan_, stopwatch_.seconds(), options_.verbosity == Verbosity::kVerbose));
  }
  return worst_;
}

Watch RunLog::watch(const CancelToken& cancel) {
  return {[this](std::string_view stage, double share) { progress_.stage(stage, share); }, &cancel};
}

}  // namespace diacut::app
