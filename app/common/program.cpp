#include "program.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <string_view>
#include <typeinfo>

#include "diacut/output.hpp"
#include "diacut/version.hpp"
#include "interrupt.hpp"

namespace diacut::app {

namespace {

/// Ends the program with a message where an exception has nobody to catch it, as while the
/// libraries that it is linked with prepare themselves. It takes no memory.
[[noreturn]] void end_uncaught() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const bool no_memory = type != nullptr && *type == typeid(std::bad_alloc);
  const std::string_view text = no_memory ? "error: not enough main memory to start or to go on\n"
                                          : "error: an unexpected error that nothing caught\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(ExitCode::kInternal));
}

void catch_all(int, char**, char**) { std::set_terminate(end_uncaught); }

/// Called before the libraries are initialised.
__attribute__((section(".preinit_array"), used)) void (*const first)(int, char**,
                                                                     char**) = catch_all;

}  // namespace

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
