#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace diacut::app {

enum class Verbosity { kQuiet, kNormal, kVerbose };

/// Standard error, where a program writes everything that is not a result. Messages are whole
/// lines; a terminal has one transient line below them, which shows progress. Failed writes are
/// ignored, because there is no other place to report them.
class Console {
 public:
  /// `program` is the name that errors and notes begin with.
  explicit Console(std::string program);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  void set_verbosity(Verbosity verbosity) { verbosity_ = verbosity; }
  Verbosity verbosity() const { return verbosity_; }
  /// Whether messages begin with the time.
  void set_timestamps(bool timestamps) { timestamps_ = timestamps; }

  void error(std::string_view text);    ///< Always shown.
  void note(std::string_view text);     ///< Not with --quiet.
  void message(std::string_view text);  ///< Not with --quiet.
  void detail(std::string_view text);   ///< Only with --verbose.

  /// Whether a transient line may be shown: on a terminal that can overwrite it, not with --quiet.
  bool transient() const { return terminal_ && verbosity_ != Verbosity::kQuiet; }
  /// Replaces the transient line, cut to the width of the terminal.
  void show(std::string_view line);
  void clear();
  /// Columns of the terminal.
  std::size_t width() const;

 private:
  void write_line(const std::string& label, std::string_view colour, std::string_view text);

  std::string program_;
  Verbosity verbosity_ = Verbosity::kNormal;
  bool timestamps_ = false;
  bool terminal_ = false;
  bool colours_ = false;
  bool shown_ = false;
};

/// Writes all of a text; false where that fails, with the reason in errno.
bool write_all(int descriptor, std::string_view text);

}  // namespace diacut::app
