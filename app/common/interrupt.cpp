#include "interrupt.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "diacut/output.hpp"
#include "exit_code.hpp"

namespace diacut::app {

namespace {

/// Seconds in which interrupted work has to end by itself.
constexpr unsigned kTimeToEnd = 4;

CancelToken interrupted;

extern "C" void end_now(int /*signal*/) {
  remove_temporary_files();
  _exit(static_cast<int>(ExitCode::kInterrupted));
}

extern "C" void on_interrupt(int signal) {
  if (interrupted.cancelled()) end_now(signal);
  interrupted.cancel();
  // Work that never asks, as where a driver hangs, is ended by SIGALRM.
  alarm(kTimeToEnd);
}

}  // namespace

const CancelToken& handle_signals() {
  // Without SA_RESTART, a signal ends a read that waits for a terminal or pipe.
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGALRM, end_now);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return interrupted;
}

void guard_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // open() takes the lowest free number, which is `descriptor`. Standard input is opened for
    // writing and the others for reading, so that using them stays an error.
    if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == -1) return;
  }
}

}  // namespace diacut::app
