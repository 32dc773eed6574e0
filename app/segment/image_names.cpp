#include "image_names.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "diacut/errors.hpp"

namespace diacut::app {

std::string_view without_extension(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t file = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot <= file || name.substr(file) == "..") return name;
  return name.substr(0, dot);
}

void strip_extensions(std::vector<std::string_view>& names) {
  std::unordered_map<std::string_view, std::size_t> count;
  for (const std::string_view name : names) ++count[without_extension(name)];
  for (std::string_view& name : names) {
    if (count[without_extension(name)] == 1) name = without_extension(name);
  }
}

void check_equal_names(const std::vector<std::string_view>& names, const ShownImage& shown) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [first, is_new] = places.emplace(names[i], i);
    if (is_new) continue;
    throw ConfigError(fmt::format(
        "'{}' and '{}' would both give results called '{}'; segment them in separate runs, or keep "
        "the folders of a list apart (--base)",
        shown(first->second), shown(i), names[i]));
  }
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
