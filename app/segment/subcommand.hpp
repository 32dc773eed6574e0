#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// A subcommand of segment: its command line, which the constructor of a derived class declares,
/// and what it does.
class Subcommand {
 public:
  Subcommand(const Subcommand&) = delete;
  Subcommand& operator=(const Subcommand&) = delete;
  virtual ~Subcommand() = default;

  /// Does what the arguments ask for. argv[0] is the subcommand's name. Throws what main() tells.
  ExitCode main(int argc, const char* const* argv, Console& console, const CancelToken& cancel);
  /// Its options for manual pages and completions.
  CommandDescription describe() const { return line_.describe(); }

 protected:
  /// As the constructor of CommandLine.
  Subcommand(const std::string& name, const std::string& description, const std::string& usage,
             const std::string& examples)
      : line_(name, description, usage, "Inputs", examples) {}

  /// Settles what was parsed. Throws ConfigError.
  virtual void settle() = 0;
  virtual ExitCode run(Console& console, const CancelToken& cancel) = 0;

  /// The input of a subcommand that works on one at a time. `one`, `many`: a word for what it works
  /// on, as "graph", "graphs"; `instead`: what can be named in place of several. Throws ConfigError
  /// where there is none, or more than one.
  const std::string& only_input(const char* one, const char* many, const char* instead) const;

  CommonOptions common_;
  std::vector<std::string> inputs_;
  CommandLine line_;
};

/// Makes the subcommand of a name.
using MakeSubcommand = std::unique_ptr<Subcommand>(const std::string& name);

/// "recut", another cut of a hierarchy that a run has saved, and "annotate", whose regions a label
/// image has. They open no device.
MakeSubcommand make_recut;

/// "graph": eigenvectors and clusters of a graph.
MakeSubcommand make_graph;

/// "tile", "join" and "paint": the parts of a run in tiles.
MakeSubcommand make_tile_command;

/// "doctor" holds each device to known answers, and tells of the computer what matters. Returns
/// kDevice where a device gives a wrong answer.
MakeSubcommand make_doctor;

}  // namespace diacut::app
