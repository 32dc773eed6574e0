#pragma once

#include <string>

#include "command_line.hpp"
#include "shard.hpp"

namespace diacut::app {

/// Which images a run of many takes, and which it leaves out.
struct BatchOptions {
  std::string list;   ///< A file of the images' names, "-" for standard input; empty: none.
  bool null = false;  ///< Whether names in the list end with a null byte, not with a line.
  std::string base;   ///< The folder that the results' places are relative to; empty: none.
  std::string share;  ///< As parse_shard() takes it.
  Shard shard;        ///< What `share` says.
  bool skip_existing = false;
};

/// Declares the options that set `options`, except for its shard.
void declare_batch(CommandLine& line, BatchOptions& options);

/// Throws ConfigError where options about a list are given without one, or one without a value.
void check_batch(const CommandLine& line, const BatchOptions& options);

}  // namespace diacut::app
