#include "image/channels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"

namespace diacut {

std::vector<std::size_t> channels_in(const std::string& wanted,
                                     const std::vector<std::string>& names,
                                     const std::vector<std::string>& given) {
  std::vector<std::size_t> found(wanted == "all" ? names.size() : 0);
  std::iota(found.begin(), found.end(), std::size_t{0});
  const std::string ended = wanted == "all" ? "" : wanted + ',';  // Which shows an empty last name.
  for (const std::string_view part : split_text(ended, ',')) {
    const std::string name(part);
    int number = channel_number(name, 0, names);
    if (number == 0) number = channel_number(name, static_cast<int>(names.size()), given);
    if (number == 0 || static_cast<std::size_t>(number) > names.size() || name.empty()) {
      throw InputError(fmt::format("it has no channel '{}' to measure: its channels are {}", name,
                                   fmt::join(names, ", ")));
    }
    found.push_back(static_cast<std::size_t>(number) - 1);
  }
  return found;
}

int channel_number(const std::string& channel, int count, const std::vector<std::string>& names) {
  const auto named = std::find(names.begin(), names.end(), channel);
  if (named != names.end()) return static_cast<int>(named - names.begin()) + 1;
  return number_in(channel, 1, count).value_or(0);
}

}  // namespace diacut
