#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace diacut::testing {

/// How a finished process ended and what it wrote.
struct Result {
  int exit_code = -1;  ///< -1 if a signal ended it.
  int signal = 0;
  std::string out;
  std::string err;
  bool timed_out = false;
  double seconds = 0;
  std::uint64_t peak_bytes = 0;  ///< The most main memory that the process held at once.
};

/// Where standard output goes.
enum class Out { kCaptured, kClosed, kFull, kNobodyReads };

/// What a program runs in.
struct Surroundings {
  std::string input = {};        ///< Standard input.
  bool keep_input_open = false;  ///< Its end never comes.
  Out out = Out::kCaptured;
  std::map<std::string, std::optional<std::string>> environment = {};  ///< Empty: not set.
  std::optional<unsigned short> terminal_width = {};  ///< Standard error is a terminal this wide.
  std::optional<unsigned long> file_size_limit = {};  ///< Bytes; a write beyond it fails.
  std::string folder = {};                            ///< To run in.
  double limit_seconds = 120;
};

/// A running program. Its output is read by wait().
class Process {
 public:
  Process(const std::vector<std::string>& command, const Surroundings& around);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  void send(int signal) const;
  /// Until `condition` holds; false if the process ended or its time is up before that.
  bool wait_until(const std::function<bool()>& condition);
  Result wait();
  /// Whether all of standard input, kept open, was read.
  bool has_read_input() const;
  /// Standard error as far as wait_until() has read it.
  const std::string& err() const { return result_.err; }

 private:
  void read_available(int wait_ms);
  bool finished();
  double seconds() const;

  Surroundings around_;
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  double start_ = 0;
  bool reaped_ = false;
  Result result_;
};

Result run(const std::vector<std::string>& command, const Surroundings& around = {});

}  // namespace diacut::testing
