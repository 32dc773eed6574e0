#include "writer.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/background.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/map.hpp"
#include "diacut/output.hpp"
#include "diacut/page.hpp"
#include "map/region_format.hpp"
#include "output/format.hpp"
#include "paths.hpp"
#include "stopwatch.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

namespace {

/// What the page of an image is called: the image's file name.
std::string page_title(const std::string& input) {
  return input == "-" ? "picture" : fs::path(input).filename().string();
}

/// `frame`, or of a picture, where it is null, the size alone.
MapFrame frame_or_size(const MapFrame* frame, int width, int height) {
  if (frame != nullptr) return *frame;
  MapFrame size;
  size.width = width;
  size.height = height;
  return size;
}

/// Writes labels as a picture, as a GeoTIFF with the coordinates of `frame`, or as polygons, as the
/// extension says. `frame`: of the scene that they are of, or null for a picture. `simplify`: as
/// write_map_regions() takes it. `facts`: of a picture's file, which a TIFF file keeps.
void write_labels_of(const std::string& place, const Labels& labels, const MapFrame* frame,
                     const LabelStyle& style, std::optional<double> simplify,
                     const PictureFacts& facts) {
  const MapFrame where = frame_or_size(frame, labels.width, labels.height);
  if (names_polygons(place)) return write_map_regions(place, labels, where, simplify);
  const bool is_tiff = label_format(place, style.indexed) == LabelFormat::kTiff;
  if (is_tiff && (frame != nullptr || style.cloud_optimised)) {
    return write_map_labels(place, labels, where, style.cloud_optimised);
  }
  write_labels(place, labels, style.indexed, facts);
}

/// Writes a result that is no annotation. `cut`: what a page shows at first.
void write_result(const ResultInfo& info, const std::string& place, const Options& options,
                  const RegionParameters& cut, const LoadedImage& loaded, WrittenImage& written) {
  const Image& image = loaded.image;
  Segmentation& result = *written.result;
  const auto tree = [&]() -> const HierarchyCut& { return dynamic_cast<HierarchyCut&>(result); };
  const MapFrame* frame = loaded.frame ? &*loaded.frame : nullptr;
  const MapFrame where = frame_or_size(frame, result.labels.width, result.labels.height);
  const auto write_labels = [&](const Labels& labels) {
    write_labels_of(place, labels, frame, options.labels, options.annotations.simplify(),
                    loaded.facts);
  };
  switch (info.result) {
    case Result::kLabels:
      // Only seeds need labels that are not the regions' numbers: a large image's are not copied.
      if (written.seed_labels.empty()) return write_labels(result.labels);
      return write_labels(written_labels(SeededRegions{result.labels, written.seed_labels}));
    case Result::kOverlay:
      return write_overlay(place, image, result.labels);
    case Result::kFlat:
      return write_flat(place, image, result.labels);
    case Result::kCutout:
      return write_cutout(place, image, result.labels,
                          regions_to_cut_out(options.cutout, result.labels, written.seed_labels,
                                             options.sidecars.has(Sidecar::kSeeds) &&
                                                 !options.sidecars.has(Sidecar::kCorrected)));
    case Result::kEigenvectors:
      return write_eigenvectors(place, result.eigenvectors, &image);
    case Result::kTree:
      return write_tree(place, tree().hierarchy, loaded.job->part);
    case Result::kUltrametric:
      return write_map_strength(place, ultrametric_map(tree().hierarchy), ultrametric_frame(where),
                                options.labels.cloud_optimised);
    case Result::kContours:
      return write_map_strength(place, tree().contours, where, options.labels.cloud_optimised);
    case Result::kPage: {
      PageParameters page{page_title(loaded.job->input), cut, &result.labels};
      if (const auto* const objects = dynamic_cast<Objects*>(&result))
        page.inside = objects->inside;
      return write_page(place, image, tree().hierarchy, &result.eigenvectors, page, result.notes);
    }
    case Result::kProbabilities:
      return write_probabilities(place, dynamic_cast<SeedGrowth&>(result).probabilities,
                                 image.width, image.height);
    default:  // An annotation.
      return;
  }
}

}  // namespace

Writer::Writer(const Options& options, const Plan& plan, const CancelToken& cancel,
               const MemoryCheck& memory)
    : options_(options), plan_(plan), cancel_(cancel), memory_(memory), links_(options.links) {}

WrittenImage Writer::write(const LoadedImage& loaded, BegunSegmentation begun,
                           const Segmenter& segmenter, const Watch& watch,
                           const std::shared_future<void>& before) {
  const Stopwatch stopwatch;
  const Job& job = *loaded.job;
  WrittenImage written;
  written.job = &job;
  written.failure = attempt(job.input, [&] {
    written.result = std::move(begun).finish(watch);
    Segmentation& result = *written.result;
    if (const auto* const seeded = dynamic_cast<SeededCut*>(&result)) {
      written.seed_labels = seeded->seed_labels;
    } else if (const auto* const grown = dynamic_cast<SeedGrowth*>(&result)) {
      written.seed_labels = grown->seed_labels;
    }
    if (options_.links.overlap && before.valid()) before.wait();  // Pages end side by side.
    links_.link(loaded.facts, written);
    if (loaded.needs_no_device()) {
      result.labels = loaded.correction->labels.labels;
      result.notes = loaded.image.notes;
      result.eigenvectors.report.converged = true;
    }
    if (loaded.correction) {
      SeededRegions corrected = correct_labels(
          *loaded.correction, written_labels(SeededRegions{result.labels, written.seed_labels}),
          result.notes);
      result.labels = std::move(corrected.regions);
      written.seed_labels = std::move(corrected.seed_labels);
    }
    std::uint64_t& announced = result.costs.announced.host_bytes;
    announced = std::max(announced, memory_.most_together());
    watch.report("writing", 0);
    const auto* const tree = dynamic_cast<HierarchyCut*>(&result);
    const MapFrame* frame = loaded.frame ? &*loaded.frame : nullptr;
    std::vector<std::int64_t> numbers;  // Of linked pages and corrected labels.
    if (options_.links.overlap || loaded.correction) {
      numbers.assign(written.seed_labels.begin(), written.seed_labels.end());
    }
    const Annotations annotations(plan_.roots.results, options_.annotations, loaded.image, job.name,
                                  result.labels,
                                  measured_in(options_.annotations, frame, loaded.file,
                                              loaded.facts, options_.parameters.image, job.part),
                                  tree != nullptr ? &tree->hierarchy : nullptr, numbers);
    for (std::string& note : annotations.notes()) result.notes.push_back(std::move(note));
    if (!options_.json.empty()) {
      written.report = report_json(result, loaded.image, segmenter.parameters(), segmenter.device(),
                                   job.input, job.pages > 1 ? job.part.page : 0);
      if (!plan_.batch) write_file(options_.json, written.report);
    }
    written.facts = loaded.facts;
    written.damaged = loaded.image.is_damaged;
    if (plan_.batch) {
      const auto file = fs::path(job.name).parent_path() / fs::path(job.input).filename();
      written.parts =
          run_parts(plan_.roots.results, annotations, annotated_name(job.input, job.name, ""),
                    file.generic_string(), job.number, std::max(job.part.page, 1));
    }
    write_results(options_, options_.parameters.region, loaded, written, annotations);
  });
  written.seconds = loaded.seconds + stopwatch.seconds();
  return written;
}

void Writer::begin(LoadedImage loaded, BegunSegmentation begun, const Segmenter& segmenter) {
  std::promise<void> ended;
  const std::shared_future<void> before = std::exchange(last_, ended.get_future().share());
  under_way_.push_back(
      in_background([this, &segmenter, loaded = std::move(loaded), begun = std::move(begun), before,
                     ended = std::move(ended)]() mutable {
        WrittenImage written = write(loaded, std::move(begun), segmenter, {{}, &cancel_}, before);
        ended.set_value();
        return written;
      }));
}

std::optional<WrittenImage> Writer::next() {
  if (under_way_.empty()) return std::nullopt;
  WrittenImage written = under_way_.front().get();
  under_way_.pop_front();
  return written;
}

void write_results(const Options& options, const RegionParameters& cut, const LoadedImage& loaded,
                   WrittenImage& written, const Annotations& annotations) {
  const Job& job = *loaded.job;
  // In reverse order, so that the labels come last: where they are, all results are.
  const std::vector<NamedResult> results = named(job.results);
  for (auto each = results.rbegin(); each != results.rend(); ++each) {
    const auto& [info, place] = *each;
    if (info.result != Result::kEigenvectors) make_folder_of(place);
    if (info.is_annotation()) {
      const bool names_image = info.result == Result::kLabelMe;
      annotations.write(info.result, place,
                        annotated_name(job.input, job.name, names_image ? place : ""));
    } else {
      write_result(info, place, options, cut, loaded, written);
    }
  }
}

}  // namespace diacut::app
