#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image.hpp"
#include "diacut/segmenter.hpp"
#include "freed_memory.hpp"
#include "measure.hpp"
#include "stopwatch.hpp"

namespace diacut::bench {

namespace {

struct StagesOptions {
  CommonOptions common;
  std::string image;
  std::string config = "default";
  std::string detail;
  int together = 1;
};

constexpr std::array<Column, 4> kStageColumns = {{{"stage", "stage", 14},
                                                  {"wall_ms", "wall ms", 12, "{:.2f}"},
                                                  {"device_ms", "device ms", 12, "{:.2f}"},
                                                  {"share", "share", 10, "{:.2f}"}}};

/// The times of one stage in all runs, milliseconds for each image.
struct StageTimes {
  std::string stage;
  std::vector<double> wall;
  std::vector<double> device;
};

/// All images from pixels to labels, those of a run of several begun together and finished side by
/// side, as `segment` does with a folder.
std::vector<Segmentation> segmentations(Segmenter& segmenter, const Image& image, int together) {
  const std::vector<ImageToSegment> images(static_cast<std::size_t>(together),
                                           ImageToSegment{&image});
  std::vector<Segmentation> results;
  if (together == 1) {
    results.push_back(segmenter.begin(images.front()).finish());
    return results;
  }
  std::vector<std::future<Segmentation>> finished;
  for (BegunSegmentation& begun : segmenter.begin(images)) {
    finished.push_back(std::async(std::launch::async, [begun = std::move(begun)]() mutable {
      return std::move(begun).finish();
    }));
  }
  for (std::future<Segmentation>& each : finished) results.push_back(each.get());
  return results;
}

void add_times(const Segmentation& result, std::vector<StageTimes>& stages) {
  for (const StageTime& time : result.times) {
    auto found = std::find_if(stages.begin(), stages.end(),
                              [&](const StageTimes& each) { return each.stage == time.stage; });
    if (found == stages.end()) found = stages.insert(stages.end(), {time.stage, {}, {}});
    found->wall.push_back(time.wall_ms);
    found->device.push_back(time.device_ms);
  }
}

void run(const StagesOptions& options) {
  Parameters parameters = load_parameters(options.config);
  if (!options.detail.empty()) set_parameter(parameters, "image.detail", options.detail);
  const Image image = read_image(options.image, parameters.image);
  Segmenter segmenter(parameters, options.common.device, options.common.kernel_dir);
  segmenter.keep_eigenvectors(false);
  app::set_freed_memory(app::freed_memory_for(segmenter.device().kind));
  std::vector<double> totals;
  std::vector<StageTimes> stages;
  double first = 0;
  for (int i = 0; i <= options.common.repeats; ++i) {
    const app::Stopwatch stopwatch;
    const std::vector<Segmentation> results = segmentations(segmenter, image, options.together);
    const double taken = stopwatch.milliseconds() / options.together;
    if (i == 0) {
      first = taken;
      continue;
    }
    totals.push_back(taken);
    for (const Segmentation& each : results) add_times(each, stages);
  }
  const double total = median(totals);
  fmt::print("{} ({}), {}: {}x{}, {} together\n", segmenter.device().name,
             segmenter.device().platform, options.image, image.width, image.height,
             options.together);
  print_head(kStageColumns);
  nlohmann::json rows = nlohmann::json::array();
  for (const StageTimes& each : stages) {
    const double wall = median(each.wall);
    rows.push_back({{"stage", each.stage},
                    {"wall_ms", wall},
                    {"device_ms", median(each.device)},
                    {"share", wall / total}});
    print_row(kStageColumns, rows.back());
  }
  fmt::print("{:>14}{:>12.2f}{:>12}{:>10.2f}\n{:>14}{:>12.2f}\n", "an image", total, "", 1.0,
             "the first", first);
  write_figures(options.common, segmenter.device(),
                {{"image", options.image},
                 {"width", image.width},
                 {"height", image.height},
                 {"config", options.config},
                 {"together", options.together},
                 {"stages", rows},
                 {"image_ms", total},
                 {"first_ms", first}});
}

}  // namespace

Command stages_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "stages",
      "A photograph from its pixels to its labels: the time of each stage, and of the first run, "
      "which loads kernels and networks. With --together the host's stages overlap.");
  const auto options = std::make_shared<StagesOptions>();
  add_common_options(*command, options->common);
  command->add_option("image", options->image, "A photograph")->required();
  command->add_option("--config", options->config, "A preset, or a configuration file")
      ->capture_default_str();
  command->add_option("--detail", options->detail, "As image.detail");
  command
      ->add_option("--together", options->together,
                   "Begin the photograph so many times together, as images of a folder are")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
