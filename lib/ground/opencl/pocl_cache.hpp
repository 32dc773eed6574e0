#pragma once

#include <filesystem>
#include <string>

namespace diacut {

/// The folder in which PoCL stores kernels, by its own rules and the environment.
std::filesystem::path pocl_cache_folder();

/// Whether files can be made in `folder`, and libraries loaded from there, as PoCL does with what
/// it compiled. A folder that does not exist is judged by the nearest one above it, where it would
/// be made.
bool is_usable_cache(std::filesystem::path folder);

/// What keeps PoCL from storing kernels, and what to do; empty where it can.
std::string pocl_cache_fault();

}  // namespace diacut
