#include "run_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "diacut/errors.hpp"
#include "interrupt.hpp"
#include "report.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& json) {
  // JSON is UTF-8, which file names need not be.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The image of a job as reports call it.
Json named(const Job& job) {
  Json line = {{"input", job.input}};
  if (job.pages > 1) line["page"] = job.part.page;
  return line;
}

/// What distinguishes the image of a line from others.
std::string image_of(const Json& line) {
  const auto part = [&line](const char* key) {
    const auto found = line.find(key);
    return found == line.end() ? std::string() : one_line(*found);
  };
  return part("input") + part("page");
}

}  // namespace

JsonLines::JsonLines(const std::string& path, bool goes_on) : path_(path) {
  if (path.empty()) return;
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  const int mode = goes_on ? O_APPEND : O_TRUNC;
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0666);
  if (descriptor_ == -1) {
    throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  if (goes_on) read_earlier();
}

void JsonLines::read_earlier() {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path_, unknown)) return;  // A pipe is not for reading.
  std::ifstream file(path_, std::ios::binary);
  // Else a failed allocation would count as the end, and the lines behind it would be cut off.
  file.exceptions(std::ios::badbit);
  off_t whole = 0;  // Bytes of the lines that are not cut off.
  for (std::string line; std::getline(file, line) && !file.eof();) {
    whole += static_cast<off_t>(line.size()) + 1;
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object()) earlier_.insert(image_of(json));
  }
  if (ftruncate(descriptor_, whole) != 0 || lseek(descriptor_, 0, SEEK_END) == -1) {
    throw InputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
}

JsonLines::~JsonLines() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

void JsonLines::add_report(const std::string& report) {
  if (!report.empty()) add_line(one_line(Json::parse(report)));
}

void JsonLines::add_failure(const Job& job, const Failure& failure) {
  Json line = named(job);
  line["error"] = failure.message;
  line["exit_code"] = static_cast<int>(failure.code);
  add_line(one_line(line));
}

void JsonLines::add_skipped(const Job& job) {
  Json line = named(job);
  if (!earlier_.empty() && earlier_.count(image_of(line)) != 0) return;
  line["skipped"] = true;
  add_line(one_line(line));
}

void JsonLines::add_line(const std::string& line) {
  if (descriptor_ == -1) return;
  // -1 for a pipe, from which an incomplete line cannot be taken back.
  const off_t before = lseek(descriptor_, 0, SEEK_CUR);
  if (write_all(descriptor_, line + '\n')) return;
  const int reason = errno;
  if (before != -1 && ftruncate(descriptor_, before) == 0) lseek(descriptor_, before, SEEK_SET);
  throw InputError(fmt::format("{}: cannot be written: {}",
                               path_ == "-" ? "standard output" : path_, std::strerror(reason)));
}

namespace {

/// What to report of an image whose eigenvectors did not converge.
std::string convergence_error(const Job& job, const EigenReport& report, double tolerance) {
  return fmt::format(
      "{}: the eigenvectors did not converge: the largest residual is {:.1e}, wanted {:.1e}, after "
      "{} products; the results were written nevertheless (raise eigen.max_products or "
      "--tolerance)",
      shown_name(job), largest_residual(report), tolerance, report.products);
}

std::string walk_error(const Job& job, const WalkReport& walk, double tolerance) {
  return fmt::format(
      "{}: the random walker's linear systems did not converge: the largest error is {:.1e}, "
      "wanted {:.1e}, after {} iterations; the results were written nevertheless (raise "
      "walker.max_iterations or walker.tolerance)",
      shown_name(job), walk.error, tolerance, walk.iterations);
}

/// "'a.jpg': 7 regions -> a.png (0.5 s)".
std::string result_line(const WrittenImage& written) {
  const Job& job = *written.job;
  std::string line =
      fmt::format("{}: {}", shown_name(job), counted(written.result->labels.count, "region"));
  std::vector<std::string> places;
  for (const std::string& place : job.results) {
    if (!place.empty()) places.push_back(place == "-" ? "standard output" : place);
  }
  if (!job.stack.empty()) places.push_back(job.stack);
  if (!places.empty()) line += fmt::format(" -> {}", fmt::join(places, ", "));
  return line + fmt::format(" ({})", duration_text(written.seconds));
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
  text += fmt::format("; {}", duration_text(seconds));
  if (tally.done > 0) {
    text += fmt::format(" ({:.2f} images/s)", static_cast<double>(tally.done) / seconds);
  }
  if (plan.ignored > 0) {
    text += fmt::format("; {} left out",
                        counted(static_cast<std::int64_t>(plan.ignored), "other file"));
  }
  if (tally.noted > 0 && !verbose) {
    text += fmt::format("; {} with notes (--verbose or --json shows them)", tally.noted);
  }
  if (tally.linked.objects > 0) {
    text += fmt::format("; linked into {} (--json names them)", linked_text(tally.linked));
  }
  if (!tally.damaged.empty()) {
    text += fmt::format("; damaged and partly wrong: {}", fmt::join(tally.damaged, ", "));
  }
  const std::string& folder = plan.roots.results[Result::kLabels];
  const std::string& labels = plan.stack.empty() ? folder : plan.stack;
  const bool are_there = plan.stack.empty() || tally.failed == 0;
  if (!labels.empty() && are_there) text += fmt::format("; labels in '{}'", labels);
  return text;
}

RunLog::RunLog(const Options& options, const Plan& plan, Console& console)
    : options_(options),
      plan_(plan),
      console_(console),
      progress_(console, plan.jobs.size(), plan.batch),
      lines_(plan.batch ? options.json : std::string(), options.batch.skip_existing) {
  for (const Failure& failure : plan.failures) failed(failure);
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
  lines_.add_skipped(job);
  say(shown_name(job) + ": skipped, its results exist");
}

void RunLog::concluded(const WrittenImage& written) {
  if (!written.failure) tell(written);
  progress_.worked();
  if (written.failure) {
    ++tally_.failed;
    failed(*written.failure);
    lines_.add_failure(*written.job, *written.failure);
  } else {
    ++tally_.done;
    lines_.add_report(written.report);
  }
}

void RunLog::tell(const WrittenImage& written) {
  const Job& job = *written.job;
  const Segmentation& result = *written.result;
  if (!result.notes.empty()) ++tally_.noted;
  tally_.linked.objects += written.linked.objects;
  tally_.linked.splits += written.linked.splits;
  tally_.linked.merges += written.linked.merges;
  if (written.damaged) tally_.damaged.push_back(shown_name(job));
  const bool is_shown = !plan_.batch || console_.verbosity() == Verbosity::kVerbose;
  for (const std::string& note : result.notes) {
    const std::string line = fmt::format("{}: {}", shown_name(job), note);
    if (is_shown) console_.note(line);
    // One region alone is counted in a folder too: the picture may not have been read as it should.
    if (!is_shown && result.labels.count == 1) count_note(note, line);
  }
  say(result_line(written));
  console_.detail(describe_run(result));
  const EigenReport& report = result.eigenvectors.report;
  const auto* const growth = dynamic_cast<const SeedGrowth*>(&result);
  if (growth != nullptr ? growth->walk.converged : report.converged) return;
  ++tally_.not_converged;
  const Parameters& parameters = options_.parameters;
  failed({ExitCode::kNotConverged,
          growth != nullptr ? walk_error(job, growth->walk, parameters.walker.tolerance)
                            : convergence_error(job, report, parameters.eigen.tolerance)});
}

void RunLog::count_note(const std::string& note, const std::string& line) {
  std::string kind = note;
  std::erase_if(kind, [](char c) { return c == '.' || c == '-' || (c >= '0' && c <= '9'); });
  const auto known = std::find_if(counted_.begin(), counted_.end(),
                                  [&](const CountedNote& each) { return each.kind == kind; });
  if (known == counted_.end()) {
    counted_.push_back({kind, line});
  } else {
    ++known->others;
  }
}

void RunLog::say(const std::string& text) {
  plan_.batch ? console_.detail(text) : console_.message(text);
}

void RunLog::failed(const Failure& failure) {
  errors_.push_back(failure.message);
  worst_ = worse(worst_, failure.code);
}

ExitCode RunLog::end(bool interrupted) {
  for (const CountedNote& each : counted_) {
    console_.note(each.others == 0 ? each.line
                                   : fmt::format("{} ({} with such a note)", each.line,
                                                 counted(each.others, "more image")));
  }
  for (const std::string& error : errors_) console_.error(error);
  if (interrupted) {
    worst_ = ExitCode::kInterrupted;
    console_.message(time_is_up() ? "interrupted: the time limit (--time-limit) has been reached"
                                  : "interrupted");
  }
  if (plan_.batch) {
    console_.message(
        summary(tally_, plan_, stopwatch_.seconds(), console_.verbosity() == Verbosity::kVerbose));
  }
  return worst_;
}

Watch RunLog::watch(const CancelToken& cancel) {
  return {[this](std::string_view stage, double share) { progress_.stage(stage, share); }, &cancel};
}

}  // namespace diacut::app
