#include "diacut/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

#include "core/npy.hpp"
#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "image/geojson_marks.hpp"
#include "image/input_checks.hpp"
#include "image/naming.hpp"
#include "image/raster.hpp"

namespace diacut {

namespace {

/// Draws GeoJSON, which a library reads in this process.
void draw_file(Bytes file, const ImageParameters& parameters, int width, int height,
               MarkedBy marked, const std::function<void(std::size_t, std::int32_t)>& visit) {
  if (parameters.untrusted) {
    throw InputError(
        "GeoJSON is not read with --untrusted: draw it into a PNG, TIFF "
        "or .npy file of the image's size");
  }
  if (width <= 0 || height <= 0) {
    throw InputError("it is GeoJSON, for which the size of the image must be given");
  }
  draw_geojson(file, width, height, marked, visit);
}

std::size_t pixels_of(int width, int height) {
  return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
}

Seeds seeds_of(const Raster& raster) {
  const std::vector<std::int64_t> numbers =
      whole_numbers(raster, 0, kMostSeedLabel,
                    fmt::format("the number of a label, 1 to {}, or 0 for none", kMostSeedLabel));
  return {raster.width, raster.height, {numbers.begin(), numbers.end()}};
}

}  // namespace

Seeds read_seeds(const std::string& path, const ImageParameters& parameters, int width,
                 int height) {
  const std::vector<std::uint8_t> file = read_file(path);
  return naming(path, [&] {
    if (begins_as_json(file)) {
      Seeds seeds{width, height, std::vector<std::int32_t>(pixels_of(width, height), 0)};
      const auto draw = [&](std::size_t pixel, std::int32_t label) {
        std::int32_t& own = seeds.labels[pixel];
        if (own != 0 && own != label) {
          const auto columns = static_cast<std::size_t>(width);
          throw InputError(fmt::format("the pixel at column {}, row {} has the labels {} and {}",
                                       pixel % columns, pixel / columns, own, label));
        }
        own = label;
      };
      draw_file(file, parameters, width, height, MarkedBy::kLabels, draw);
      return seeds;
    }
    if (is_npy(file)) return seeds_of(decode_raster(file, parameters));
    const DecodeTask task{DecodeTask::kNumbers, {}};
    const Decoded picture = decode_file(path, file, parameters.max_pixels, task, parameters);
    return is_painted(picture) ? painted_seeds(picture) : seeds_of(raster_of(picture));
  });
}

Barriers read_barriers(const std::string& path, const ImageParameters& parameters, int width,
                       int height) {
  const std::vector<std::uint8_t> file = read_file(path);
  return naming(path, [&] {
    if (begins_as_json(file)) {
      Barriers barriers{width, height, std::vector<std::uint8_t>(pixels_of(width, height), 0)};
      draw_file(file, parameters, width, height, MarkedBy::kLines,
                [&](std::size_t pixel, std::int32_t) { barriers.pixels[pixel] = 1; });
      return barriers;
    }
    const Raster raster = decode_raster(file, parameters, path);
    Barriers barriers{raster.width, raster.height, {}};
    for (const double value : raster.values) {
      barriers.pixels.push_back(value != 0 && !std::isnan(value) ? 1 : 0);
    }
    return barriers;
  });
}

void check_seeds(const Seeds& seeds, int width, int height,
                 const std::vector<std::uint8_t>& valid) {
  const auto columns = static_cast<std::size_t>(width);
  if (seeds.width != width || seeds.height != height ||
      seeds.labels.size() != columns * static_cast<std::size_t>(height)) {
    throw InputError(fmt::format("the seeds are {}x{} pixels, the image {}x{}: they must match{}",
                                 seeds.width, seeds.height, width, height,
                                 turned_hint(seeds.width, seeds.height, width, height)));
  }
  std::int32_t one = 0;
  bool several = false;
  for (std::size_t i = 0; i < seeds.labels.size(); ++i) {
    const std::int32_t label = seeds.labels[i];
    if (label == 0) continue;
    const bool is_number = label > 0 && label <= kMostSeedLabel;
    if (!is_number || (!valid.empty() && valid[i] == 0)) {
      throw InputError(fmt::format(
          "the seed at column {}, row {} {}", i % columns, i / columns,
          is_number ? "lies where the image has no data: clear it"
                    : fmt::format("has the label {}, expected 1 to {}", label, kMostSeedLabel)));
    }
    several = several || (one != 0 && label != one);
    one = label;
  }
  if (several) return;
  throw InputError(fmt::format(
      "the seeds have {} label{}: at least two are needed, as one for the thing and one for what "
      "is around it",
      one == 0 ? "no" : "one", one == 0 ? "s" : ""));
}

Labels written_labels(const SeededRegions& seeded) {
  Labels labels = seeded.regions;
  const std::vector<std::int32_t>& seeds = seeded.seed_labels;
  if (seeds.empty()) return labels;
  for (std::int32_t& label : labels.values) {
    if (label != 0) label = seeds[static_cast<std::size_t>(label) - 1];
  }
  labels.count = *std::max_element(seeds.begin(), seeds.end());
  return labels;
}

}  // namespace diacut
