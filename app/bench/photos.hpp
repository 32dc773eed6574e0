#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace diacut::bench {

/// The images in a folder, by name. Throws InputError when there are none.
std::vector<std::filesystem::path> photos_in(const std::string& folder);

}  // namespace diacut::bench
