#include "pipeline/walk_stage.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "diacut/errors.hpp"
#include "image/input_checks.hpp"
#include "image/resize.hpp"
#include "pipeline/device_checks.hpp"
#include "pipeline/timed_stages.hpp"
#include "region/parts.hpp"
#include "walker/random_walker.hpp"

namespace diacut {

namespace {

/// Gives pixels with data, but for barriers, that no seed can be reached from the number after
/// those of all labels, and says how many they are.
std::size_t number_unreached(const WorkingImage& image, std::int32_t number,
                             std::vector<std::int32_t>& labels) {
  const std::vector<std::uint8_t>& valid = image.image->valid;
  const std::vector<std::uint8_t>& walls = image.seeds->walls;
  std::size_t unreached = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 0 || (!valid.empty() && valid[i] == 0)) continue;
    if (!walls.empty() && walls[i] != 0) continue;
    labels[i] = number;
    ++unreached;
  }
  return unreached;
}

}  // namespace

void find_walk(Context& context, NormalizedMatrix matrix, const WorkingImage& image,
               const SegmentationPlan& plan, bool keep, const Watch& watch,
               UnfinishedSegmentation& begun) {
  const auto count = static_cast<int>(image.seeds->values.size());
  RandomWalk walk = random_walk(context, std::move(matrix), image.seeds->labels, count,
                                plan.parameters.walker, keep, watch, image.seeds->start, plan.form);
  check_walk(context, walk.labels, count);
  begun.result.walk = {count, walk.iterations, walk.error, walk.converged};
  begun.result.probabilities = std::move(walk.probabilities);
  const std::size_t unreached = number_unreached(image, count + 1, walk.labels);
  if (unreached > 0) {
    begun.result.notes.push_back(
        fmt::format("{} pixels cannot be reached from any seed: they have the label 0", unreached));
  }
  begun.host_work = [labels = std::move(walk.labels), size = image.size(), full = image.full,
                     seeds = image.seeds](Segmentation& result, const Watch& watching) {
    watching.report(kPlacement, 0);
    const auto start = std::chrono::steady_clock::now();
    place_walk(result, labels, size, full.get(), *seeds);
    result.costs.times.push_back({kPlacement, milliseconds_since(start), 0});
    watching.report(kPlacement, 1);
  };
}

namespace {

/// With it no affinity of two neighbours becomes 0 in float32: that of the strongest boundary is
/// exp(-1 / scale).
constexpr double kLeastScale = 0.0125;

/// For each pixel whether it lies in a part, without barriers and pixels without data, that holds a
/// seed.
std::vector<bool> reached(const WorkingSeeds& seeds, const Image& image) {
  std::vector<std::int32_t> open(image.pixel_count(), 1);
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!image.valid.empty() && image.valid[i] == 0) open[i] = 0;
    if (!seeds.walls.empty() && seeds.walls[i] != 0) open[i] = 0;
  }
  const Parts parts = connected_parts(image.width, image.height, open);
  const auto part_of = [&](std::size_t i) { return static_cast<std::size_t>(parts.of_pixel[i]); };
  std::vector<bool> with_seed(static_cast<std::size_t>(parts.count) + 1, false);
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (seeds.labels[i] != 0 && part_of(i) != 0) with_seed[part_of(i)] = true;
  }
  std::vector<bool> result(open.size());
  for (std::size_t i = 0; i < open.size(); ++i) result[i] = with_seed[part_of(i)];
  return result;
}

}  // namespace

void check_walk_start(const ImageToSegment& asked, const Parameters& parameters) {
  if (asked.start == nullptr) return;
  if (asked.features != nullptr) {
    throw ConfigError(
        "a random walk by features does not start from probabilities: leave out one of them");
  }
  if (parameters.affinity.scale < kLeastScale) {
    throw ConfigError(
        fmt::format("affinity.scale is {}: a random walk that starts from probabilities needs at "
                    "least {}, or leave them out",
                    parameters.affinity.scale, kLeastScale));
  }
  const Probabilities& start = *asked.start;
  const Image& image = *asked.image;
  if (start.width != image.width || start.height != image.height) {
    throw InputError(
        fmt::format("the probabilities to start from have {}x{} pixels, the image {}x{}: take "
                    "those of the same image",
                    start.width, start.height, image.width, image.height));
  }
  try {
    check_probabilities(start);
  } catch (const InputError& error) {
    throw InputError(fmt::format("the probabilities to start from: {}", error.what()));
  }
}

std::vector<std::vector<float>> walk_start(const Probabilities& start, const WorkingSeeds& seeds,
                                           const Image& working) {
  if (start.of_label.size() > seeds.values.size()) {
    throw InputError(
        fmt::format("the probabilities to start from are those of {} labels, but the seeds have "
                    "{}: leave out those that are gone",
                    start.of_label.size(), seeds.values.size()));
  }
  const std::vector<bool> open = reached(seeds, working);
  std::vector<std::vector<float>> result;
  for (const std::vector<float>& each : start.of_label) {
    const Image plane{start.width, start.height, 1, each, {}, {}};
    result.push_back(reduced(plane, {working.width, working.height}).pixels);
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!open[i]) result.back()[i] = 0;
    }
  }
  return result;
}

}  // namespace diacut
