#include "writer.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "diacut/hierarchy.hpp"
#include "diacut/map.hpp"
#include "diacut/output.hpp"
#include "diacut/page.hpp"
#include "exit_code.hpp"
#include "paths.hpp"
#include "stopwatch.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

namespace {

/// What the results of a job are made of.
struct Made {
  const Options& options;
  const RegionParameters& cut;
  const Job& job;
  const LoadedImage& loaded;
  Segmentation& result;
};

/// Writes a result that is no annotation.
void write_result(const ResultInfo& info, const std::string& place, const Made& made) {
  const auto& [options, cut, job, loaded, result] = made;
  const Image& image = loaded.image;
  const MapFrame* frame = loaded.frame ? &*loaded.frame : nullptr;
  const MapFrame where = frame_or_size(frame, result.labels.width, result.labels.height);
  const auto write_labels = [&](const Labels& labels) {
    write_labels_of(place, labels, frame, options.labels, options.annotations.simplify(),
                    loaded.facts);
  };
  switch (info.result) {
    case Result::kLabels:
      // Only seeds need labels that are not the regions' numbers: a large image's are not copied.
      if (result.seed_labels.empty()) return write_labels(result.labels);
      return write_labels(written_labels(result));
    case Result::kOverlay:
      return write_overlay(place, image, result.labels);
    case Result::kEigenvectors:
      return write_eigenvectors(place, result.eigenvectors, &image);
    case Result::kTree:
      return write_tree(place, result.hierarchy.value());
    case Result::kUltrametric:
      return write_map_strength(place, ultrametric_map(result.hierarchy.value()),
                                ultrametric_frame(where), options.labels.cloud_optimised);
    case Result::kContours:
      return write_map_strength(place, result.contours, where, options.labels.cloud_optimised);
    case Result::kPage:
      return write_page(place, image, result.hierarchy.value(), &result.eigenvectors,
                        {page_title(job.input), cut, &result.labels, result.inside}, result.notes);
    case Result::kProbabilities:
      return write_probabilities(place, result.probabilities, image.width, image.height);
    default:  // An annotation.
      return;
  }
}

}  // namespace

Writer::Writer(const Options& options, const Plan& plan, const CancelToken& cancel,
               const MemoryCheck& memory)
    : options_(options),
      plan_(plan),
      cancel_(cancel),
      memory_(memory),
      links_(options.links.overlap) {}

WrittenImage Writer::write(const Job& job, const LoadedImage& loaded, BegunSegmentation begun,
                           const Segmenter& segmenter, const Watch& watch) {
  const Stopwatch stopwatch;
  LinkedPages::Turn turn(links_, job);
  WrittenImage written;
  written.failure = attempt(job.input, [&] {
    written.result = std::move(begun).finish(watch);
    turn.link(written.result);
    if (loaded.correction) {
      SeededRegions corrected = correct_labels(*loaded.correction, written_labels(written.result));
      written.result.labels = std::move(corrected.regions);
      written.result.seed_labels = std::move(corrected.seed_labels);
    }
    if (const std::uint64_t together = memory_.most_together(); together > 0) {
      written.result.costs.memory_plan.phases.push_back({"images together", 0, together});
    }
    watch.report("writing", 0);
    const Hierarchy* hierarchy = written.result.hierarchy ? &*written.result.hierarchy : nullptr;
    const MapFrame* frame = loaded.frame ? &*loaded.frame : nullptr;
    std::vector<std::int64_t> numbers;  // Of linked pages and corrected labels.
    if (options_.links.overlap || loaded.correction) {
      numbers.assign(written.result.seed_labels.begin(), written.result.seed_labels.end());
    }
    const Annotations annotations(plan_.roots.results, options_.annotations, written.result.labels,
                                  measured_in(options_.annotations, frame, loaded.file,
                                              loaded.facts, options_.parameters.image, job.part),
                                  hierarchy, numbers);
    for (std::string& note : annotations.notes()) written.result.notes.push_back(std::move(note));
    if (!options_.json.empty()) {
      written.report =
          report_json(written.result, loaded.image, segmenter.parameters(), segmenter.device(),
                      job.input, job.pages > 1 ? job.part.page : 0);
      if (!plan_.batch) write_file(options_.json, written.report);
    }
    written.facts = loaded.facts;
    if (plan_.batch) {
      const auto file = fs::path(job.name).parent_path() / fs::path(job.input).filename();
      written.parts =
          run_parts(plan_.roots.results, annotations, annotated_name(job.input, job.name, ""),
                    file.generic_string(), job.number, std::max(job.part.page, 1));
    }
    write_results(options_, options_.parameters.region, plan_.batch, job, loaded, written.result,
                  annotations);
  });
  written.seconds = loaded.seconds + stopwatch.seconds();
  return written;
}

void Writer::begin(const Job& job, LoadedImage loaded, BegunSegmentation begun,
                   const Segmenter& segmenter) {
  under_way_.push_back(
      {&job, std::async(std::launch::async, [this, &job, &segmenter, loaded = std::move(loaded),
                                             begun = std::move(begun)]() mutable {
         return write(job, loaded, std::move(begun), segmenter, {{}, &cancel_});
       })});
}

std::optional<Writer::Done> Writer::next() {
  if (under_way_.empty()) return std::nullopt;
  Done done{under_way_.front().job, under_way_.front().written.get()};
  under_way_.pop_front();
  return done;
}

void write_results(const Options& options, const RegionParameters& cut, bool batch, const Job& job,
                   const LoadedImage& loaded, Segmentation& result,
                   const Annotations& annotations) {
  // In reverse order, so that the labels come last: where they are, all results are.
  for (auto info = kResults.rbegin(); info != kResults.rend(); ++info) {
    const std::string& place = job.results[info->result];
    if (place.empty()) continue;
    if (batch && info->result != Result::kEigenvectors) make_folder_of(place);
    if (info->is_annotation()) {
      const bool names_image = info->result == Result::kLabelMe;
      annotations.write(info->result, place,
                        annotated_name(job.input, job.name, names_image ? place : ""));
    } else {
      write_result(*info, place, {options, cut, job, loaded, result});
    }
  }
}

}  // namespace diacut::app
