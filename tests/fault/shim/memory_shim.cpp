// A shim before the functions that give memory: a machine whose memory is used up. fault_plan.hpp
// says what shims have in common. The plan is the environment variable DIACUT_FAULT_MEMORY:
//
//   LD_PRELOAD=build/release/tests/libdiacut_memory_shim.so
//   DIACUT_FAULT_MEMORY=new:1200:fail segment photo.jpg -o labels.png
//
// The kinds are
//
//   new      operator new, called by the program or a library that it is linked with
//   malloc   malloc() and the like, called by one of these, but not by operator new
//   driver   either, called by a library that was loaded later, as OpenCL drivers are
//
// The one action is "fail": operator new throws std::bad_alloc, and the others return null. Calls
// of the dynamic loader are not counted: glibc ends a process for whose thread-local data it finds
// no memory, and no program can do anything about it.
#include <link.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "fault_plan.hpp"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

#pragma GCC diagnostic ignored "-Wmissing-declarations"

namespace {

using namespace diacut::fault;

constinit Kind kNew("new");
constinit Kind kMalloc("malloc");
constinit Kind kDriver("driver");

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Where the code of the program lies, and of the libraries that it is linked with.
std::array<Range, 1024> own;
std::size_t own_count = 0;
/// Where the code of the dynamic loader lies.
Range loader;

int add_module(dl_phdr_info* module, std::size_t, void*) {
  const bool is_loader = std::strstr(module->dlpi_name, "/ld-linux") != nullptr;
  for (int k = 0; k < module->dlpi_phnum && own_count < own.size(); ++k) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[k];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = module->dlpi_addr + segment.p_vaddr;
    (is_loader ? loader : own[own_count++]) = {begin, begin + segment.p_memsz};
  }
  return 0;
}

bool is_within(const void* caller, const Range& range) {
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return at >= range.begin && at < range.end;
}

bool is_own(const void* caller) {
  for (std::size_t k = 0; k < own_count; ++k) {
    if (is_within(caller, own[k])) return true;
  }
  return false;
}

enum class State { kUnknown, kReading, kOff, kOn };
std::atomic<State> state{State::kUnknown};

/// Whether calls are counted. The first call comes before any constructor, and even before the
/// environment is known.
bool is_on() {
  State now = state.load(std::memory_order_acquire);
  if (now == State::kUnknown && environ != nullptr &&
      state.compare_exchange_strong(now, State::kReading)) {
    read_plan("DIACUT_FAULT_MEMORY");
    dl_iterate_phdr(add_module, nullptr);
    now = is_active() ? State::kOn : State::kOff;
    state.store(now, std::memory_order_release);
  }
  return now == State::kOn;
}

/// Whether a call from this place goes wrong.
bool fails(Kind& kind, const void* caller) {
  if (!is_on() || is_within(caller, loader)) return false;
  const Fault* const fault = (is_own(caller) ? kind : kDriver).count();
  if (fault == nullptr) return false;
  if (!fault->is("fail")) fail("no action of this call", fault->action);
  return true;
}

/// Memory for operator new; null where none is left.
void* take_new(std::size_t size, const void* caller) {
  return fails(kNew, caller) ? nullptr : __libc_malloc(size == 0 ? 1 : size);
}
void* take_new(std::size_t size, std::align_val_t alignment, const void* caller) {
  if (fails(kNew, caller)) return nullptr;
  return __libc_memalign(static_cast<std::size_t>(alignment), size == 0 ? 1 : size);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// `memory()`, or null with errno where the call goes wrong.
template <class Memory>
void* take(const void* caller, const Memory& memory) {
  if (!fails(kMalloc, caller)) return memory();
  errno = ENOMEM;
  return nullptr;
}

__attribute__((destructor)) void end() {
  report_calls();
  state.store(State::kOff);
}

}  // namespace

#define CALLER __builtin_return_address(0)

void* operator new(std::size_t size) { return or_throw(take_new(size, CALLER)); }
void* operator new[](std::size_t size) { return or_throw(take_new(size, CALLER)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return take_new(size, CALLER);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return take_new(size, CALLER);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(take_new(size, alignment, CALLER));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_throw(take_new(size, alignment, CALLER));
}

extern "C" {

void* malloc(std::size_t size) {
  return take(CALLER, [&] { return __libc_malloc(size); });
}
void* calloc(std::size_t count, std::size_t size) {
  return take(CALLER, [&] { return __libc_calloc(count, size); });
}
void* realloc(void* memory, std::size_t size) {
  return take(CALLER, [&] { return __libc_realloc(memory, size); });
}
void* memalign(std::size_t alignment, std::size_t size) {
  return take(CALLER, [&] { return __libc_memalign(alignment, size); });
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return take(CALLER, [&] { return __libc_memalign(alignment, size); });
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  void* const taken = fails(kMalloc, CALLER) ? nullptr : __libc_memalign(alignment, size);
  if (taken == nullptr) return ENOMEM;
  *memory = taken;
  return 0;
}

}  // extern "C"
