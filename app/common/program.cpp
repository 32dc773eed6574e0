// By itself, so that a program has the functions that are called before its main() and at its end
// only where it has a Program.
#include <cxxabi.h>
#include <tiffio.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <new>
#include <typeinfo>

#include "command.hpp"
#include "interrupt.hpp"

namespace diacut::app {

namespace {

/// Ends the program with a message where an exception has nobody to catch it, as while the
/// libraries that it is linked with prepare themselves. It takes no memory.
[[noreturn]] void end_uncaught() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const bool no_memory = type != nullptr && *type == typeid(std::bad_alloc);
  end_with(no_memory ? "error: not enough main memory to start or to continue\n"
                     : "error: an unexpected error that nothing caught\n",
           ExitCode::kInternal);
}

std::atomic<bool> is_done{false};  ///< Whether the program returns.
pid_t program = 0;                 ///< Children that a library forks may end as they like.

/// Ends the program with a message where a library calls exit(), as some do that get no memory
/// while they prepare themselves. It takes no memory.
void end_early(int /*status*/, void* /*unused*/) {
  if (is_done || getpid() != program) return;
  end_with(
      "error: a library ended the program before its work was done. PoCL does so without /sys, and "
      "without ld (of binutils) where PATH finds it. If it found no space, free "
      "some on the disk of the driver's kernels (PoCL: POCL_CACHE_DIR, else ~/.cache/pocl); if "
      "memory is short, close other programs\n",
      ExitCode::kInternal);
}

void tell_every_end(int, char**, char**) {
  std::set_terminate(end_uncaught);
  program = getpid();
  on_exit(end_early, nullptr);
}

/// Called before the libraries are initialised.
__attribute__((section(".preinit_array"), used)) void (*const first)(int, char**,
                                                                     char**) = tell_every_end;

}  // namespace

Program::Program(const std::string& name) : console(name) {
  guard_standard_streams();
  TIFFSetErrorHandler(nullptr);  // By which GDAL 3.10 prints what it reports as errors too.
}

Program::~Program() { is_done = true; }

int Program::fail() {
  const Failure failure = current_failure();
  console.error(failure.message);
  return static_cast<int>(failure.code);
}

}  // namespace diacut::app
