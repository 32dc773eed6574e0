#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exit_code.hpp"
#include "options.hpp"
#include "results.hpp"

namespace diacut::app {

/// One image and where its results go.
struct Job {
  std::string input;
  Places results;
  /// A boundary map to read. In a batch, where there is none for the image, its path without
  /// extension.
  std::string edges;
};

/// All the work of a run.
struct Plan {
  bool batch = false;  ///< A folder or several inputs were named.
  /// As a job's, but the folders that the results of all of them go to.
  Job roots;
  std::vector<Job> jobs;
  std::vector<Failure> failures;  ///< Folders that cannot be read.
  std::size_t ignored = 0;        ///< Files and folders within folders that are not images.
};

/// Finds the images and names their results, as the help describes. Reads folders, writes nothing.
/// Throws ConfigError when two results would be one file, or a result an input; InputError when
/// there is no image.
Plan make_plan(const Options& options);

/// Makes the folders that a batch writes to, and sees that every place named on the command line
/// can be written to. Throws InputError, or ConfigError for a format that is not known.
void prepare_results(const Options& options, const Plan& plan);

/// Whether every file of a job is there already.
bool is_done(const Job& job);

/// "standard input" for "-", else the path in quotes.
std::string display_name(const std::string& path);

}  // namespace diacut::app
