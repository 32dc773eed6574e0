#include "program.hpp"

#include <fmt/format.h>

#include "diacut/output.hpp"
#include "diacut/version.hpp"
#include "interrupt.hpp"

namespace diacut::app {

int run_program(const std::string& name, const std::function<ExitCode(Console&)>& work) {
  guard_standard_streams();
  Console console(name);
  try {
    return static_cast<int>(work(console));
  } catch (...) {
    const Failure failure = current_failure();
    console.error(failure.message);
    return static_cast<int>(failure.code);
  }
}

bool begin(const CommonOptions& options, Console& console) {
  if (options.answer) {
    write_file("-", *options.answer);
    return false;
  }
  console.set_verbosity(options.verbosity);
  return true;
}

std::string version_text(const std::string& name) {
  return fmt::format("{} (diacut) {}\n", name, kVersion);
}

}  // namespace diacut::app
