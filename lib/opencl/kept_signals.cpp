#include "opencl/kept_signals.hpp"

#include <array>
#include <csignal>
#include <mutex>

namespace diacut {

namespace {

constexpr int kSignals = 32;

/// What the first of several threads found, for the last of them.
struct Handlers {
  std::mutex lock;
  int users = 0;
  std::array<struct sigaction, kSignals> before;
};

Handlers& handlers() {
  static auto* const one = new Handlers;
  return *one;
}

/// Calls `what` with each signal that has a handler to keep.
template <class What>
void for_kept_signals(const What& what) {
  for (int signal = 1; signal < kSignals; ++signal) {
    if (signal != SIGFPE && signal != SIGKILL && signal != SIGSTOP) what(signal);
  }
}

}  // namespace

KeptSignals::KeptSignals() {
  Handlers& kept = handlers();
  const std::lock_guard guard(kept.lock);
  if (kept.users++ > 0) return;
  for_kept_signals([&](int signal) {
    sigaction(signal, nullptr, &kept.before[static_cast<std::size_t>(signal)]);
  });
}

KeptSignals::~KeptSignals() {
  Handlers& kept = handlers();
  const std::lock_guard guard(kept.lock);
  if (--kept.users > 0) return;
  for_kept_signals([&](int signal) {
    sigaction(signal, &kept.before[static_cast<std::size_t>(signal)], nullptr);
  });
}

}  // namespace diacut
