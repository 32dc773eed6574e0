#include "diacut/output.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "program.hpp"
#include "run.hpp"

namespace diacut::app {

namespace {

ExitCode run(const Options& options, Console& console, const CancelToken& cancel) {
  switch (options.action) {
    case Action::kHelp:
      write_file("-", options.help);
      return ExitCode::kDone;
    case Action::kVersion:
      print_version("diacut-evaluate");
      return ExitCode::kDone;
    case Action::kEvaluate:
      break;
  }
  return run_evaluation(options, console, cancel);
}

}  // namespace

}  // namespace diacut::app

int main(int argc, char** argv) {
  using namespace diacut::app;
  return run_program("diacut-evaluate", [&](Console& console) {
    const diacut::CancelToken& cancel = handle_signals();
    const Options options = parse_options(argc, argv);
    console.set_verbosity(options.verbosity);
    return run(options, console, cancel);
  });
}
