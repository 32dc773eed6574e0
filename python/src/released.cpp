#include "released.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace diacut::python {

namespace {

/// How long work may take to stop at the interpreter's end.
constexpr std::chrono::seconds kMostEnding{10};

/// Never destroyed: threads may wait in it when the process ends.
struct Ending {
  std::mutex lock;
  std::condition_variable changed;
  int at_work = 0;  ///< Threads within Released, or about to take the interpreter's lock again.
  bool ends = false;
  std::thread::id ender;  ///< The thread that ends the interpreter may go on.
  pid_t process = getpid();

  bool holds_back() const { return ends && std::this_thread::get_id() != ender; }
};

Ending& ending() {
  static auto* const one = new Ending;
  // In a forked process none of the other threads is there, and the mutex may be locked for ever.
  if (one->process != getpid()) new (one) Ending;
  return *one;
}

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

void end() {
  Ending& state = ending();
  const nb::gil_scoped_release release;
  std::unique_lock guard(state.lock);
  state.ends = true;
  state.ender = std::this_thread::get_id();
  state.changed.wait_for(guard, kMostEnding, [&] { return state.at_work == 0; });
}

}  // namespace

Released::Released() {
  Ending& state = ending();
  release_.emplace();
  std::unique_lock guard(state.lock);
  if (state.holds_back()) {
    guard.unlock();
    sleep_for_ever();
  }
  ++state.at_work;
}

Released::~Released() {
  Ending& state = ending();
  {
    std::unique_lock guard(state.lock);
    if (state.holds_back()) {
      --state.at_work;
      state.changed.notify_all();
      guard.unlock();
      sleep_for_ever();
    }
  }
  release_.reset();  // Takes the interpreter's lock.
  const std::lock_guard guard(state.lock);
  --state.at_work;
  state.changed.notify_all();
}

bool is_ending() {
  Ending& state = ending();
  const std::lock_guard guard(state.lock);
  return state.holds_back();
}

void register_ending() { nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end)); }

}  // namespace diacut::python
