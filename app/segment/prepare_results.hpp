#pragma once

#include <string>

#include "options.hpp"
#include "plan.hpp"

namespace diacut::app {

/// Makes the folders that a batch writes to, and checks that every place named on the command line
/// can be written to. Throws InputError, or ConfigError for a format that is not known.
void prepare_results(const Options& options, const Plan& plan);

/// Throws ConfigError if a result cannot be written to a file of this name.
void check_name(Result result, const std::string& place, const LabelStyle& labels);

/// Throws InputError or ConfigError if `path` cannot be a folder: if it is a file, or if there is
/// nothing there and it is named as an image file is. `option`: the option that names it.
void check_folder_name(const char* option, const std::string& path);

/// Whether every result of a job is there already.
bool is_done(const Job& job);

}  // namespace diacut::app
