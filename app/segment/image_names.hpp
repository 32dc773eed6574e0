#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace diacut::app {

/// A path without its file's extension, as std::filesystem tells it.
std::string_view without_extension(std::string_view name);

/// What messages call the image at a place.
using ShownImage = std::function<std::string(std::size_t)>;

/// Takes the extension off each name, unless several names would be equal without it.
void strip_extensions(std::vector<std::string_view>& names);

/// Throws ConfigError where two images have one name.
void check_equal_names(const std::vector<std::string_view>& names, const ShownImage& shown);

/// Throws ConfigError where a page of one image might have the name of another image.
void check_page_names(const std::vector<std::string_view>& names, const ShownImage& shown);

}  // namespace diacut::app
