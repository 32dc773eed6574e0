#pragma once

#include <string>
#include <vector>

namespace diacut {

/// The channels in a list of names or numbers from 1, by commas, or in "all", as places in `names`.
/// `given`: other names of them, or empty. Throws InputError where there is no such channel.
std::vector<std::size_t> channels_in(const std::string& wanted,
                                     const std::vector<std::string>& names,
                                     const std::vector<std::string>& given = {});

}  // namespace diacut
