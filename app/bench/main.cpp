#include <CLI/CLI.hpp>
#include <vector>

#include "command_description.hpp"
#include "command_line.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "kernel_cache.hpp"
#include "measure.hpp"
#include "parameter_values.hpp"
#include "program.hpp"
#include "spmv/generators.hpp"
#include "spmv/product.hpp"

namespace diacut::bench {

namespace {

/// The command line with all subcommands.
struct BenchLine {
  BenchLine() {
    app.set_version_flag("--version", [] { return std::string(); });
    app.require_subcommand(1);
    commands = {control_command(app),  spmv_command(app),  formats_command(app),
                cocktail_command(app), tune_command(app),  jacobian_command(app),
                eigen_command(app),    pairs_command(app), nodes_command(app),
                stages_command(app)};
  }

  CLI::App app{"Measures diacut's kernels, compared with what the device's memory reaches.",
               "diacut-bench"};
  std::vector<Command> commands;
};

/// The names, and "all" for all of them.
app::Values with_all(std::vector<std::string> names) {
  names.insert(names.begin(), "all");
  return {.words = std::move(names), .list = true};
}

app::CommandDescription describe_options() {
  std::vector<std::string> formats;
  for (const Format format : all_formats()) formats.emplace_back(to_string(format));
  std::vector<std::string> classes;
  for (const MatrixClass& each : matrix_classes()) classes.push_back(each.name);
  std::vector<std::string> kernels = app::parameter_choices("matvec.kernel");
  std::erase(kernels, "auto");
  std::vector<std::string> storages = app::parameter_choices("matvec.storage");
  std::erase(storages, "auto");
  const app::Values json = {.files = true, .extensions = {"json"}};
  return app::describe(
      BenchLine().app,
      {{"image",
        {.files = true, .extensions = {"jpg", "jpeg", "png", "bmp", "webp", "tif", "tiff"}}},
       {"files", {.files = true, .extensions = {"mtx"}}},
       {"photos", {.folders = true}},
       {"--contours", {.folders = true}},
       {"--truth", {.folders = true}},
       {"--classes", with_all(classes)},
       {"--config", {.words = preset_names(), .files = true, .extensions = {"toml"}}},
       {"--device", {.devices = true}},
       {"--formats", with_all(formats)},
       {"--json", json},
       {"--kernel-dir", {.folders = true}},
       {"--kernels", with_all(kernels)},
       {"--output", json},
       {"--profile", json},
       {"--save", {.folders = true}},
       {"--save-matrix", {.folders = true}},
       {"--solvers", {.words = {"multilevel", "lanczos", "plain", "spectra"}, .list = true}},
       {"--storages", {.words = storages, .list = true}},
       {"--weights",
        {.words = app::network_names(),
         .list = true,
         .files = true,
         .extensions = {"safetensors"}}}});
}

app::ExitCode run(int argc, char** argv, app::Console& console) {
  if (const auto text = app::generated(argc, argv, describe_options)) {
    write_file("-", *text);
    return app::ExitCode::kDone;
  }
  BenchLine line;
  CLI::App& app = line.app;
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
  const app::KernelCache kernels(console);
  for (const Command& command : line.commands) {
    if (command.app->parsed()) command.run();
  }
  return app::ExitCode::kDone;
}

}  // namespace

}  // namespace diacut::bench

int main(int argc, char** argv) {
  return diacut::app::run_program("diacut-bench", [&](diacut::app::Console& console) {
    return diacut::bench::run(argc, argv, console);
  });
}
