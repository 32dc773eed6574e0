#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace diacut::testing {

/// The whole text of a file.
std::string text_of(const std::filesystem::path& path);

/// C++ or OpenCL C source with comments blanked; lines keep their numbers.
std::string without_comments(const std::string& source);
/// With the contents of literals blanked too, except for the file names of includes.
std::string without_comments_and_literals(const std::string& source);

/// The files in `root` and the folders below it whose extension is one of these, sorted.
std::vector<std::filesystem::path> files_with(const std::filesystem::path& root,
                                              const std::vector<std::string>& extensions);

}  // namespace diacut::testing
