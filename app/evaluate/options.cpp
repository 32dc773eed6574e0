#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "command_line.hpp"
#include "core/extension.hpp"
#include "diacut/errors.hpp"

namespace diacut::app {

namespace {

constexpr int kMostThresholds = 999;
constexpr int kMostJobs = 1024;

constexpr const char* kInput = "Input";
constexpr const char* kScores = "Scores";
constexpr const char* kOutput = "Output";
constexpr const char* kMessages = "Messages and help";

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

Kinds of results (--kind auto tells them by size and numbers):
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

/// The command line of diacut-evaluate: its options, declared by the constructor, and what they
/// set.
class EvaluateLine {
 public:
  EvaluateLine() {
    options_.jobs = processors();
    line_.inputs("RESULTS", folders_, "Folder of results, one file an image", {.folders = true});
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
    line_.message_flags(kMessages, "Only errors, and the scores", "Also the scores of each image",
                        true);
  }

  /// What the command line asks for. Throws ConfigError.
  Options parse(int argc, const char* const* argv) {
    if (!line_.parse(argc, argv, options_)) return options_;
    if (folders_.size() > 1) line_.fail(fmt::format("'{}' is a second folder", folders_[1]));
    if (!folders_.empty()) options_.results = folders_.front();
    options_.parameters.boundaries = !no_boundaries_;
    options_.kind = parse_kind(kind_);
    check();
    return options_;
  }

  CommandDescription describe() const { return line_.describe(); }

 private:
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
    if (!options_.plot.empty() && !has_extension(options_.plot, ".png")) {
      line_.fail(fmt::format("--plot: '{}' does not end in .png, the only format", options_.plot));
    }
    if (options_.json == "-" && options_.csv == "-") {
      line_.fail("--json and --csv cannot both go to standard output");
    }
  }

  Options options_;
  std::vector<std::string> folders_;
  std::string kind_ = "auto";
  bool no_boundaries_ = false;
  CommandLine line_{"diacut-evaluate", "Scores segmentations against those that people drew.",
                    "diacut-evaluate [OPTION]... RESULTS --truth DIR", "Results", kExamples};
};

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  return EvaluateLine().parse(argc, argv);
}

CommandDescription describe_options() { return EvaluateLine().describe(); }

}  // namespace diacut::app
