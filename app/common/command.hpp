#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "command_line.hpp"
#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// A program or a subcommand of it: its command line, which the constructor of a derived class
/// declares, and what it does.
class Command {
 public:
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  /// Reads the arguments, of which the first one is its name. False where there is nothing to run,
  /// as with --help. Throws ConfigError.
  bool parse(int argc, const char* const* argv, Console& console) {
    if (!line_.parse(argc, argv, console)) return false;
    resolve();
    return true;
  }
  /// Does what the arguments ask for, once parse() was true. Throws what Program::fail() prints.
  virtual ExitCode run(Console& console, const CancelToken& cancel) = 0;
  /// Its options for manual pages and completions.
  CommandDescription describe() const { return line_.describe(); }

 protected:
  /// As the constructor of CommandLine.
  Command(const std::string& name, const std::string& description, const std::string& usage,
          const std::string& examples, const std::string& inputs = "Inputs")
      : line_(name, description, usage, inputs, examples) {}

  /// Checks the options and sets what follows from them. Throws ConfigError.
  virtual void resolve() = 0;

  /// The input of a command that works on one at a time. `one`, `many`: a word for what it works
  /// on, as "graph", "graphs"; `instead`: what can be named in place of several. Throws ConfigError
  /// where there is none, or more than one.
  const std::string& only_input(const char* one, const char* many, const char* instead) const {
    if (inputs_.size() == 1) return inputs_.front();
    line_.fail(inputs_.empty()
                   ? fmt::format("no {} given: name a file, or - for standard input", one)
                   : fmt::format("{} {} given: name {}", inputs_.size(), many, instead));
  }

  std::vector<std::string> inputs_;
  CommandLine line_;
};

/// What surrounds the work of a program, from the start of its main() to the end.
class Program {
 public:
  /// Calls guard_standard_streams(). `name`: what its messages begin with.
  explicit Program(const std::string& name);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Prints the exception that is being handled. Returns the exit code, for main().
  int fail();

  Console console;
};

}  // namespace diacut::app
