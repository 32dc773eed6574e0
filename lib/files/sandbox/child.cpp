#include "sandbox/child.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>

#include "sandbox/sockets.hpp"

namespace diacut {
namespace {

/// The descriptors that a child has beside the standard ones, which lead nowhere.
enum ChildDescriptor : int { kSocket = 3, kInput = 4, kOutput = 5, kFirstClosed = 6 };

/// Closes all descriptors but `kept`, which become 3, 4 and so on.
void keep_descriptors(std::span<const int> kept) {
  constexpr int kApart = 64;  // Behind all that are kept, so that none is overwritten.
  std::array<int, 3> apart = {};
  for (std::size_t k = 0; k < kept.size(); ++k) apart[k] = ::fcntl(kept[k], F_DUPFD, kApart);
  for (std::size_t k = 0; k < kept.size(); ++k) ::dup2(apart[k], kSocket + static_cast<int>(k));
  ::close_range(static_cast<unsigned>(kSocket) + static_cast<unsigned>(kept.size()), ~0U, 0);
}

/// The address space that this process has, bytes.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  std::array<char, 64> text = {};
  if (file >= 0 && ::read(file, text.data(), text.size() - 1) > 0)
    pages = std::strtoull(text.data(), nullptr, 10);
  ::close(file);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool limit(__rlimit_resource resource, std::uint64_t value) {
  const rlimit both = {value, value};
  return ::setrlimit(resource, &both) == 0;
}

bool set_limits(const SandboxLimits& limits) {
  return limit(RLIMIT_AS, address_space() + limits.memory_bytes) &&
         limit(RLIMIT_FSIZE, limits.memory_bytes) && limit(RLIMIT_CORE, 0) &&
         limit(RLIMIT_NOFILE, kFirstClosed);
}

[[noreturn]] void be_child(Sandbox::Work work, const Received& order) {
  const std::array kept = {order.descriptors[0].get(), order.descriptors[1].get(),
                           order.descriptors[2].get()};
  keep_descriptors(kept);
  SandboxLimits limits;
  std::memcpy(&limits, order.message.data(), sizeof limits);
  SandboxChannel channel({order.message.begin() + sizeof limits, order.message.end()}, kSocket,
                         kInput, kOutput);
  // Threads would each reserve address space for small allocations.
  ::mallopt(M_ARENA_MAX, 1);
  if (!set_limits(limits) || !enter_sandbox()) ::_exit(SandboxEnd::kNoSandbox);
  try {
    work(channel);
  } catch (const std::bad_alloc&) {
    ::_exit(SandboxEnd::kNoMemory);
  } catch (...) {
    ::_exit(SandboxEnd::kSignal);
  }
  ::_exit(SandboxEnd::kDone);
}

/// Waits for the end of a child, and ends it where its time is over or the other end of `control`
/// says so or is closed. Returns whether its time was over.
bool wait_for_child(int child, int control, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::array<pollfd, 2> events = {pollfd{child, POLLIN, 0}, pollfd{control, POLLIN, 0}};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    const int count =
        ::poll(events.data(), events.size(), static_cast<int>(std::max<long>(left.count(), 0)));
    if (count < 0 && errno == EINTR) continue;
    if (events[0].revents != 0) return false;
    if (events[1].revents != 0) receive_message(control, 1);
    ::syscall(SYS_pidfd_send_signal, child, SIGKILL, nullptr, 0);
    return count == 0;
  }
}

SandboxEnd end_of(int status, bool over) {
  if (over) return {SandboxEnd::kTimeOut, 0};
  if (WIFSIGNALED(status)) return {SandboxEnd::kSignal, WTERMSIG(status)};
  const int code = WEXITSTATUS(status);
  return {code <= SandboxEnd::kNoSandbox ? SandboxEnd::How{code} : SandboxEnd::kSignal, 0};
}

SandboxEnd run_child(Sandbox::Work work, const Received& order, int control) {
  const pid_t child = ::fork();
  if (child == 0) be_child(work, order);
  if (child < 0) return {SandboxEnd::kNoSandbox, 0};
  SandboxLimits limits;
  std::memcpy(&limits, order.message.data(), sizeof limits);
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  bool over = false;
  if (handle.get() >= 0) {
    over = wait_for_child(handle.get(), control, limits.seconds);
  } else {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (handle.get() < 0) return {SandboxEnd::kNoSandbox, 0};
  return end_of(status, over);
}

/// OpenMP's threads, which decoders may use, do not outlive a fork: a child that waits for those of
/// its parent waits for ever. One thread needs no others.
void use_one_thread() {
  void* found = ::dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  if (found != nullptr) reinterpret_cast<void (*)(int)>(found)(1);
}

/// Overwrites the environment, which may hold passwords.
void forget_environment() {
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    std::memset(*each, 0, std::strlen(*each));
  }
  ::clearenv();
}

}  // namespace

void SandboxChannel::send(std::span<const std::uint8_t> message) const {
  if (::write(socket_, message.data(), message.size()) < 0) ::_exit(SandboxEnd::kSignal);
}

Message SandboxChannel::ask(std::span<const std::uint8_t> message) const {
  send(message);
  Message answer(kMostMessage);
  const ssize_t got = ::read(socket_, answer.data(), answer.size());
  if (got <= 0) ::_exit(SandboxEnd::kSignal);  // The parent does not want the rest.
  answer.resize(static_cast<std::size_t>(got));
  return answer;
}

void serve_sandboxes(Sandbox::Work work, int control) {
  // An interrupt is the program's matter, which then closes the socket.
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(each, SIG_IGN);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int standard : {0, 1, 2}) ::dup2(nowhere, standard);
  keep_descriptors(std::array{control});
  forget_environment();
  use_one_thread();
  for (;;) {
    const Received order = receive_message(kSocket, SandboxChannel::kMostMessage);
    if (order.message.empty()) ::_exit(0);
    // A late word to end a child that has ended.
    if (order.descriptors.size() != 3 || order.message.size() < sizeof(SandboxLimits)) continue;
    const SandboxEnd end = run_child(work, order, kSocket);
    send_message(kSocket, {reinterpret_cast<const std::uint8_t*>(&end), sizeof end});
  }
}

}  // namespace diacut
