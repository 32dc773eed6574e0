#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/connected_parts.hpp"
#include "diacut/annotations.hpp"
#include "diacut/errors.hpp"
#include "image/naming.hpp"
#include "image/raster.hpp"

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

LabelImage read_label_image(const std::string& path, const ImageParameters& parameters, int page) {
  const Raster raster = read_raster(path, parameters, page);
  const std::vector<std::int64_t> values = naming(path, [&] {
    return whole_numbers(raster, 0, kMostWhole - 1,
                         "the number of a region, 1 to 2^53 - 1, or 0 for background");
  });
  LabelImage image;
  image.labels.width = raster.width;
  image.labels.height = raster.height;
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

}  // namespace diacut
