#include <CLI/CLI.hpp>
#include <optional>

#include "command.hpp"
#include "command_description.hpp"
#include "command_line.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/output.hpp"
#include "kernel_cache.hpp"
#include "measure.hpp"

namespace diacut::bench {

namespace {

/// The command line with all subcommands.
struct BenchLine {
  BenchLine() {
    app.set_version_flag("--version", [] { return std::string(); });
    app.require_subcommand(1);
    app.option_defaults()->always_capture_default();
    for (const auto add : {control_command, spmv_command, formats_command, cocktail_command,
                           tune_command, jacobian_command, eigen_command, pairs_command}) {
      add(app);
    }
  }

  CLI::App app{"Measures diacut's kernels, compared with what the device's memory reaches.",
               "diacut-bench"};
};

app::CommandDescription describe_options() {
  return app::describe(
      BenchLine().app,
      {{"image", {.files = true, .extensions = image_extensions()}},
       {"files", {.files = true, .extensions = {".mtx"}}},
       {"photos", {.folders = true}},
       {"--device", {.devices = true}},
       {"--json", {.files = true, .extensions = {".json"}}},
       {"--solvers", {.words = {"multilevel", "lanczos", "plain", "spectra"}, .list = true}}});
}

void run(int argc, char** argv, app::Console& console) {
  if (app::generated(argc, argv, describe_options)) return;
  BenchLine line;
  CLI::App& app = line.app;
  std::optional<app::KernelCache> kernels;
  app.parse_complete_callback([&] { kernels.emplace(console); });
  try {
    app.parse(argc, argv);  // Which runs the subcommand.
  } catch (const CLI::CallForVersion&) {
    write_file("-", app::version_text("diacut-bench"));
    return;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      write_file("-", app.help());
      return;
    }
    const std::string first = argc > 1 ? argv[1] : "-";
    if (app.get_subcommands().empty() && first[0] != '-') {
      throw ConfigError("there is no subcommand '" + first + "' (see diacut-bench --help)");
    }
    throw ConfigError(app::reworded(error) + " (see diacut-bench --help)");
  }
}

}  // namespace

}  // namespace diacut::bench

int main(int argc, char** argv) {
  diacut::app::Program program("diacut-bench");
  try {
    diacut::bench::run(argc, argv, program.console);
    return 0;
  } catch (...) {
    return program.fail();
  }
}
