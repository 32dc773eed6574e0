#include "pipeline/working_image.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>

#include "core/enum_names.hpp"
#include "diacut/errors.hpp"
#include "image/input_checks.hpp"
#include "region/arcs/borders.hpp"
#include "region/arcs/parts.hpp"
#include "region/placement/placement.hpp"

namespace diacut {

namespace {

/// The longer side of the picture that the network sees, as a part of ImageParameters::detail: 481
/// pixels, the photographs that it learned from, of 640.
constexpr double kNetworkShare = 481.0 / 640;

template <class Value>
std::shared_ptr<const Value> borrowed(const Value* value) {
  return {std::shared_ptr<const void>(), value};
}

/// Throws where something came with an image whose method does not take it.
void check_taken(const void* given, const char* name, RegionMethod method,
                 std::initializer_list<RegionMethod> takers) {
  if (given == nullptr || std::count(takers.begin(), takers.end(), method) > 0) return;
  std::vector<std::string_view> names;
  for (const RegionMethod each : takers) names.push_back(enum_name(kRegionMethodNames, each));
  throw ConfigError(fmt::format(
      "{} came with the image, but region.method {} does not take them: set it to {}, or leave "
      "them out",
      name, enum_name(kRegionMethodNames, method), fmt::join(names, " or ")));
}

/// Throws unless barriers are heeded and fit the image and its seeds.
void check_barriers_of(const SeededImage& asked, const Parameters& parameters) {
  if (asked.barriers == nullptr) return;
  if (asked.features != nullptr && !parameters.affinity.with_boundary) {
    throw ConfigError(
        "there are barriers, but features alone ignore them: set affinity.with_boundary to true, "
        "or leave them out");
  }
  const Barriers& barriers = *asked.barriers;
  const Image& image = *asked.image;
  if (barriers.width != image.width || barriers.height != image.height ||
      barriers.pixels.size() != image.pixel_count()) {
    throw InputError(fmt::format("the barriers are {}x{} pixels, the image {}x{}: they must match",
                                 barriers.width, barriers.height, image.width, image.height));
  }
  const auto width = static_cast<std::size_t>(image.width);
  for (std::size_t i = 0; i < barriers.pixels.size(); ++i) {
    if (barriers.pixels[i] == 0 || asked.seeds->labels[i] == 0) continue;
    throw InputError(fmt::format("the seed at column {}, row {} lies on a barrier: clear it",
                                 i % width, i / width));
  }
}

/// For each pixel whether it is a barrier. Where two pixels of a barrier touch at a corner alone,
/// one of their common neighbours becomes a barrier too.
std::vector<std::uint8_t> closed_barriers(const Barriers& barriers) {
  const auto width = static_cast<std::size_t>(barriers.width);
  std::vector<std::uint8_t> walls(barriers.pixels.size());
  std::transform(barriers.pixels.begin(), barriers.pixels.end(), walls.begin(),
                 [](std::uint8_t each) { return static_cast<std::uint8_t>(each != 0 ? 1 : 0); });
  for (std::size_t upper = 0; upper + width < walls.size(); ++upper) {
    if ((upper + 1) % width == 0) continue;
    const std::size_t lower = upper + width;
    const bool falling = walls[upper] != 0 && walls[lower + 1] != 0;
    const bool rising = walls[upper + 1] != 0 && walls[lower] != 0;
    if (falling && walls[lower] == 0) walls[upper + 1] = 1;
    if (rising && walls[lower + 1] == 0) walls[upper] = 1;
  }
  return walls;
}

/// Throws unless the features can be used and fit the image.
void check_features_of(const ImageToSegment& asked, const Parameters& parameters) {
  if (asked.features == nullptr) return;
  const bool alone = !parameters.affinity.with_boundary;
  if (alone && asked.boundary_map != nullptr) {
    throw ConfigError(
        "there are a boundary map and features, but affinity.with_boundary is false, so the map "
        "would have no effect: set it to true, or leave the map out");
  }
  if (alone && makes_hierarchy(parameters) && parameters.contour.spectral == SpectralUse::kNever) {
    throw ConfigError(
        "contour.spectral is never, but with features alone contours are made of the spectral "
        "contour: leave it auto, or set affinity.with_boundary to true");
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
  return numbers;
}

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
  std::vector<Votes> votes(to.pixels());
  each_covered_pixel(from, to, [&](std::size_t i, std::size_t k) {
    if (labels[i] != 0) ++votes[k][labels[i]];
  });
  std::vector<std::int32_t> result(votes.size());
  std::transform(votes.begin(), votes.end(), result.begin(), most_frequent);
  return result;
}

/// For each pixel of the smaller picture whether any of the area that it covers is a barrier.
std::vector<std::uint8_t> reduced_walls(const std::vector<std::uint8_t>& walls,
                                        const PictureSize& from, const PictureSize& to) {
  std::vector<std::uint8_t> result(to.pixels(), 0);
  each_covered_pixel(from, to, [&](std::size_t i, std::size_t k) { result[k] |= walls[i]; });
  return result;
}

std::shared_ptr<WorkingSeeds> working_seeds(const Seeds& seeds, const Barriers* barriers,
                                            const PictureSize& working) {
  const auto numbers = label_numbers(seeds.labels);
  WorkingSeeds result;
  for (const auto& [label, number] : numbers) result.values.push_back(label);
  result.labels = seeds.labels;
  for (std::int32_t& label : result.labels) label = label == 0 ? 0 : numbers.at(label);
  if (barriers != nullptr) result.walls = closed_barriers(*barriers);
  const PictureSize full{seeds.width, seeds.height};
  if (working == full) return std::make_shared<WorkingSeeds>(std::move(result));
  result.full_labels = std::move(result.labels);
  result.labels = reduced_labels(result.full_labels, full, working);
  if (barriers != nullptr) {
    result.full_walls = std::move(result.walls);
    result.walls = reduced_walls(result.full_walls, full, working);
    for (std::size_t k = 0; k < result.walls.size(); ++k) {
      if (result.walls[k] != 0) result.labels[k] = 0;
    }
  }
  std::vector<bool> there(result.values.size() + 1, false);
  for (const std::int32_t number : result.labels) there[number] = true;
  for (std::size_t k = 1; k < there.size(); ++k) {
    if (there[k]) continue;
    throw InputError(fmt::format(
        "the seeds of label {} vanish among others, or behind barriers, where the image is reduced "
        "to {}x{}: draw them larger, or use --detail native",
        result.values[k - 1], working.width, working.height));
  }
  return std::make_shared<WorkingSeeds>(std::move(result));
}

/// With it no affinity of two neighbours becomes 0 in float32: that of the strongest boundary is
/// exp(-1 / scale).
constexpr double kLeastAffinityScale = 0.0125;

/// For each pixel whether it lies in a part, without barriers and pixels without data, that holds a
/// seed.
std::vector<bool> reached(const WorkingSeeds& seeds, const Image& image) {
  std::vector<std::int32_t> open(image.pixel_count(), 1);
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!image.has_data(i)) open[i] = 0;
    if (!seeds.walls.empty() && seeds.walls[i] != 0) open[i] = 0;
  }
  const Labels parts = connected_parts(image.width, image.height, open);
  const auto part_of = [&](std::size_t i) { return static_cast<std::size_t>(parts.values[i]); };
  std::vector<bool> with_seed(static_cast<std::size_t>(parts.count) + 1, false);
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (seeds.labels[i] != 0 && part_of(i) != 0) with_seed[part_of(i)] = true;
  }
  std::vector<bool> result(open.size());
  for (std::size_t i = 0; i < open.size(); ++i) result[i] = with_seed[part_of(i)];
  return result;
}

/// Throws ConfigError where a random walk starts from probabilities that nothing can make use of,
/// and InputError where they do not fit the image and its seeds.
void check_walk_start(const SeededImage& asked, const Parameters& parameters) {
  if (asked.start == nullptr) return;
  if (asked.features != nullptr) {
    throw ConfigError(
        "a random walk by features does not start from probabilities: leave out one of them");
  }
  if (parameters.affinity.scale < kLeastAffinityScale) {
    throw ConfigError(
        fmt::format("affinity.scale is {}: a random walk that starts from probabilities needs at "
                    "least {}, or leave them out",
                    parameters.affinity.scale, kLeastAffinityScale));
  }
  const Probabilities& start = *asked.start;
  const Image& image = *asked.image;
  if (start.width != image.width || start.height != image.height) {
    throw InputError(
        fmt::format("the probabilities to start from are {}x{} pixels, the image {}x{}: take "
                    "those of the same image",
                    start.width, start.height, image.width, image.height));
  }
  try {
    check_probabilities(start);
  } catch (const InputError& error) {
    throw InputError(fmt::format("the probabilities to start from: {}", error.what()));
  }
}

/// For each label of the seeds the probabilities that a walk over the working image starts from,
/// of labels without any 0. Pixels of parts without seeds start from 0: where nothing leads to a
/// seed, the linear system keeps what it starts from. Precondition: check_walk_start() holds.
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

/// Gives pixels that have the label 0 and for which `takes` holds the label of a neighbour by an
/// edge, the nearest to a labelled pixel first, in scan order.
template <class Takes>
void fill_from_neighbours(const PictureSize& size, const Takes& takes,
                          std::vector<std::int32_t>& labels) {
  std::vector<std::size_t> queue;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 0) queue.push_back(i);
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::size_t i = queue[head];
    each_neighbour<std::size_t>(i, size.width, size.height, [&](std::size_t j) {
      if (labels[j] != 0 || !takes(j)) return;
      labels[j] = labels[i];
      queue.push_back(j);
    });
  }
}

/// Labels pixels without a label beside barriers, then the barriers, from their sides. `valid`:
/// where there are barriers it is 0 or empty.
void label_barriers(const PictureSize& size, const std::vector<std::uint8_t>& walls,
                    const std::vector<std::uint8_t>& valid, std::vector<std::int32_t>& labels) {
  if (walls.empty()) return;
  fill_from_neighbours(
      size, [&](std::size_t i) { return walls[i] == 0 && !valid.empty() && valid[i] != 0; },
      labels);
  fill_from_neighbours(
      size, [&](std::size_t i) { return walls[i] != 0; }, labels);
}

/// As working_image() without seeds. `valid`: FullImage::valid of an image that is reduced.
WorkingImage without_seeds(const ImageToSegment& asked, const Parameters& parameters,
                           const std::vector<std::uint8_t>& valid) {
  using enum RegionMethod;
  const RegionMethod method = parameters.region.method;
  check_taken(asked.boundary_map, "a boundary map", method, {kHierarchy, kKway, kWalker});
  check_taken(asked.features, "features", method, {kHierarchy, kKway, kWalker});
  check_features_of(asked, parameters);
  const Image& image = *asked.image;
  const PictureSize full{image.width, image.height};
  const PictureSize working = reduced_size(full, parameters.image.detail);
  WorkingImage result;
  result.features = borrowed(asked.features);
  if (working == full) {
    result.image = borrowed(asked.image);
    result.boundary_map = borrowed(asked.boundary_map);
    return result;
  }
  if (asked.boundary_map != nullptr) {
    check_boundary_map(*asked.boundary_map, full.width, full.height);
    result.boundary_map = std::make_shared<BoundaryMap>(
        BoundaryMap{working.width, working.height,
                    reduced_by_maximum(asked.boundary_map->strength, full, working)});
  }
  result.image = std::make_shared<Image>(reduced(image, working));
  result.full = std::make_shared<FullImage>(FullImage{full, valid, detail_picture(image, working)});
  return result;
}

/// Labels or a hierarchy of the working image, in the full one.
template <class Value>
Value placed_in(const FullImage& full, const PictureSize& working, const Value& value) {
  const std::vector<std::uint8_t> levels = detail_levels(full.detail, working, full.size);
  return placed(value, FullPicture{full.size.width, full.size.height, levels, full.valid});
}

}  // namespace

std::size_t pixels_with_data(const Image& image) {
  const auto none = std::count(image.valid.begin(), image.valid.end(), std::uint8_t{0});
  return image.pixel_count() - static_cast<std::size_t>(none);
}

WorkingImage working_image(const ImageToSegment& asked, const Parameters& parameters) {
  if (walks(parameters)) throw InputError("region.method walker needs seeds (--seeds)");
  return without_seeds(asked, parameters, asked.image->valid);
}

WorkingImage working_image(const SeededImage& asked, const Parameters& parameters) {
  using enum RegionMethod;
  const RegionMethod method = parameters.region.method;
  check_taken(asked.seeds, "seeds", method, {kWalker, kHierarchy});
  check_taken(asked.barriers, "barriers", method, {kWalker});
  check_taken(asked.start, "probabilities to start from", method, {kWalker});
  const Image& image = *asked.image;
  check_seeds(*asked.seeds, image.width, image.height, image.valid);
  if (!walks(parameters)) {
    WorkingImage result = without_seeds(asked, parameters, image.valid);
    result.cut_seeds = std::make_shared<Seeds>(*asked.seeds);
    return result;
  }
  check_barriers_of(asked, parameters);
  check_walk_start(asked, parameters);
  const auto seeds =
      working_seeds(*asked.seeds, asked.barriers,
                    reduced_size({image.width, image.height}, parameters.image.detail));
  std::vector<std::uint8_t> valid = image.valid;
  if (!seeds->full_walls.empty()) valid.resize(image.pixel_count(), 1);
  for (std::size_t i = 0; i < seeds->full_walls.size(); ++i) {
    if (seeds->full_walls[i] != 0) valid[i] = 0;
  }
  WorkingImage result = without_seeds(asked, parameters, valid);
  if (asked.start != nullptr) seeds->start = walk_start(*asked.start, *seeds, *result.image);
  result.seeds = seeds;
  return result;
}

RunParameters working_parameters(const Parameters& parameters, const PictureSize& working,
                                 const PictureSize& full, const WantedResults& results) {
  RunParameters result = parameters;
  result.feature_channels = results.features.channels;
  // Kept pixels reach one another in one way alone: by affinities of a boundary map within a disc.
  const bool decimable = results.features.channels == 0 &&
                         parameters.affinity.strides.size() == 1 && parameters.affinity.radius > 1;
  const BoundarySource source = results.boundary_map ? BoundarySource::kMap
                                : parameters.boundary.kind == BoundaryKind::kGradient
                                    ? BoundarySource::kGradient
                                    : BoundarySource::kNetwork;
  result.contour_decided = contour_parameters(parameters.contour, source);
  SpectralUse& spectral = result.contour_decided.spectral;
  if (spectral == SpectralUse::kDecimated && !decimable) spectral = SpectralUse::kFull;
  result.eigenvectors =
      !makes_hierarchy(parameters) || spectral == SpectralUse::kFull || results.eigenvectors;
  if (parameters.image.detail == 0) return result;
  // Of the working image, so that all images of a batch, which have one size, have one scale.
  const double scale = kNetworkShare * parameters.image.detail / longer_side(working);
  for (double& each : result.boundary.scales) each *= std::min(1.0, scale);
  LeastSize& least = result.region.min_size;
  if (parameters.region.method == RegionMethod::kKway && least.unit == LeastSize::Unit::kPixels) {
    least.value = std::round(least.value * static_cast<double>(working.pixels()) /
                             static_cast<double>(full.pixels()));
  }
  return result;
}

void place_walk(SeedGrowth& result, const std::vector<std::int32_t>& labels,
                const PictureSize& working, const FullImage* full, const WorkingSeeds& seeds) {
  std::vector<std::int32_t> own = labels;
  if (full == nullptr) {
    label_barriers(working, seeds.walls, {}, own);
    result.labels = connected_parts(working.width, working.height, own);
  } else {
    const PictureSize size = full->size;
    result.labels = connected_parts(working.width, working.height, own);
    place(result, working, *full);
    own = voted_labels(result.labels, labels, working, seeds);
    label_barriers(size, seeds.full_walls, full->valid, own);
    result.labels = connected_parts(size.width, size.height, own);
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
  result.labels = placed_in(full, working, result.labels);
}

void place(HierarchyCut& result, const PictureSize& working, const FullImage& full) {
  result.hierarchy = placed_in(full, working, result.hierarchy);
  result.contours = enlarged(result.contours, working, full.size, full.valid);
  if (auto* const objects = dynamic_cast<Objects*>(&result)) {
    objects->inside = enlarged(objects->inside, working, full.size, full.valid);
  }
}

}  // namespace diacut
