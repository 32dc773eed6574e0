#include "diacut/output.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "program.hpp"
#include "run.hpp"

int main(int argc, char** argv) {
  using namespace diacut::app;
  return run_program("diacut-evaluate", [&](Console& console) {
    const diacut::CancelToken& cancel = handle_signals();
    if (const auto text = generated(argc, argv, describe_options)) {
      diacut::write_file("-", *text);
      return ExitCode::kDone;
    }
    const Options options = parse_options(argc, argv);
    return begin(options, console) ? run_evaluation(options, console, cancel) : ExitCode::kDone;
  });
}
