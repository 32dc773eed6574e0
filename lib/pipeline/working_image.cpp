#include "pipeline/working_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "image/detail.hpp"
#include "image/edge_check.hpp"
#include "pipeline/pipeline_budget.hpp"
#include "region/parts.hpp"
#include "region/placement.hpp"

namespace diacut {

namespace {

/// The longer side of the picture that the network sees, as a part of ImageParameters::detail: 481
/// pixels, the photographs that it learned from, of 640.
constexpr double kNetworkShare = 481.0 / 640;

/// A pointer to what somebody else owns.
template <class Value>
std::shared_ptr<const Value> borrowed(const Value* value) {
  return {std::shared_ptr<const void>(), value};
}

double pixels_of(const PictureSize& size) {
  return static_cast<double>(size.width) * static_cast<double>(size.height);
}

/// Throws unless there are seeds exactly where the method needs them, and they fit the image.
void check_seeds(const ImageToSegment& asked, RegionMethod method) {
  const bool wanted = method == RegionMethod::kWalker;
  if (!wanted && asked.seeds == nullptr) return;
  if (!wanted) {
    throw ConfigError(
        "there are seeds, but region.method is not walker: set it, or leave them out");
  }
  if (asked.seeds == nullptr) throw InputError("region.method walker needs seeds (--seeds)");
  const Image& image = *asked.image;
  const Seeds& seeds = *asked.seeds;
  if (seeds.width != image.width || seeds.height != image.height ||
      seeds.labels.size() != image.pixel_count()) {
    throw InputError(fmt::format("the seeds have {}x{} pixels, the image {}x{}: give as many",
                                 seeds.width, seeds.height, image.width, image.height));
  }
  for (std::size_t i = 0; i < seeds.labels.size(); ++i) {
    const std::int32_t label = seeds.labels[i];
    const bool is_number = label >= 0 && label <= kMostSeedLabel;
    if (is_number && (label == 0 || image.valid.empty() || image.valid[i] != 0)) continue;
    const auto width = static_cast<std::size_t>(image.width);
    throw InputError(fmt::format(
        "the seed at column {}, row {} {}", i % width, i / width,
        is_number ? "lies where the image has no data: clear it"
                  : fmt::format("has the label {}, expected 1 to {}", label, kMostSeedLabel)));
  }
}

/// Throws unless the features can be used and fit the image.
void check_features_of(const ImageToSegment& asked, const Parameters& parameters) {
  if (parameters.region.method == RegionMethod::kObjects) {
    throw ConfigError(
        "features do not tell the inside of objects, which region.method objects needs: leave one "
        "of them out");
  }
  const bool alone = !parameters.affinity.with_boundary;
  if (alone && asked.edges != nullptr) {
    throw ConfigError(
        "there are a boundary map and features, but affinity.with_boundary is false, so that the "
        "map would count for nothing: set it to true, or leave the map out");
  }
  if (alone && makes_hierarchy(parameters) && parameters.contour.spectral == SpectralUse::kNever) {
    throw ConfigError(
        "contour.spectral is never, but with features alone the spectral contour is all that there "
        "is: leave it auto, or set affinity.with_boundary to true");
  }
  const FeatureMap& features = *asked.features;
  const Image& image = *asked.image;
  check_features(features);
  if (features_fit(features.size(), image.width, image.height)) return;
  throw InputError(fmt::format(
      "the features have {}x{} pixels, the image {}x{}: expected features of the image's size, or "
      "of a smaller size in its proportions (arrays are height x width x channels)",
      features.width, features.height, image.width, image.height));
}

/// The labels' numbers in the order of their values, from 1 on.
std::map<std::int32_t, std::int32_t> label_numbers(const std::vector<std::int32_t>& labels) {
  std::map<std::int32_t, std::int32_t> numbers;
  for (const std::int32_t label : labels) {
    if (label != 0) numbers.emplace(label, 0);
  }
  std::int32_t number = 0;
  for (auto& [label, own] : numbers) own = ++number;
  if (number < 2) {
    throw InputError(fmt::format(
        "the seeds have {} label{}: at least two are needed, as one for the thing and one "
        "for what is around it",
        number == 0 ? "no" : "one", number == 0 ? "s" : ""));
  }
  return numbers;
}

/// How often each label occurs.
using Votes = std::map<std::int32_t, std::int64_t>;

/// The most frequent label, 0 if there is none. Of equally frequent labels the smallest counts.
std::int32_t most_frequent(const Votes& votes) {
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == votes.end() ? 0 : most->first;
}

/// Calls visit(i, k) for each pixel i of the full picture, k being the pixel of the smaller picture
/// that covers it.
template <class Visit>
void each_covered_pixel(const PictureSize& full, const PictureSize& smaller, const Visit& visit) {
  std::size_t i = 0;
  for (std::int64_t y = 0; y < full.height; ++y) {
    const std::int64_t row = y * smaller.height / full.height * smaller.width;
    for (std::int64_t x = 0; x < full.width; ++x, ++i) {
      visit(i, static_cast<std::size_t>(row + x * smaller.width / full.width));
    }
  }
}

/// For each pixel of the smaller picture the most frequent label of the seeds in the area that the
/// pixel covers, 0 where that area has no seed.
std::vector<std::int32_t> reduced_labels(const std::vector<std::int32_t>& labels,
                                         const PictureSize& from, const PictureSize& to) {
  std::vector<Votes> votes(static_cast<std::size_t>(to.width) *
                           static_cast<std::size_t>(to.height));
  each_covered_pixel(from, to, [&](std::size_t i, std::size_t k) {
    if (labels[i] != 0) ++votes[k][labels[i]];
  });
  std::vector<std::int32_t> result(votes.size());
  std::transform(votes.begin(), votes.end(), result.begin(), most_frequent);
  return result;
}

std::shared_ptr<const WorkingSeeds> working_seeds(const Seeds& seeds, const PictureSize& working) {
  const auto numbers = label_numbers(seeds.labels);
  WorkingSeeds result;
  for (const auto& [label, number] : numbers) result.values.push_back(label);
  result.labels = seeds.labels;
  for (std::int32_t& label : result.labels) label = label == 0 ? 0 : numbers.at(label);
  const PictureSize full{seeds.width, seeds.height};
  if (working == full) return std::make_shared<WorkingSeeds>(std::move(result));
  result.full_labels = std::move(result.labels);
  result.labels = reduced_labels(result.full_labels, full, working);
  std::vector<bool> there(result.values.size() + 1, false);
  for (const std::int32_t number : result.labels) there[static_cast<std::size_t>(number)] = true;
  for (std::size_t k = 1; k < there.size(); ++k) {
    if (there[k]) continue;
    throw InputError(fmt::format(
        "the seeds of label {} vanish among others where the image is reduced to {}x{}: "
        "draw them larger, or use --detail native",
        result.values[k - 1], working.width, working.height));
  }
  return std::make_shared<WorkingSeeds>(std::move(result));
}

/// The picture's own labels of a segmentation that was placed in it: each region has the number
/// that most of its pixels have in the working image, and seeds have their own.
std::vector<std::int32_t> voted_labels(const Labels& placed,
                                       const std::vector<std::int32_t>& labels,
                                       const PictureSize& working, const WorkingSeeds& seeds) {
  std::vector<Votes> votes(static_cast<std::size_t>(placed.count) + 1);
  const auto region_of = [&](std::size_t i) { return static_cast<std::size_t>(placed.values[i]); };
  each_covered_pixel({placed.width, placed.height}, working, [&](std::size_t i, std::size_t k) {
    if (region_of(i) != 0 && labels[k] != 0) ++votes[region_of(i)][labels[k]];
  });
  std::vector<std::int32_t> of_region(votes.size());
  std::transform(votes.begin(), votes.end(), of_region.begin(), most_frequent);
  std::vector<std::int32_t> result(placed.values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int32_t seed = seeds.full_labels[i];
    result[i] = seed != 0 ? seed : of_region[region_of(i)];
  }
  return result;
}

Labels regions_of(const PictureSize& size, const std::vector<std::int32_t>& labels) {
  Parts parts = connected_parts(size.width, size.height, labels);
  return {size.width, size.height, parts.count, std::move(parts.of_pixel)};
}

}  // namespace

WorkingImage working_image(const ImageToSegment& asked, const Parameters& parameters) {
  check_seeds(asked, parameters.region.method);
  if (asked.edges != nullptr && parameters.region.method == RegionMethod::kObjects) {
    throw ConfigError(
        "an edge map does not tell the inside of objects, which region.method objects needs: leave "
        "one of them out");
  }
  const Image& image = *asked.image;
  const PictureSize full{image.width, image.height};
  const PictureSize working = reduced_size(full, parameters.image.detail);
  WorkingImage result;
  if (asked.features != nullptr) {
    check_features_of(asked, parameters);
    result.features = borrowed(asked.features);
  }
  if (asked.seeds != nullptr) result.seeds = working_seeds(*asked.seeds, working);
  if (working == full) {
    result.image = borrowed(asked.image);
    result.edges = borrowed(asked.edges);
    return result;
  }
  if (asked.edges != nullptr) {
    check_edges(*asked.edges, full.width, full.height);
    result.edges = std::make_shared<EdgeMap>(EdgeMap{
        working.width, working.height, reduced_by_maximum(asked.edges->strength, full, working)});
  }
  result.image = std::make_shared<Image>(reduced(image, working));
  result.full =
      std::make_shared<FullImage>(FullImage{full, image.valid, detail_picture(image, working)});
  return result;
}

RunParameters working_parameters(const Parameters& parameters, const PictureSize& working,
                                 const PictureSize& full, const PlannedResults& results) {
  RunParameters result = parameters;
  result.feature_channels = results.features.channels;
  const bool own_map = results.edges || results.features.channels > 0;
  if (makes_hierarchy(parameters) && !takes_spectral_contour(parameters, own_map)) {
    result.contour.spectral_weight = 0;
    if (!results.eigenvectors) result.eigen.vectors = 0;
  }
  if (parameters.image.detail == 0) return result;
  // Of the working image, so that all images of a batch, which have one size, have one scale.
  const double scale = kNetworkShare * parameters.image.detail / longer_side(working);
  for (double& each : result.cue.scales) each *= std::min(1.0, scale);
  LeastSize& least = result.region.min_size;
  if (parameters.region.method == RegionMethod::kKway && least.unit == LeastSize::Unit::kPixels) {
    least.value = std::round(least.value * pixels_of(working) / pixels_of(full));
  }
  return result;
}

void place_walk(Segmentation& result, const std::vector<std::int32_t>& labels,
                const PictureSize& working, const FullImage* full, const WorkingSeeds& seeds) {
  std::vector<std::int32_t> own = labels;
  PictureSize size = working;
  result.labels = regions_of(working, own);
  if (full != nullptr) {
    place(result, working, *full);
    own = voted_labels(result.labels, labels, working, seeds);
    size = full->size;
    result.labels = regions_of(size, own);
    for (std::vector<float>& each : result.probabilities) {
      each = enlarged(each, working, size, full->valid);
    }
  }
  result.seed_labels.assign(static_cast<std::size_t>(result.labels.count), 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::int32_t region = result.labels.values[i];
    if (region == 0) continue;
    const auto number = static_cast<std::size_t>(own[i]);
    result.seed_labels[static_cast<std::size_t>(region) - 1] =
        number <= seeds.values.size() ? seeds.values[number - 1] : 0;
  }
}

void place(Segmentation& result, const PictureSize& working, const FullImage& full) {
  const std::vector<std::uint8_t> levels = detail_levels(full.detail, working, full.size);
  const FullPicture picture{full.size.width, full.size.height, levels, full.valid};
  if (result.hierarchy) {
    result.hierarchy = placed(*result.hierarchy, picture);
    result.contours = enlarged(result.contours, working, full.size, full.valid);
    if (!result.inside.empty()) {
      result.inside = enlarged(result.inside, working, full.size, full.valid);
    }
  } else {
    result.labels = placed(result.labels, picture);
  }
}

}  // namespace diacut
