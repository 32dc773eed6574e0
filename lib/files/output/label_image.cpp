#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "core/connected_parts.hpp"
#include "diacut/annotations.hpp"
#include "diacut/errors.hpp"
#include "image/geojson_marks.hpp"
#include "image/naming.hpp"
#include "image/raster.hpp"
#include "output/annotation_parts.hpp"

namespace diacut {
namespace {

/// Calls visit(neighbour) for the pixels that share a side with pixel `i`.
template <class Visit>
void beside(std::size_t i, const Labels& labels, const Visit& visit) {
  const auto width = static_cast<std::size_t>(labels.width);
  if (i % width > 0) visit(i - 1);
  if (i % width + 1 < width) visit(i + 1);
  if (i >= width) visit(i - width);
  if (i + width < labels.values.size()) visit(i + width);
}

/// Gives pixels without a number that of the nearest one in their region, step by step.
void spread(const Labels& regions, std::vector<std::int32_t>& numbers) {
  std::deque<std::size_t> open;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != 0) open.push_back(i);
  }
  for (; !open.empty(); open.pop_front()) {
    const std::size_t i = open.front();
    beside(i, regions, [&](std::size_t j) {
      if (numbers[j] != 0 || regions.values[j] != regions.values[i] || regions.values[j] == 0)
        return;
      numbers[j] = numbers[i];
      open.push_back(j);
    });
  }
}

/// "3, 4 and 5".
template <class Number>
std::string listed(const std::set<Number>& numbers) {
  std::string text;
  for (auto each = numbers.begin(); each != numbers.end(); ++each) {
    if (each != numbers.begin()) text += std::next(each) == numbers.end() ? " and " : ", ";
    text += std::to_string(*each);
  }
  return text;
}

/// The 4-connected pieces of equal numbers, in scan order.
SeededRegions pieces_of(const Labels& size, const std::vector<std::int32_t>& numbers) {
  SeededRegions found;
  found.regions = connected_parts(size.width, size.height, numbers);
  found.seed_labels.resize(static_cast<std::size_t>(found.regions.count));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != 0) {
      found.seed_labels[static_cast<std::size_t>(found.regions.values[i]) - 1] = numbers[i];
    }
  }
  return found;
}

}  // namespace

LabelImage numbered(int width, int height, const std::vector<std::int64_t>& values) {
  LabelImage image;
  image.labels.width = width;
  image.labels.height = height;
  std::vector<std::int64_t> numbers = {0};
  std::int64_t last = 0;
  for (const std::int64_t value : values) {
    if (value != last) numbers.push_back(last = value);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  image.labels.count = static_cast<std::int64_t>(numbers.size()) - 1;
  image.labels.values.reserve(values.size());
  std::int32_t label = 0;
  last = 0;
  for (const std::int64_t value : values) {
    if (value != last) {
      label = static_cast<std::int32_t>(std::lower_bound(numbers.begin(), numbers.end(), value) -
                                        numbers.begin());
      last = value;
    }
    image.labels.values.push_back(label);
  }
  image.numbers.assign(numbers.begin() + 1, numbers.end());
  return image;
}

namespace {

/// The labels of a picture in which each colour is one.
LabelImage coloured_labels(const Decoded& decoded) {
  if (decoded.colours() != 3) {
    throw InputError("it has no colours: leave out --colours, its numbers are labels");
  }
  constexpr std::size_t kMostColours = 65'535;
  cv::Mat samples;
  decoded.samples.convertTo(samples, CV_64F);
  const cv::Mat1b with_data = pixels_with_data(decoded);
  std::map<std::array<double, 3>, std::int64_t> known;
  std::vector<std::int64_t> values;
  for (int y = 0; y < samples.rows; ++y) {
    const double* pixel = samples.ptr<double>(y);
    for (int x = 0; x < samples.cols; ++x, pixel += samples.channels()) {
      const std::array<double, 3> colour = {pixel[0], pixel[1], pixel[2]};
      const bool is_region =
          colour != std::array<double, 3>{} && (with_data.empty() || with_data(y, x) != 0);
      const auto next = static_cast<std::int64_t>(known.size()) + 1;
      values.push_back(is_region ? known.try_emplace(colour, next).first->second : 0);
    }
    if (known.size() > kMostColours) {
      throw InputError(
          fmt::format("it has more than {} colours, as a photograph: expected one for "
                      "each region",
                      kMostColours));
    }
  }
  LabelImage image = numbered(samples.cols, samples.rows, values);
  image.notes.push_back(fmt::format(
      "Its {} colours are the labels 1 to {}, as they first appear; black is background.",
      known.size(), known.size()));
  return image;
}

}  // namespace

SeededRegions correct_labels(const Correction& correction, const Labels& grown,
                             std::vector<std::string>& notes) {
  const Labels& regions = correction.labels.labels;
  const std::vector<std::int32_t>& marks = correction.marks.labels;
  if (marks.size() != regions.values.size() || correction.marks.width != regions.width ||
      grown.values.size() != marks.size()) {
    throw InputError(fmt::format(
        "the labels that are corrected have {} x {} pixels, the marks {} x {}, the image {} x {}: "
        "all must be of one size",
        regions.width, regions.height, correction.marks.width, correction.marks.height, grown.width,
        grown.height));
  }
  const std::vector<std::int64_t>& own = correction.labels.numbers;
  if (!own.empty() && own.back() > std::numeric_limits<std::int32_t>::max()) {
    throw InputError(
        fmt::format("the labels that are corrected go up to {}: number them anew", own.back()));
  }
  std::vector<std::set<std::int32_t>> touching(static_cast<std::size_t>(regions.count) + 1);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] != 0) touching[static_cast<std::size_t>(regions.values[i])].insert(marks[i]);
  }
  std::map<std::int32_t, std::set<std::int64_t>> joined;  // By the number of marks.
  for (std::size_t region = 1; region < touching.size(); ++region) {
    const std::set<std::int32_t>& by = touching[region];
    if (by.size() == 1) joined[*by.begin()].insert(own[region - 1]);
    if (by.size() < 2) continue;
    notes.push_back(
        fmt::format("Region {} is divided among the marks {}.", own[region - 1], listed(by)));
  }
  for (const auto& [mark, several] : joined) {
    if (several.size() < 2) continue;
    notes.push_back(fmt::format("Marks of {} join the regions {}.", mark, listed(several)));
  }
  std::vector<std::int32_t> numbers(marks.size(), 0);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const auto region = static_cast<std::size_t>(regions.values[i]);
    if (region == 0 || marks[i] != 0) {
      numbers[i] = marks[i];
    } else if (touching[region].empty()) {
      numbers[i] = static_cast<std::int32_t>(own[region - 1]);
    } else if (touching[region].size() == 1) {
      numbers[i] = *touching[region].begin();
    } else if (touching[region].contains(grown.values[i])) {
      numbers[i] = grown.values[i];
    }
  }
  spread(regions, numbers);
  return pieces_of(regions, numbers);
}

LabelImage read_label_image(const std::string& path, const ImageParameters& parameters,
                            const LabelPart& part) {
  const std::vector<std::uint8_t> file = read_file(path);
  return naming(path, [&] {
    const bool is_xml = begins_as_xml(file);
    if (is_xml || begins_as_json(file)) {
      if (parameters.untrusted) {
        throw InputError(
            fmt::format("{} is not read with --untrusted", is_xml ? "CVAT XML" : "COCO JSON"));
      }
      return (is_xml ? cvat_labels : coco_labels)(file, part.image, parameters.max_pixels);
    }
    if (part.colours) {
      const DecodeTask task{DecodeTask::kNumbers, {part.page, {}}};
      return coloured_labels(decode_file(path, file, parameters.max_pixels, task, parameters));
    }
    const Raster raster = decode_raster(file, parameters, path, part.page);
    return numbered(raster.width, raster.height,
                    whole_numbers(raster, 0, kMostWhole - 1,
                                  "the number of a region, 1 to 2^53 - 1, or 0 for background"));
  });
}

}  // namespace diacut
