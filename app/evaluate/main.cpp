#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "evaluate/evaluation.hpp"
#include "image/naming.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "stopwatch.hpp"

namespace diacut::app {

namespace {

struct Pair {
  ResultFile result;
  TruthEntry truth;
};

/// How many names there are, and the first few of them: "3 (a, b, c)".
std::string few(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  const std::vector<std::string> shown(names.begin(),
                                       names.begin() + std::min(kShown, names.size()));
  return fmt::format("{} ({}{})", names.size(), fmt::join(shown, ", "),
                     names.size() > kShown ? ", ..." : "");
}

/// Results with the ground truth of their name. Tells of names that lack one of the two.
std::vector<Pair> pair_up(const Options& options, Console& console) {
  const std::vector<ResultFile> results = find_results(options.results);
  std::vector<std::string> names;
  for (const ResultFile& result : results) names.push_back(result.name);
  const std::vector<TruthEntry> truths = find_ground_truth(options.truth, names);

  std::vector<Pair> pairs;
  std::vector<std::string> missing;
  for (const TruthEntry& truth : truths) {
    const auto at = std::lower_bound(names.begin(), names.end(), truth.name);
    if (at == names.end() || *at != truth.name) {
      missing.push_back(truth.name);
    } else {
      pairs.push_back({results[static_cast<std::size_t>(at - names.begin())], truth});
    }
  }
  std::vector<std::string> extra;
  for (const std::string& name : names) {
    const bool has_truth = std::any_of(truths.begin(), truths.end(),
                                       [&](const TruthEntry& t) { return t.name == name; });
    if (!has_truth) extra.push_back(name);
  }
  if (pairs.empty()) {
    throw InputError(fmt::format(
        "no result has the name of a ground truth: {} has {}, {} has {}; they belong together by "
        "their names without extension",
        options.results, few(names), options.truth, few(missing)));
  }
  if (!missing.empty() && !options.partial) {
    throw InputError(
        fmt::format("{}: results are missing for {} of the {} images of {}; make them, or score "
                    "the others with --partial",
                    options.results, few(missing), truths.size(), options.truth));
  }
  if (!missing.empty()) console.note("without a result: " + few(missing));
  if (!extra.empty()) console.note("without ground truth, left out: " + few(extra));
  return pairs;
}

/// The kind that --kind names, else the kind that the first result looks like.
ResultKind choose_kind(const Options& options, const Pair& first) {
  if (options.kind) return *options.kind;
  if (options.parameters.objects) return ResultKind::kLabels;
  const Raster result = read_result(first.result.path);
  const GroundTruth truth = read_ground_truth(first.truth);
  return naming(first.result.path, [&] { return detect_kind(result, truth.width, truth.height); });
}

EvaluationParameters parameters_for(const Options& options, ResultKind kind) {
  EvaluationParameters parameters = options.parameters;
  parameters.kind = kind;
  if (parameters.objects) {
    parameters.boundaries = parameters.regions = false;
    parameters.thresholds = {0.0};
    return parameters;
  }
  parameters.regions = kind != ResultKind::kContours;
  parameters.thresholds = kind == ResultKind::kLabels ? std::vector<double>{0.0}
                                                      : spaced_thresholds(options.thresholds);
  if (kind == ResultKind::kContours && !parameters.boundaries) {
    throw ConfigError("--no-boundaries leaves nothing to score: contours have no regions");
  }
  if (kind != ResultKind::kContours && parameters.suppress) {
    throw ConfigError(
        fmt::format("--suppress thins contour maps, but these are {} (say --kind contours if not)",
                    to_string(kind)));
  }
  return parameters;
}

struct Outcome {
  std::optional<ImageEvaluation> evaluation;
  std::optional<Failure> failure;
};

Outcome score(const Pair& pair, const EvaluationParameters& parameters) {
  Outcome outcome;
  try {
    const Raster result = read_result(pair.result.path);
    const GroundTruth truth = read_ground_truth(pair.truth);
    outcome.evaluation = evaluate(result, truth, parameters);
    outcome.evaluation->name = pair.result.name;
  } catch (...) {
    outcome.failure = current_failure();
    const std::string& message = outcome.failure->message;
    const bool names_file =
        message.starts_with(pair.result.path) || message.starts_with(pair.truth.paths.front());
    if (!names_file) outcome.failure->message = pair.result.path + ": " + message;
  }
  return outcome;
}

/// Every pair's outcome, in their order. Pairs that an interruption left out have neither an
/// evaluation nor a failure.
std::vector<Outcome> score_all(const std::vector<Pair>& pairs,
                               const EvaluationParameters& parameters, int jobs, Console& console,
                               const CancelToken& cancel) {
  std::vector<Outcome> outcomes(pairs.size());
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  Progress progress(console, pairs.size(), true);
  const auto work = [&] {
    for (std::size_t i = next++; i < pairs.size() && !cancel.cancelled(); i = next++) {
      outcomes[i] = score(pairs[i], parameters);
      const std::lock_guard lock(telling);
      progress.worked();
      progress.begin(pairs[i].result.name);
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t k = 0; k < std::min(static_cast<std::size_t>(jobs), pairs.size()); ++k) {
    threads.emplace_back(work);
  }
  threads.clear();  // Which waits for all.
  progress.end();
  return outcomes;
}

/// Finds results and ground truth, scores them, several at once, and writes the reports. An image
/// that fails is told of, and the others are scored. Returns the program's exit code; throws the
/// errors that end the run.
ExitCode run_evaluation(const Options& options, Console& console, const CancelToken& cancel) {
  for (const std::string& path : {options.json, options.csv, options.plot}) {
    if (!path.empty() && path != "-") check_writable(path);
  }
  const Stopwatch stopwatch;
  const std::vector<Pair> pairs = pair_up(options, console);
  const EvaluationParameters parameters =
      parameters_for(options, choose_kind(options, pairs.front()));
  std::vector<Outcome> outcomes = score_all(pairs, parameters, options.jobs, console, cancel);
  if (cancel.cancelled()) {
    console.message("interrupted");
    return ExitCode::kInterrupted;
  }
  ExitCode code = ExitCode::kDone;
  Evaluation evaluation;
  evaluation.parameters = parameters;
  for (Outcome& outcome : outcomes) {
    if (outcome.failure) {
      console.error(outcome.failure->message);
      code = worse(code, outcome.failure->code);
    } else {
      evaluation.images.push_back(std::move(*outcome.evaluation));
    }
  }
  const std::size_t failed = pairs.size() - evaluation.images.size();
  if (failed > 0 && (!options.partial || evaluation.images.empty())) {
    console.error(fmt::format("{} of {} images could not be scored, so there are no scores{}",
                              failed, pairs.size(),
                              options.partial ? "" : " (--partial scores the others)"));
    return code;
  }
  summarise(evaluation);
  for (const ImageEvaluation& image : evaluation.images) {
    console.detail(describe_image(image, parameters));
  }
  const std::string table = describe(evaluation, !options.kind && !parameters.objects);
  if (options.json == "-" || options.csv == "-") {
    console.message(table);
  } else {
    write_file("-", table + "\n");
  }
  if (!options.json.empty()) write_file(options.json, to_json(evaluation));
  if (!options.csv.empty()) write_file(options.csv, to_csv(evaluation));
  if (!options.plot.empty()) write_file(options.plot, draw_curve(*evaluation.boundaries));
  console.detail(fmt::format("{:.1f} s", stopwatch.seconds()));
  return code;
}

}  // namespace

}  // namespace diacut::app

int main(int argc, char** argv) {
  using namespace diacut::app;
  return run_program("diacut-evaluate", [&](Console& console) {
    const diacut::CancelToken& cancel = handle_signals();
    if (const auto text = generated(argc, argv, describe_options)) {
      diacut::write_file("-", *text);
      return ExitCode::kDone;
    }
    const Options options = parse_options(argc, argv);
    return begin(options, console) ? run_evaluation(options, console, cancel) : ExitCode::kDone;
  });
}
