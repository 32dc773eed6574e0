#include "image_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut::app {

void for_equal(std::size_t count, const std::function<std::string_view(std::size_t)>& text,
               const std::function<void(std::span<const std::size_t>)>& tell) {
  // Most comparisons are of hashes, which need no look at the texts.
  std::vector<std::pair<std::size_t, std::size_t>> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = {std::hash<std::string_view>()(text(i)), i};
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second == b.second) return false;
    const int texts = text(a.second).compare(text(b.second));
    return texts != 0 ? texts < 0 : a.second < b.second;
  });
  std::vector<std::size_t> equal;
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    equal.clear();
    for (; end < count && order[end].first == order[begin].first &&
           (end == begin || text(order[end].second) == text(order[begin].second));
         ++end) {
      equal.push_back(order[end].second);
    }
    if (equal.size() > 1) tell(equal);
  }
}

std::string_view without_extension(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t file = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot <= file || name.substr(file) == "..") return name;
  return name.substr(0, dot);
}

void strip_extensions(std::vector<std::string_view>& names) {
  std::vector<bool> keeps(names.size());
  for_equal(
      names.size(), [&names](std::size_t i) { return without_extension(names[i]); },
      [&keeps](std::span<const std::size_t> equal) {
        for (const std::size_t i : equal) keeps[i] = true;
      });
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!keeps[i]) names[i] = without_extension(names[i]);
  }
}

void check_equal_names(const std::vector<std::string_view>& names, const ShownImage& shown) {
  for_equal(
      names.size(), [&names](std::size_t i) { return names[i]; },
      [&](std::span<const std::size_t> equal) {
        throw ConfigError(fmt::format(
            "'{}' and '{}' would both give results called '{}'; segment them in separate runs, or "
            "keep the folders of a list apart (--base)",
            shown(equal[0]), shown(equal[1]), names[equal[0]]));
      });
}

void check_page_names(const std::vector<std::string_view>& names, const ShownImage& shown) {
  std::unordered_map<std::string_view, std::size_t> places;
  places.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t last = names[i].find_last_not_of("0123456789");
    if (last == std::string_view::npos || last + 1 == names[i].size()) continue;
    if (names[i][last] != '-') continue;
    const auto file = places.find(names[i].substr(0, last));
    if (file == places.end()) continue;
    throw ConfigError(fmt::format(
        "--page all: a page of '{}' may be called '{}', as '{}' is; segment them in separate runs",
        shown(file->second), names[i], shown(i)));
  }
}

}  // namespace diacut::app
