#include "interrupt.hpp"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstddef>

#include "diacut/output.hpp"

namespace diacut::app {

namespace {

/// Seconds in which interrupted work has to end by itself.
constexpr unsigned kTimeToEnd = 4;

CancelToken interrupted;
std::atomic<bool> is_time_up{false};

extern "C" void end_now(int /*signal*/) {
  end_with(is_time_up ? "error: the time limit (--time-limit) has been reached\n" : "",
           ExitCode::kInterrupted);
}

extern "C" void on_interrupt(int signal) {
  if (interrupted.cancelled()) end_now(signal);
  interrupted.cancel();
  // Work that never asks, as where a driver hangs, is ended by SIGALRM.
  alarm(kTimeToEnd);
}

extern "C" void on_alarm(int signal) {
  if (interrupted.cancelled()) end_now(signal);
  is_time_up = true;
  interrupted.cancel();
  alarm(kTimeToEnd);
}

/// Where the handler of a crash runs, because the stack may be what failed.
alignas(16) std::array<char, 1 << 16> crash_stack;

extern "C" [[noreturn]] void on_crash(int /*signal*/) {
  // As where a driver's compiler gets no memory, or where a kernel that a driver kept is damaged.
  constexpr std::string_view kText =
      "error: a library or the OpenCL driver failed and ended the program. If it says above that a "
      "program is missing, as ld, install that (binutils has ld) where PATH finds it; PoCL needs "
      "/sys, too. If memory is short, close other programs; if it happens again, empty the folder "
      "in which the driver keeps its "
      "kernels (PoCL: POCL_CACHE_DIR, else ~/.cache/pocl; NVIDIA: ~/.nv/ComputeCache)\n";
  // Several threads of a driver may crash at once: one reports it, and ends all.
  static std::atomic<pid_t> reporter{0};
  pid_t other = 0;
  if (!reporter.compare_exchange_strong(other, gettid())) {
    if (other == gettid()) _exit(static_cast<int>(ExitCode::kInternal));  // It crashed here again.
    for (;;) pause();
  }
  end_with(kText, ExitCode::kInternal);
}

/// Without SIGFPE: PoCL lets kernels divide by zero by a handler of its own.
constexpr std::array kCrashes = {SIGABRT, SIGSEGV, SIGBUS, SIGILL};

}  // namespace

void end_with(std::string_view text, ExitCode code) {
  remove_temporary_files();
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(code));
}

void handle_crashes() {
  stack_t stack = {};
  stack.ss_sp = crash_stack.data();
  stack.ss_size = crash_stack.size();
  struct sigaction action = {};
  action.sa_handler = on_crash;
  action.sa_flags = sigaltstack(&stack, nullptr) == 0 ? SA_ONSTACK : 0;
  sigemptyset(&action.sa_mask);
  static std::array<bool, kCrashes.size()> ours = {};
  for (std::size_t k = 0; k < kCrashes.size(); ++k) {
    struct sigaction before = {};
    sigaction(kCrashes[k], nullptr, &before);
    ours[k] = ours[k] || before.sa_handler == SIG_DFL;
    if (ours[k]) sigaction(kCrashes[k], &action, nullptr);
  }
}

const CancelToken& handle_signals() {
  handle_crashes();
  // Without SA_RESTART, a signal ends a read that waits for a terminal or pipe.
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return interrupted;
}

void limit_time(double seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

bool time_is_up() { return is_time_up; }

void guard_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // open() takes the lowest free number, which is `descriptor`. Standard input is opened for
    // writing and the others for reading, so that using them stays an error.
    if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == -1) return;
  }
}

}  // namespace diacut::app

/// Stands before abort() of the C library: a driver may have taken SIGABRT over when it gets no
/// memory while it loads itself, and libraries that get none before main() abort too.
extern "C" void abort() noexcept { diacut::app::on_crash(SIGABRT); }
