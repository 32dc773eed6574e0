#pragma once

#include <CLI/CLI.hpp>
#include <functional>

/// One function a subcommand of diacut-bench: adds it, its options and its help to `app`, and
/// returns what runs it once the command line is parsed. What runs throws diacut::Error.
namespace diacut::bench {

struct Command {
  CLI::App* app = nullptr;
  std::function<void()> run;
};

Command control_command(CLI::App& app);
Command cocktail_command(CLI::App& app);
Command cue_command(CLI::App& app);
Command eigen_command(CLI::App& app);
Command formats_command(CLI::App& app);
Command jacobian_command(CLI::App& app);
Command nodes_command(CLI::App& app);
Command pairs_command(CLI::App& app);
Command spmv_command(CLI::App& app);
Command stages_command(CLI::App& app);
Command tune_command(CLI::App& app);

}  // namespace diacut::bench
