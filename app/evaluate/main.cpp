#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"
#include "core/extension.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "evaluate/evaluation.hpp"
#include "image/naming.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "stopwatch.hpp"

namespace diacut::app {

namespace {

constexpr int kMostThresholds = 999;
constexpr int kMostJobs = 1024;

constexpr const char* kInput = "Input";
constexpr const char* kScores = "Scores";
constexpr const char* kOutput = "Output";

constexpr const char* kExamples = R"(Examples:
  diacut-evaluate ucm2/ --truth groundTruth/val
      hierarchies of any method, as .mat (ucm2), .npy or .png: all scores
  diacut-evaluate contours/ --truth groundTruth/val --suppress --plot pr.png
      contour maps: thinned first; precision against recall as a picture
  diacut-evaluate labels/ --truth annotations/ --kind labels --csv scores.csv
      one segmentation for each image, against label images of any data set
  diacut-evaluate nuclei/ --truth annotations/ --objects
      objects before a background of 0, as nuclei: how many were found
  diacut-evaluate ucm2/ --truth groundTruth/val --json - | jq .boundaries.ods.f

Results and ground truth belong together by name: 12.npy and 12.mat. Ground
truth is NAME.mat (the cell array groundTruth with Segmentation and Boundaries,
as the Berkeley data sets have it), NAME.png, .tif or .npy with one number a
region, NAME_0.png, NAME_1.png, ... from several annotators, or a folder NAME
of such files. Every image of the ground truth needs a result, unless --partial
is given; results without ground truth are left out.

Kinds of results (--kind auto finds them by size and numbers):
  contours     boundary strength, as large as the image: 8- or 16-bit grey, or
               numbers from 0 to 1
  labels       one number a region: grey, palette or 32-bit integers
  ultrametric  a hierarchy of regions: the strength of the boundaries between
               pixels, on (2 height + 1) x (2 width + 1)

Scores are those of the Berkeley segmentation benchmark. F: boundary pixels
matched one to one, within .0075 of the diagonal, by an exact assignment; ODS:
one threshold for all images, OIS: the best for each, AP: average precision.
Covering, PRI (probabilistic Rand index) and VI (variation of information, in
bits): for regions.
With --objects: found and true objects matched one to one by their intersection
over union (IoU); F1, precision, recall and AP, matches / (matches + what else
was found + what else is true), at IoU .5, .55, ... .95; splits and merges are
true and found objects that two or more of the others overlap by more than .1.

Exit codes: 0 done, 1 internal error, 2 usage, 3 input or output, 130
interrupted.
)";

int processors() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// What the command line says. Texts are empty where their option was not given.
struct Options {
  std::string results;  ///< A folder.
  std::string truth;    ///< A folder.
  std::optional<ResultKind> kind;
  EvaluationParameters parameters;  ///< As far as they do not depend on the kind.
  bool partial = false;
  int thresholds = 99;
  std::string json;
  std::string csv;
  std::string plot;
  int jobs = 1;
};

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

/// Results with the ground truth of their name. Reports names that lack one of the two.
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
/// that fails is reported, and the others are scored. Returns the program's exit code; throws the
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

/// "diacut-evaluate": its options, declared by the constructor, and what they set.
class EvaluateCommand : public Command {
 public:
  EvaluateCommand()
      : Command("diacut-evaluate", "Scores segmentations against those that people drew.",
                "diacut-evaluate [OPTION]... RESULTS --truth DIR", kExamples, "Results") {
    options_.jobs = processors();
    line_.inputs("RESULTS", inputs_, "Folder of results, one file an image", {.folders = true});
    line_.option("--truth", options_.truth, "DIR", kInput, "Folder of the ground truth");
    line_.option("--kind", kind_, "NAME", kInput,
                 "What the results are: auto, contours, labels, ultrametric (default auto)",
                 {.words = {"auto", "contours", "labels", "ultrametric"}});
    line_.flag("--suppress", options_.parameters.suppress, kInput,
               "Thin contour maps by non-maximum suppression before scoring");
    line_.flag("--partial", options_.partial, kInput,
               "Score the results that exist, even if others are missing");
    line_.option("--thresholds", options_.thresholds, "N", kScores,
                 "N evenly spaced thresholds between 0 and 1 (default 99)");
    line_.flag("--objects", options_.parameters.objects, kScores,
               "Score objects before a background of 0, instead of boundaries and regions");
    line_.flag("--no-boundaries", no_boundaries_, kScores, "Leave out the boundary scores");
    line_.option("--json", options_.json, "FILE|-", kOutput, "All scores, for machines",
                 {.files = true, .extensions = {".json"}});
    line_.option("--csv", options_.csv, "FILE|-", kOutput, "The scores of each image, as a table",
                 {.files = true, .extensions = {".csv"}});
    line_.option("--plot", options_.plot, "FILE", kOutput,
                 "Precision against recall, with lines of equal F: .png",
                 {.files = true, .extensions = {".png"}});
    line_.option("-j,--jobs", options_.jobs, "N", kMessages,
                 "Images scored at once (default: one for each processor)");
    line_.exclude("--objects", {"--no-boundaries", "--suppress", "--plot"});
    line_.exclude("--no-boundaries", {"--suppress", "--plot"});
    line_.message_flags("Only errors, and the scores", "Also the scores of each image", true);
  }

  ExitCode run(Console& console, const CancelToken& cancel) override {
    return run_evaluation(options_, console, cancel);
  }

 private:
  void resolve() override {
    if (inputs_.size() > 1) line_.fail(fmt::format("'{}' is a second folder", inputs_[1]));
    if (!inputs_.empty()) options_.results = inputs_.front();
    options_.parameters.boundaries = !no_boundaries_;
    options_.kind = parse_kind(kind_);
    check();
  }

  std::optional<ResultKind> parse_kind(const std::string& name) const {
    if (name == "auto") return std::nullopt;
    for (const ResultKind kind :
         {ResultKind::kContours, ResultKind::kLabels, ResultKind::kUltrametric}) {
      if (to_string(kind) == name) return kind;
    }
    line_.fail(fmt::format("--kind: '{}' is none of auto, contours, labels, ultrametric", name));
  }

  void check() const {
    if (options_.results.empty()) line_.fail("no results given: name a folder");
    if (options_.truth.empty()) line_.fail("--truth DIR is needed: the folder of the ground truth");
    if (options_.thresholds < 1 || options_.thresholds > kMostThresholds) {
      line_.fail(fmt::format("--thresholds: {} is not from 1 to {}", options_.thresholds,
                             kMostThresholds));
    }
    if (options_.jobs < 1 || options_.jobs > kMostJobs) {
      line_.fail(fmt::format("--jobs: {} is not from 1 to {}", options_.jobs, kMostJobs));
    }
    if (options_.parameters.objects && options_.kind && *options_.kind != ResultKind::kLabels) {
      line_.fail("--objects scores labels, but --kind names something else");
    }
    if (options_.kind == ResultKind::kContours && !options_.parameters.boundaries) {
      line_.fail("--no-boundaries leaves nothing to score: contours have no regions");
    }
    if (options_.parameters.suppress && options_.kind && *options_.kind != ResultKind::kContours) {
      line_.fail("--suppress thins contour maps, but --kind names something else");
    }
    if (!options_.plot.empty() && !diacut::has_extension(options_.plot, ".png")) {
      line_.fail(fmt::format("--plot: '{}' does not end in .png, the only format", options_.plot));
    }
    if (options_.json == "-" && options_.csv == "-") {
      line_.fail("--json and --csv cannot both go to standard output");
    }
  }

  Options options_;
  std::string kind_ = "auto";
  bool no_boundaries_ = false;
};

}  // namespace

}  // namespace diacut::app

int main(int argc, char** argv) {
  using namespace diacut::app;
  Program program("diacut-evaluate");
  try {
    const diacut::CancelToken& cancel = handle_signals();
    if (generated(argc, argv, [] { return EvaluateCommand().describe(); })) return 0;
    EvaluateCommand command;
    if (!command.parse(argc, argv, program.console)) return 0;
    return static_cast<int>(command.run(program.console, cancel));
  } catch (...) {
    return program.fail();
  }
}
