#include <CLI/CLI.hpp>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "program.hpp"

namespace diacut::bench {

namespace {

app::ExitCode run(int argc, char** argv) {
  CLI::App app{"Measures diacut's kernels against what the device's memory gives.", "diacut-bench"};
  app.set_version_flag("--version", [] { return std::string(); });
  app.require_subcommand(1);
  const std::vector<Command> commands = {
      control_command(app), spmv_command(app),     formats_command(app), cocktail_command(app),
      tune_command(app),    jacobian_command(app), eigen_command(app),   cue_command(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    write_file("-", app::version_text("diacut-bench"));
    return app::ExitCode::kDone;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      write_file("-", app.help());
      return app::ExitCode::kDone;
    }
    const std::string first = argc > 1 ? argv[1] : "-";
    if (app.get_subcommands().empty() && first[0] != '-') {
      throw ConfigError("there is no subcommand '" + first + "' (see diacut-bench --help)");
    }
    throw ConfigError(app::reworded(error) + " (see diacut-bench --help)");
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) command.run();
  }
  return app::ExitCode::kDone;
}

}  // namespace

}  // namespace diacut::bench

int main(int argc, char** argv) {
  return diacut::app::run_program("diacut-bench", [&](diacut::app::Console& /*console*/) {
    return diacut::bench::run(argc, argv);
  });
}
