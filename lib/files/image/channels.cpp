#include "image/channels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"

namespace diacut {

std::vector<std::string> unique_names(std::vector<std::string> given, std::size_t count) {
  given.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    if (given[k].empty()) given[k] = std::to_string(k + 1);
    const auto own = given.begin() + static_cast<std::ptrdiff_t>(k);
    if (std::find(given.begin(), own, *own) == own) continue;
    std::string name;
    for (int n = 2; name.empty() || std::count(given.begin(), given.end(), name) > 0; ++n) {
      name = fmt::format("{}_{}", *own, n);
    }
    *own = name;
  }
  return given;
}

std::vector<std::size_t> channels_in(const std::string& wanted,
                                     const std::vector<std::string>& names,
                                     const std::vector<std::string>& given) {
  std::vector<std::size_t> found(wanted == "all" ? names.size() : 0);
  std::iota(found.begin(), found.end(), std::size_t{0});
  if (wanted == "all") return found;
  for (std::string_view rest = wanted;;) {
    std::size_t length = 0;  // Of the longest name that stands here.
    std::size_t place = names.size();
    for (const std::vector<std::string>& some : {names, given}) {
      for (std::size_t k = 0; k < some.size(); ++k) {
        const std::size_t size = some[k].size();
        const bool stands = rest.starts_with(some[k]) && (size == rest.size() || rest[size] == ',');
        if (!stands || size <= length) continue;
        length = size;
        place = k;
      }
    }
    if (length == 0) {
      length = std::min(rest.find(','), rest.size());
      const auto number = number_in<std::size_t>(rest.substr(0, length), 1, names.size());
      if (!number) {
        throw InputError(fmt::format("it has no channel '{}' to measure: its channels are {}",
                                     rest.substr(0, length), fmt::join(names, ", ")));
      }
      place = *number - 1;
    }
    if (std::find(found.begin(), found.end(), place) == found.end()) found.push_back(place);
    if (length == rest.size()) return found;
    rest.remove_prefix(length + 1);
  }
}

int channel_number(const std::string& channel, const std::vector<std::string>& names) {
  const auto named = std::find(names.begin(), names.end(), channel);
  if (named != names.end()) return static_cast<int>(named - names.begin()) + 1;
  return number_in(channel, 1, static_cast<int>(names.size())).value_or(0);
}

}  // namespace diacut
