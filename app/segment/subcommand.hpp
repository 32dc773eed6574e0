#pragma once

#include <string>
#include <vector>

#include "command_description.hpp"
#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"

/// The subcommands of segment: what runs each, and its options for manual pages and completions.
/// `name`: the subcommand's. argv[0] is its name too. What runs throws what main() tells.
namespace diacut::app {

/// "recut", another cut of a hierarchy that a run has saved, and "annotate", whose regions a label
/// image has. They open no device.
ExitCode run_recut(const std::string& name, int argc, const char* const* argv, Console& console,
                   const CancelToken& cancel);
CommandDescription describe_recut(const std::string& name);

/// "graph": eigenvectors and clusters of a graph.
ExitCode run_graph(const std::string& name, int argc, const char* const* argv, Console& console,
                   const CancelToken& cancel);
CommandDescription describe_graph(const std::string& name);

/// "tile", "join" and "paint": the parts of a run in tiles.
ExitCode run_tile_command(const std::string& name, int argc, const char* const* argv,
                          Console& console, const CancelToken& cancel);
CommandDescription describe_tile_command(const std::string& name);

/// "doctor" holds each device to known answers, and tells of the computer what matters. Returns
/// kDevice where a device gives a wrong answer.
ExitCode run_doctor(const std::string& name, int argc, const char* const* argv, Console& console,
                    const CancelToken& cancel);
CommandDescription describe_doctor(const std::string& name);

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
