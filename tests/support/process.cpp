#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace diacut::testing {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  return {ends[0], ends[1]};
}

Pipe make_terminal(unsigned short width) {
  winsize size = {};
  size.ws_row = 24;
  size.ws_col = width;
  Pipe pipe;
  if (openpty(&pipe.read_end, &pipe.write_end, nullptr, nullptr, &size) != 0) {
    throw std::runtime_error("openpty");
  }
  fcntl(pipe.read_end, F_SETFD, FD_CLOEXEC);
  fcntl(pipe.write_end, F_SETFD, FD_CLOEXEC);
  return pipe;
}

void close_if_open(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

/// Appends what can be read now. Returns false at the end of the stream, where a terminal gives
/// EIO.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 65536> block = {};
  const ssize_t size = read(descriptor, block.data(), block.size());
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  text.append(block.data(), static_cast<std::size_t>(size));
  return size > 0;
}

[[noreturn]] void become(const std::vector<std::string>& command, const Surroundings& around,
                         int in, int out, int err) {
  dup2(in, STDIN_FILENO);
  dup2(err, STDERR_FILENO);
  if (out >= 0) {
    dup2(out, STDOUT_FILENO);
  } else {
    close(STDOUT_FILENO);
  }
  // If the tests run as a shell's background job, some signals are ignored.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) {
    std::signal(signal, SIG_DFL);
  }
  for (const auto& [name, value] : around.environment) {
    if (value) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
  if (around.file_size_limit) {
    const rlimit limit = {*around.file_size_limit, *around.file_size_limit};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!around.folder.empty() && chdir(around.folder.c_str()) != 0) _exit(126);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.data()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const Surroundings& around)
    : around_(around), start_(now()) {
  std::signal(SIGPIPE, SIG_IGN);  // A program may end without reading its input.
  Pipe in = make_pipe();
  Pipe err = around.terminal_width ? make_terminal(*around.terminal_width) : make_pipe();
  Pipe out;
  if (around.out == Out::kFull) {
    out.write_end = open("/dev/full", O_WRONLY | O_CLOEXEC);
  } else if (around.out != Out::kClosed) {
    out = make_pipe();
    if (around.out == Out::kNobodyReads) close_if_open(out.read_end);
  }
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) {
    become(command, around, in.read_end, out.write_end, err.write_end);
  }
  close_if_open(in.read_end);
  close_if_open(out.write_end);
  close_if_open(err.write_end);
  in_ = in.write_end;
  out_ = out.read_end;
  err_ = err.read_end;
  std::string_view rest = around.input;
  while (!rest.empty()) {
    const ssize_t written = ::write(in_, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!around.keep_input_open) close_if_open(in_);
}

Process::~Process() {
  if (!reaped_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close_if_open(in_);
  close_if_open(out_);
  close_if_open(err_);
}

void Process::send(int signal) const { kill(pid_, signal); }

double Process::seconds() const { return now() - start_; }

void Process::read_available(int wait_ms) {
  std::array<pollfd, 2> streams = {pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    return;
  }
  if (poll(streams.data(), streams.size(), wait_ms) <= 0) return;
  if (streams[0].revents != 0 && !read_some(out_, result_.out)) close_if_open(out_);
  if (streams[1].revents != 0 && !read_some(err_, result_.err)) close_if_open(err_);
}

bool Process::finished() {
  if (reaped_) return true;
  int status = 0;
  rusage usage{};
  if (wait4(pid_, &status, WNOHANG, &usage) != pid_) return false;
  reaped_ = true;
  result_.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  result_.seconds = seconds();
  if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  return true;
}

bool Process::wait_until(const std::function<bool()>& condition) {
  while (!condition()) {
    if (finished() || seconds() > around_.limit_seconds) return false;
    read_available(2);
  }
  return !finished();
}

bool Process::has_read_input() const {
  int left = 0;
  return ioctl(in_, FIONREAD, &left) == 0 && left == 0;
}

Result Process::wait() {
  while (!finished()) {
    read_available(5);
    if (seconds() > around_.limit_seconds && !result_.timed_out) {
      result_.timed_out = true;
      send(SIGKILL);
    }
  }
  // Reads what the process wrote last, up to a time limit: a grandchild may hold the stream open.
  for (const double end = now() + 2; (out_ >= 0 || err_ >= 0) && now() < end;) read_available(5);
  return result_;
}

Result run(const std::vector<std::string>& command, const Surroundings& around) {
  return Process(command, around).wait();
}

}  // namespace diacut::testing
