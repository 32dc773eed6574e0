#include "cutout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"

namespace diacut::app {

namespace {

std::vector<std::int32_t> numbers_of(const char* option, const std::string& text, int least,
                                     const char* expected) {
  std::vector<std::int32_t> numbers;
  for (const std::string_view each : split_text(text, ',')) {
    const auto number = number_in<std::int32_t>(each, least);
    if (!number) throw ConfigError(fmt::format("{} is '{}', expected {}", option, text, expected));
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::int32_t> labels_of(const CutoutOptions& options) {
  return numbers_of("--of", options.labels, 1, "numbers of labels, as in 3,17");
}

/// Of a pixel, x and y.
std::vector<std::int32_t> point_of(const CutoutOptions& options) {
  constexpr const char* kExpected = "X,Y, a pixel counted from 0,0 at the upper left";
  const std::vector<std::int32_t> at = numbers_of("--at", options.point, 0, kExpected);
  if (at.size() == 2) return at;
  throw ConfigError(fmt::format("--at is '{}', expected {}", options.point, kExpected));
}

/// The regions of a name.
std::vector<std::int32_t> called(std::int32_t name, const Labels& labels,
                                 const std::vector<std::int32_t>& names) {
  if (names.empty()) return name <= labels.count ? std::vector{name} : std::vector<std::int32_t>();
  std::vector<std::int32_t> found;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] == name) found.push_back(static_cast<std::int32_t>(k) + 1);
  }
  return found;
}

std::int32_t region_at(const CutoutOptions& options, const Labels& labels) {
  const std::string& point = options.point;
  const std::vector<std::int32_t> at = point_of(options);
  if (at[0] >= labels.width || at[1] >= labels.height) {
    throw InputError(fmt::format("--at {} is outside of the image, whose last pixel is {},{}",
                                 point, labels.width - 1, labels.height - 1));
  }
  const std::int32_t region = labels.values[static_cast<std::size_t>(at[1]) * labels.width + at[0]];
  if (region != 0) return region;
  throw InputError(fmt::format("--at {} is in no region: it has no data, or is background", point));
}

}  // namespace

void declare_cutout(CommandLine& line, CutoutOptions& options, const char* group) {
  line.option("--of", options.labels, "N,N...", group,
              "With --cutout: the regions of these labels");
  line.option("--at", options.point, "X,Y", group,
              "With --cutout: the region of this pixel, counted from 0,0 at the upper left");
  line.need("--cutout", {"--of", "--at"});
  line.exclude("--of", {"--at"});
}

void check_cutout(const CutoutOptions& options) {
  if (!options.labels.empty()) labels_of(options);
  if (!options.point.empty()) point_of(options);
}

std::vector<std::int32_t> regions_to_cut_out(const CutoutOptions& options, const Labels& labels,
                                             const std::vector<std::int32_t>& names, bool seeded) {
  if (!options.point.empty()) return {region_at(options, labels)};
  std::vector<std::int32_t> regions;
  if (!options.labels.empty()) {
    for (const std::int32_t name : labels_of(options)) {
      const std::vector<std::int32_t> found = called(name, labels, names);
      if (found.empty()) {
        throw InputError(fmt::format(
            "--of {}: there is no label {}; the largest is {}", options.labels, name,
            names.empty() ? labels.count : *std::max_element(names.begin(), names.end())));
      }
      regions.insert(regions.end(), found.begin(), found.end());
    }
    return regions;
  }
  if (seeded) regions = called(1, labels, names);
  if (!regions.empty()) return regions;
  regions = foreground(labels);
  if (regions.empty()) throw InputError("--cutout: there is no region");
  return regions;
}

}  // namespace diacut::app
