#include <fmt/format.h>

#include "console.hpp"
#include "diacut/output.hpp"
#include "diacut/version.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "run.hpp"

namespace diacut::app {

namespace {

ExitCode run(const Options& options, Console& console, const CancelToken& cancel) {
  switch (options.action) {
    case Action::kHelp:
      write_file("-", options.help);
      return ExitCode::kDone;
    case Action::kVersion:
      write_file("-", fmt::format("diacut-evaluate (diacut) {}\n", kVersion));
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
  guard_standard_streams();
  const diacut::CancelToken& cancel = handle_signals();
  Console console("diacut-evaluate");
  try {
    const Options options = parse_options(argc, argv);
    console.set_verbosity(options.verbosity);
    return static_cast<int>(run(options, console, cancel));
  } catch (...) {
    const Failure failure = current_failure();
    console.error(failure.message);
    return static_cast<int>(failure.code);
  }
}
