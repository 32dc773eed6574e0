#pragma once

#include <string>
#include <vector>

namespace diacut {

/// The channels in a list of names or numbers from 1, by commas, or in "all", as places in `names`.
/// `given`: other names of them, or empty. Throws InputError where there is no such channel.
std::vector<std::size_t> channels_in(const std::string& wanted,
                                     const std::vector<std::string>& names,
                                     const std::vector<std::string>& given = {});

/// A channel's number, from 1, by its name or number; 0 where there is none of `count`.
int channel_number(const std::string& channel, int count,
                   const std::vector<std::string>& names = {});

}  // namespace diacut
