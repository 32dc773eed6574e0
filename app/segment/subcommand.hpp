#pragma once

#include <string>
#include <vector>

#include "command_description.hpp"
#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// Runs the subcommand called `name`. argv[0] is its name too. Throws what main() tells.
using RunSubcommand = ExitCode(const std::string& name, int argc, const char* const* argv,
                               Console& console, const CancelToken& cancel);
/// Its options for manual pages and completions.
using DescribeSubcommand = CommandDescription(const std::string& name);

/// "recut", another cut of a hierarchy that a run has saved, and "annotate", whose regions a label
/// image has. They open no device.
RunSubcommand run_recut;
DescribeSubcommand describe_recut;

/// "graph": eigenvectors and clusters of a graph.
RunSubcommand run_graph;
DescribeSubcommand describe_graph;

/// "tile", "join" and "paint": the parts of a run in tiles.
RunSubcommand run_tile_command;
DescribeSubcommand describe_tile_command;

/// "doctor" holds each device to known answers, and tells of the computer what matters. Returns
/// kDevice where a device gives a wrong answer.
RunSubcommand run_doctor;
DescribeSubcommand describe_doctor;

/// A word for what a subcommand works on, as "graph", "graphs", and what can be named in place of
/// several.
struct InputWords {
  std::string one;
  std::string many;
  std::string instead;
};

/// The input of a subcommand that works on one at a time. Throws ConfigError where there is none,
/// or more than one.
std::string only_input(const std::string& program, const std::vector<std::string>& inputs,
                       const InputWords& words);

}  // namespace diacut::app
