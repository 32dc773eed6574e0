#include "sandbox/sandbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "diacut/errors.hpp"
#include "matchers.hpp"

/// What work in a sandbox can do, and that it can do nothing else.
namespace diacut::testing {
namespace {

/// Attacks by their numbers, which a request names.
const std::vector<std::function<void()>>& attacks() {
  static const std::vector<std::function<void()>> all = {
      [] { ::socket(AF_INET, SOCK_STREAM, 0); },
      [] { ::execl("/bin/true", "true", nullptr); },
      [] { static_cast<void>(::fork()); },
      [] { ::kill(::getppid(), SIGTERM); },
      [] { ::unlink("/tmp/diacut-sandbox-test"); },
      [] { ::mkdir("/tmp/diacut-sandbox-test", 0700); },
      [] {
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
               0);
      },
      [] { static_cast<void>(::chdir("/")); },
      [] { static_cast<void>(::setuid(0)); },
  };
  return all;
}

void attack(SandboxChannel& channel) {
  attacks().at(channel.request().at(0))();
  channel.send(Message{'a', 'l', 'i', 'v', 'e'});
}

/// Writes which of some files can be opened.
void open_files(SandboxChannel& channel) {
  std::string opened;
  for (const char* path : {"/etc/passwd", "/proc/self/maps", "/dev/null", "/"}) {
    if (::open(path, O_RDONLY | O_CLOEXEC) >= 0) opened += path;
  }
  if (::open("/tmp/diacut-sandbox-test", O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0) {
    opened += "a new one";
  }
  opened += ".";
  static_cast<void>(::write(channel.output(), opened.data(), opened.size()));
}

/// A file whose one byte is `byte`.
Descriptor file_of(char byte) {
  Descriptor file(::memfd_create("test", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(file.get(), &byte, 1, 0), 1);
  return file;
}

constexpr SandboxLimits kLimits = {std::uint64_t{256} << 20, 30};

Message nothing(const Message& /*asked*/) { return {}; }

/// What is said of the end of the work; "" if it ends well.
std::string end_of(Sandbox& sandbox, const Message& request,
                   const SandboxLimits& limits = kLimits) {
  return message_of<InputError>([&] { sandbox.run(request, file_of('x').get(), limits, nothing); });
}

/// What the work wrote.
std::string written(const Descriptor& output) {
  std::string text(200, ' ');
  const ssize_t size = ::pread(output.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

TEST(Sandbox, OpensNoFile) {
  Sandbox sandbox(open_files);
  EXPECT_EQ(written(sandbox.run({}, file_of('x').get(), kLimits, nothing)), ".");
  EXPECT_NE(::access("/tmp/diacut-sandbox-test", F_OK), 0);
}

TEST(Sandbox, EndsWhatOpensSocketsOrStartsPrograms) {
  Sandbox sandbox(attack);
  for (std::size_t k = 0; k < attacks().size(); ++k) {
    EXPECT_THAT(end_of(sandbox, {static_cast<std::uint8_t>(k)}),
                HasSubstr("tried what the sandbox forbids and was ended"))
        << "attack " << k;
  }
  EXPECT_NE(::access("/tmp/diacut-sandbox-test", F_OK), 0);
}

/// Reads its input, doubles it, asks once, and writes in threads.
void compute(SandboxChannel& channel) {
  char byte = 0;
  if (::pread(channel.input(), &byte, 1, 0) != 1) return;
  const Message answer = channel.ask(Message{7});
  std::string text;
  std::thread([&] { text = {byte, static_cast<char>(answer.at(0))}; }).join();
  static_cast<void>(::write(channel.output(), text.data(), text.size()));
}

TEST(Sandbox, LetsWorkReadAskComputeInThreadsAndWrite) {
  Sandbox sandbox(compute);
  for (const char byte : {'a', 'b'}) {
    const Descriptor output =
        sandbox.run({}, file_of(byte).get(), kLimits, [](const Message& message) {
          EXPECT_EQ(message, (Message{7}));
          return Message{'!'};
        });
    EXPECT_EQ(written(output), std::string({byte, '!'}));
  }
}

TEST(Sandbox, GoesOnAfterAnAnswerThatThrows) {
  Sandbox sandbox(compute);
  const auto refuse = [](const Message&) -> Message { throw ConfigError("not wanted"); };
  EXPECT_THROW(sandbox.run({}, file_of('a').get(), kLimits, refuse), ConfigError);
  const auto agree = [](const Message&) { return Message{'!'}; };
  EXPECT_NO_THROW(sandbox.run({}, file_of('a').get(), kLimits, agree));
}

void spend(SandboxChannel& channel) {
  switch (channel.request().at(0)) {
    case 't':
      for (;;) std::this_thread::yield();
    case 's':
      ::raise(SIGSEGV);  // Forbidden itself.
      return;
    case 'c': {
      volatile int* nowhere = nullptr;
      *nowhere = 1;
      return;
    }
    case 'w': {
      const std::vector<char> block(1 << 20, 'x');
      while (::write(channel.output(), block.data(), block.size()) > 0) {
      }
      return;
    }
    default: {
      std::vector<std::vector<char>> all;
      for (;;) all.emplace_back(std::size_t{16} << 20, 'x');
    }
  }
}

TEST(Sandbox, EndsWhatSpendsTooMuchOrCrashes) {
  struct Case {
    std::uint8_t request;
    std::string told;
    int seconds = kLimits.seconds;
  };
  Sandbox sandbox(spend);
  for (const auto& [request, told, seconds] :
       {Case{'t', "ended after 1 s", 1}, Case{'m', "more memory than 256 MiB"},
        // A file in memory is bounded too.
        Case{'w', "signal " + std::to_string(SIGXFSZ)}, Case{'c', "crashed (signal 11)"},
        Case{'s', "forbids"}}) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(end_of(sandbox, {request}, {kLimits.memory_bytes, seconds}), HasSubstr(told));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  }
}

/// Writes how many of the descriptors 0 to 99 are open, and what the environment holds.
void look_around(SandboxChannel& channel) {
  std::string seen;
  for (int k = 0; k < 100; ++k) {
    char byte = 0;
    const bool is_open = ::pread(k, &byte, 1, 0) >= 0 || errno != EBADF;
    if (is_open) seen += std::to_string(k) + " ";
  }
  const char* secret = std::getenv("DIACUT_TEST_SECRET");
  seen += secret == nullptr ? "none" : secret;
  static_cast<void>(::write(channel.output(), seen.data(), seen.size()));
}

TEST(Sandbox, HasNoOtherDescriptorAndNoEnvironment) {
  ::setenv("DIACUT_TEST_SECRET", "password", 1);
  const Descriptor other(::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  Sandbox sandbox(look_around);
  const Descriptor output = sandbox.run({}, file_of('a').get(), kLimits, nothing);
  // The standard ones lead nowhere; then the socket, the input and the output.
  EXPECT_EQ(written(output), "0 1 2 3 4 5 none");
  ::unsetenv("DIACUT_TEST_SECRET");
}

}  // namespace
}  // namespace diacut::testing
