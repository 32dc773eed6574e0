#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "sandbox/sockets.hpp"

namespace diacut {

using Message = std::vector<std::uint8_t>;

/// What work in a sandbox has: one file to read, one to write, and a few messages.
class SandboxChannel {
 public:
  SandboxChannel(Message request, int socket, int input, int output)
      : request_(std::move(request)), socket_(socket), input_(input), output_(output) {}

  const Message& request() const { return request_; }
  int input() const { return input_; }    ///< A descriptor to read from.
  int output() const { return output_; }  ///< A descriptor of an empty file to write to.

  /// Sends a message of at most kMostMessage bytes.
  void send(std::span<const std::uint8_t> message) const;
  /// Sends a message and waits for the answer to it.
  Message ask(std::span<const std::uint8_t> message) const;

  static constexpr std::size_t kMostMessage = 32'768;

 private:
  Message request_;
  int socket_;
  int input_;
  int output_;
};

struct SandboxLimits {
  std::uint64_t memory_bytes = 0;  ///< Beyond what the process has when the work begins.
  int seconds = 0;                 ///< Of the clock on the wall, and of each processor.
};

/// Runs work that must not be trusted, each time in a new process. Once the work begins, the
/// kernel (seccomp, in Linux) lets the process compute, take memory up to a limit, read and write
/// the descriptors that it was given, start threads, and end. Opening a file fails; anything else,
/// as opening a socket or starting a program, ends it at once. It inherits no other descriptor and
/// no environment.
///
/// The processes are children of a server, a copy of the program from when the sandbox was made:
/// it holds nothing of what the program did later. A program with threads should make its
/// sandboxes before them, because a copy has locks that other threads held at that time.
class Sandbox {
 public:
  /// What is done in the child. What it throws ends the child.
  using Work = void (*)(SandboxChannel& channel);

  /// Starts the server. Throws InputError where the system has no sandboxes.
  explicit Sandbox(Work work);
  /// Starts a program as the server, which calls serve(); any process may do so at any time. It
  /// gets no environment but where libraries are. Throws InputError where it cannot be started.
  explicit Sandbox(const std::string& program);
  /// Ends the server and what it runs.
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// What such a program does. Returns where no Sandbox started it.
  static void serve(Work work);

  /// Gets each message, with what answers it: the bytes that the child's ask() returns. It may
  /// throw; the child is then ended.
  using Answer = std::function<Message(const Message& message)>;

  /// Runs the work and waits for its end. `input`: a descriptor that the work reads from; the
  /// work shares its position. Returns the file that the work wrote. Threads take turns. Throws
  /// InputError where the child ends by a signal or exceeds a limit, and what `answer` throws.
  Descriptor run(const Message& request, int input, const SandboxLimits& limits,
                 const Answer& answer);

 private:
  pid_t server_ = -1;
  Descriptor control_;
  std::mutex mutex_;
};

}  // namespace diacut
