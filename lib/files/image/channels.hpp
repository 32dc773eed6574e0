#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace diacut {

/// Names for `count` channels, no two alike: those given, numbers where there are none, and of
/// those that repeat the later ones with a number behind.
std::vector<std::string> unique_names(std::vector<std::string> given, std::size_t count);

/// The channels in a list of names or numbers from 1, by commas, or in "all", as places in `names`,
/// each once. Names may hold commas. `given`: other names of them, or empty. Throws InputError
/// where there is no such channel.
std::vector<std::size_t> channels_in(const std::string& wanted,
                                     const std::vector<std::string>& names,
                                     const std::vector<std::string>& given = {});

/// A channel's number, from 1, by its name or else its number; 0 where there is none.
int channel_number(const std::string& channel, const std::vector<std::string>& names);

}  // namespace diacut
