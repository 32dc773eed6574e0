#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "spmv/product.hpp"

namespace diacut::bench {

/// --formats: the implementations to measure.
void add_formats_option(CLI::App& app, std::vector<std::string>& formats, const char* meaning);
/// The named implementations among those that make sense on the device. Throws ConfigError when
/// there is none.
std::vector<Implementation> chosen_implementations(const std::vector<std::string>& formats,
                                                   const DeviceInfo& device);

}  // namespace diacut::bench
