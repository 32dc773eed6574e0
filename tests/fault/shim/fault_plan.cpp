#include "fault_plan.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace diacut::fault {

namespace {

std::array<Fault, 8> faults;
std::size_t fault_count = 0;
std::atomic<Kind*> kinds{nullptr};

// By system calls alone: a shim stands before the functions of the C library.
void append_report(const char* line, std::size_t size) {
  const char* const path = std::getenv("DIACUT_FAULT_REPORT");
  if (path == nullptr) return;
  const long descriptor =
      syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return;
  syscall(SYS_write, descriptor, line, size);
  syscall(SYS_close, descriptor);
}

/// The text up to `end` (or the whole, if `end` is not in it), moved behind it.
template <std::size_t kSize>
void take(const char*& text, const char* ends, char (&word)[kSize]) {
  const std::size_t length = std::strcspn(text, ends);
  if (length == 0 || length >= kSize) fail("a fault cannot be read", text);
  std::memcpy(word, text, length);
  word[length] = '\0';
  text += length;
}

void expect(const char*& text, char c) {
  if (*text != c) fail("a fault cannot be read", text);
  ++text;
}

long take_number(const char*& text) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (end == text) fail("a fault has no number", text);
  text = end;
  return number;
}

Fault take_fault(const char*& text) {
  Fault fault;
  take(text, ":,", fault.kind);
  expect(text, ':');
  fault.first = fault.last = take_number(text);
  if (*text == '+') {
    fault.last = LONG_MAX;
    ++text;
  } else if (*text == '*') {
    fault.last = fault.first - 1 + take_number(++text);
  }
  expect(text, ':');
  take(text, "=,", fault.action);
  if (*text == '=') fault.value = take_number(++text);
  return fault;
}

}  // namespace

bool Fault::is(const char* word) const { return std::strcmp(action, word) == 0; }

void read_plan(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return;
  while (*text != '\0') {
    if (fault_count == faults.size()) fail("too many faults", text);
    faults[fault_count++] = take_fault(text);
    if (*text != '\0') expect(text, ',');
  }
}

bool is_active() { return fault_count > 0 || std::getenv("DIACUT_FAULT_REPORT") != nullptr; }

const Fault* Kind::count() {
  const long number = calls_.fetch_add(1) + 1;
  if (!listed_.exchange(true)) {
    next_ = kinds.load();
    while (!kinds.compare_exchange_weak(next_, this)) {
    }
  }
  for (std::size_t k = 0; k < fault_count; ++k) {
    const Fault& fault = faults[k];
    if (number < fault.first || number > fault.last || std::strcmp(fault.kind, name_) != 0)
      continue;
    char line[128];
    const int size =
        std::snprintf(line, sizeof line, "fault %s %ld %s\n", name_, number, fault.action);
    append_report(line, static_cast<std::size_t>(size));
    return &fault;
  }
  return nullptr;
}

void report_calls() {
  for (const Kind* kind = kinds.load(); kind != nullptr; kind = kind->next_) {
    char line[128];
    const int size =
        std::snprintf(line, sizeof line, "calls %s %ld\n", kind->name_, kind->calls_.load());
    append_report(line, static_cast<std::size_t>(size));
  }
}

void hang() {
  for (;;) pause();
}

void kill_process() {
  syscall(SYS_kill, getpid(), SIGKILL);
  hang();
}

void fail(const char* what, const char* which) {
  char line[256];
  const int size = std::snprintf(line, sizeof line, "fault shim: %s: '%s'\n", what, which);
  syscall(SYS_write, STDERR_FILENO, line, static_cast<std::size_t>(size));
  // Not by abort(), which the program has one of its own for.
  std::signal(SIGABRT, SIG_DFL);
  syscall(SYS_kill, getpid(), SIGABRT);
  hang();
}

void* next_function(const char* name) {
  void* const function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) fail("there is no function", name);
  return function;
}

}  // namespace diacut::fault
