// What the shims of this folder have in common: which call of which kind goes wrong, and how. A
// shim is a library for LD_PRELOAD whose functions stand before those of the same names in the
// libraries that a program uses. Environment variables say what it does:
//
//   <PLAN>                 faults, separated by commas: KIND:N:ACTION. KIND is the function's name.
//   The
//                          N-th call (from 1) of that kind goes wrong, with "N+" each from the N-th
//                          on, with "N*M" the M calls from the N-th on. ACTION is a word of the
//                          shim, which may be followed by =NUMBER.
//   DIACUT_FAULT_REPORT    a file to which the shim appends a line "fault KIND N ACTION" for each
//                          fault that it makes, and at the end of the process a line
//                          "calls KIND COUNT" for each kind.
//
// A plan that cannot be read ends the process by SIGABRT with a message, so that no test passes by
// it. Nothing here takes memory from the heap.
#pragma once

#include <atomic>
#include <climits>

namespace diacut::fault {

/// One planned fault.
struct Fault {
  char kind[48] = {};
  long first = 0;
  long last = 0;
  char action[16] = {};
  long value = LONG_MIN;  ///< LONG_MIN: none is named.

  bool is(const char* word) const;
  /// The value, or `usual` if none is named.
  long value_or(long usual) const { return value == LONG_MIN ? usual : value; }
};

/// A function that the shim stands before. To be constant-initialised, since calls come before
/// main().
class Kind {
 public:
  explicit constexpr Kind(const char* name) : name_(name) {}
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  const char* name() const { return name_; }
  /// Counts a call. Returns its fault, which is reported, or null.
  const Fault* count();

 private:
  friend void report_calls();

  const char* name_;
  std::atomic<long> calls_{0};
  std::atomic<bool> listed_{false};
  Kind* next_ = nullptr;
};

/// Reads the faults from this environment variable. To be called once, before any count.
void read_plan(const char* variable);
/// Whether a fault is planned, or a report asked for: else a shim need not look at its calls.
bool is_active();
/// Appends the counts to the report.
void report_calls();

/// Never returns.
[[noreturn]] void hang();
/// Ends the process by SIGKILL.
[[noreturn]] void kill_process();
/// Ends the process by SIGABRT with a message.
[[noreturn]] void fail(const char* what, const char* which);

/// The function of this name that the shim stands before.
void* next_function(const char* name);

}  // namespace diacut::fault

/// The function NAME that the shim stands before, looked up once.
#define REAL(NAME)                                                              \
  ([] {                                                                         \
    static const auto function =                                                \
        reinterpret_cast<decltype(&NAME)>(diacut::fault::next_function(#NAME)); \
    return function;                                                            \
  }())
