#include "pipeline/walk_stage.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "pipeline/device_checks.hpp"
#include "pipeline/timed_stages.hpp"
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

UnfinishedSegmentation find_walk(Context& context, NormalizedMatrix matrix,
                                 const WorkingImage& image, const SegmentationPlan& plan, bool keep,
                                 const Watch& watch) {
  const auto count = static_cast<int>(image.seeds->values.size());
  RandomWalk walk = random_walk(context, std::move(matrix), image.seeds->labels, count,
                                plan.parameters.walker, keep, watch, image.seeds->start, plan.form);
  check_walk(context, walk.labels, count);
  UnfinishedSegmentation begun;
  begun.result.notes = image.image->notes;
  begun.result.notes.insert(begun.result.notes.end(), plan.notes.begin(), plan.notes.end());
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
    result.times.push_back({kPlacement, milliseconds_since(start), 0});
    watching.report(kPlacement, 1);
  };
  return begun;
}

}  // namespace diacut
