#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace diacut::bench {

/// The images in a folder, by name. Throws InputError when there are none.
std::vector<std::filesystem::path> photos_in(const std::string& folder);

/// Writes the rows of all photographs as one float .npy of so many columns, and returns how many
/// rows they are. `rows_of` gives those of one photograph, one after the other; it is called on all
/// cores.
std::size_t write_rows(
    const std::vector<std::filesystem::path>& photos, std::size_t columns,
    const std::string& output,
    const std::function<std::vector<float>(const std::filesystem::path&)>& rows_of);

}  // namespace diacut::bench
