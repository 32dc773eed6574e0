#include "sandbox/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "diacut/errors.hpp"
#include "sandbox/child.hpp"

namespace diacut {
namespace {

[[noreturn]] void fail() {
  throw InputError(
      fmt::format("no sandbox can be made: {}", std::generic_category().message(errno)));
}

Descriptor memory_file(const char* name) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC));
  if (file.get() < 0) fail();
  return file;
}

/// The descriptor of the socket in a program that is the server.
constexpr int kProgramSocket = 3;

/// Starts a program with the socket as its only descriptor beside the standard ones.
pid_t start_program(const std::string& program, int socket) {
  // A copy of itself keeps dup2() from doing nothing where the socket is that descriptor already.
  const Descriptor copy(::fcntl(socket, F_DUPFD_CLOEXEC, kProgramSocket + 1));
  if (copy.get() < 0) fail();
  const char* libraries = std::getenv("LD_LIBRARY_PATH");
  std::string variable = fmt::format("LD_LIBRARY_PATH={}", libraries == nullptr ? "" : libraries);
  std::array<char*, 2> environment = {libraries == nullptr ? nullptr : variable.data(), nullptr};
  std::string name = program;
  std::array<char*, 2> arguments = {name.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, copy.get(), kProgramSocket);
  pid_t started = -1;
  const int failed = ::posix_spawn(&started, program.c_str(), &actions, nullptr, arguments.data(),
                                   environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return started;
  throw InputError(fmt::format(
      "no sandbox can be made: its program '{}' cannot be started ({}): install diacut again",
      program, std::generic_category().message(failed)));
}

/// Throws InputError where the child did not end as it should.
void check_end(const SandboxEnd& end, const SandboxLimits& limits) {
  switch (end.how) {
    case SandboxEnd::kDone:
      return;
    case SandboxEnd::kTimeOut:
      throw InputError(fmt::format(
          "decoding was ended after {} s, the limit of image.decoding_seconds", limits.seconds));
    case SandboxEnd::kNoMemory:
      throw InputError(
          fmt::format("decoding needs more memory than {} MiB, the limit of image.decoding_memory",
                      limits.memory_bytes >> 20));
    case SandboxEnd::kNoSandbox:
      throw InputError(
          "the kernel refuses the sandbox (seccomp), so it was not decoded; image.untrusted=false "
          "decodes it without a sandbox");
    case SandboxEnd::kSignal:
      break;
  }
  const bool forbidden = end.number == SIGSYS;
  throw InputError(fmt::format(
      "its decoder {} (signal {}): the file is damaged, or made to attack programs",
      forbidden ? "tried what the sandbox forbids and was ended" : "crashed", end.number));
}

}  // namespace

Sandbox::Sandbox(Work work) {
  auto [mine, its] = socket_pair();
  server_ = ::fork();
  if (server_ < 0) fail();
  if (server_ == 0) serve_sandboxes(work, its.get());
  control_ = std::move(mine);
}

Sandbox::Sandbox(const std::string& program) {
  auto [mine, its] = socket_pair();
  server_ = start_program(program, its.get());
  control_ = std::move(mine);
}

void Sandbox::serve(Work work) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kProgramSocket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      type != SOCK_SEQPACKET) {
    return;
  }
  serve_sandboxes(work, kProgramSocket);
}

Sandbox::~Sandbox() {
  control_.reset();  // On which the server ends.
  while (::waitpid(server_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Descriptor Sandbox::run(const Message& request, int input, const SandboxLimits& limits,
                        const Answer& answer) {
  const std::lock_guard lock(mutex_);
  Descriptor output = memory_file("sandbox");
  std::pair<Descriptor, Descriptor> ends = socket_pair();
  Descriptor& mine = ends.first;
  Message order(sizeof limits);
  std::memcpy(order.data(), &limits, sizeof limits);
  order.insert(order.end(), request.begin(), request.end());
  if (!send_message(control_.get(), order, std::array{ends.second.get(), input, output.get()})) {
    throw InputError("the sandbox's server has ended: run the program again");
  }
  ends.second.reset();
  // The server reports the end; without that another request would get this one's.
  const auto end_of_child = [&] {
    mine.reset();
    SandboxEnd end;
    const Received told = receive_message(control_.get(), sizeof end);
    if (told.message.size() != sizeof end) {
      throw InputError("the sandbox's server has ended: run the program again");
    }
    std::memcpy(&end, told.message.data(), sizeof end);
    return end;
  };
  try {
    for (;;) {
      const Message message = receive_message(mine.get(), SandboxChannel::kMostMessage).message;
      if (message.empty()) break;  // The child has ended.
      const Message reply = answer(message);
      if (!reply.empty() && !send_message(mine.get(), reply)) break;
    }
  } catch (...) {
    const std::uint8_t stop = 0;
    send_message(control_.get(), {&stop, 1});
    end_of_child();
    throw;
  }
  check_end(end_of_child(), limits);
  return output;
}

}  // namespace diacut
