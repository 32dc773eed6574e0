#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <vector>

#include "commands.hpp"
#include "diacut/errors.hpp"
#include "diacut/version.hpp"

namespace {

enum ExitCode { kDone = 0, kInternal = 1, kUsage = 2, kFile = 3, kDevice = 4 };

int fail(ExitCode code, const char* message) {
  fmt::print(stderr, "diacut-bench: {}\n", message);
  return code;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Measures diacut's kernels against what the device's memory gives."};
  app.set_version_flag("--version", diacut::kVersion);
  app.require_subcommand(1);
  const std::vector<diacut::bench::Command> commands = {
      diacut::bench::control_command(app), diacut::bench::spmv_command(app),
      diacut::bench::formats_command(app), diacut::bench::cocktail_command(app),
      diacut::bench::tune_command(app),    diacut::bench::jacobian_command(app),
      diacut::bench::eigen_command(app),   diacut::bench::cue_command(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  for (const diacut::bench::Command& command : commands) {
    if (command.app->parsed()) command.run();
  }
  return kDone;
} catch (const diacut::ConfigError& error) {
  return fail(kUsage, error.what());
} catch (const diacut::InputError& error) {
  return fail(kFile, error.what());
} catch (const diacut::DeviceError& error) {
  return fail(kDevice, error.what());
} catch (const std::exception& error) {
  return fail(kInternal, error.what());
}
