#include "child.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "console.hpp"
#include "diacut/errors.hpp"
#include "exit_code.hpp"

namespace diacut::app {

namespace {

[[noreturn]] void be_child(const std::function<void(const TakeLine& send)>& work, int descriptor) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // That it fails tells that nobody reads any more.
  const TakeLine send = [&](const std::string& line) { write_all(descriptor, line + '\n'); };
  ExitCode code = ExitCode::kDone;
  try {
    work(send);
  } catch (...) {
    const Failure failure = current_failure();
    code = failure.code;
    send(failure.message);
  }
  // Without what the end of the process would do to things of the parent, as temporary folders.
  _exit(static_cast<int>(code));
}

/// Gives whole lines of `text` away and leaves the rest.
void give_lines(std::string& text, const TakeLine& take) {
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    take(text.substr(begin, end - begin));
    begin = end + 1;
  }
  text.erase(0, begin);
}

ChildEnd wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {-1, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

ChildEnd run_in_child(const std::function<void(const TakeLine& send)>& work, const TakeLine& take,
                      const CancelToken& cancel) {
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) {
    throw InputError(fmt::format("no pipe can be made: {}", std::strerror(errno)));
  }
  const pid_t child = fork();
  if (child < 0) {
    const int reason = errno;
    close(ends[0]);
    close(ends[1]);
    throw InputError(fmt::format("cannot start a child process: {}", std::strerror(reason)));
  }
  if (child == 0) {
    close(ends[0]);
    be_child(work, ends[1]);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> part = {};
  for (;;) {
    const ssize_t count = read(ends[0], part.data(), part.size());
    if (cancel.cancelled()) kill(child, SIGTERM);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
    give_lines(text, take);
  }
  close(ends[0]);
  if (!text.empty()) take(text);
  return wait_for(child);
}

}  // namespace diacut::app
