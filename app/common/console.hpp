#pragma once

#include <cstddef>
#include <optional>
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
  explicit Console(std::string program, Verbosity verbosity = Verbosity::kNormal);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  void set_verbosity(Verbosity verbosity);

  void error(std::string_view text);    ///< Always shown.
  void note(std::string_view text);     ///< Not with --quiet.
  void message(std::string_view text);  ///< Not with --quiet.
  void detail(std::string_view text);   ///< Only with --verbose.

  /// Whether a transient line may be shown: on a terminal that can overwrite it, not with --quiet.
  bool transient() const { return transient_; }
  /// Replaces the transient line, cut to the width of the terminal.
  void show(std::string_view line);
  void clear();
  /// Columns of the terminal.
  std::size_t width() const;

 private:
  void write_line(const std::string& label, std::string_view colour, std::string_view text);

  std::string program_;
  Verbosity verbosity_;
  bool terminal_ = false;
  bool colours_ = false;
  bool transient_ = false;
  bool shown_ = false;
};

/// Writes all of a text; false where that fails, with the reason in errno.
bool write_all(int descriptor, std::string_view text);

/// `text` without the control characters that a file name may hold, line breaks kept.
std::string printable(std::string_view text);

/// At most `columns` characters of `text`; bytes that continue a UTF-8 character don't count.
std::string_view cut_to(std::string_view text, std::size_t columns);

/// The options that every program has. A program's own options derive from this struct.
struct CommonOptions {
  /// What to print instead of doing anything: the help or the version, if they were asked for.
  std::optional<std::string> answer;
  Verbosity verbosity = Verbosity::kNormal;
};

}  // namespace diacut::app
