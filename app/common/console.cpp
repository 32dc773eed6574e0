#include "console.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "text.hpp"

namespace diacut::app {

namespace {

constexpr std::string_view kRed = "\033[1;31m";
constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kReset = "\033[0m";
constexpr std::string_view kEraseLine = "\r\033[K";

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }

/// `text` without the control characters that a file name may hold, line breaks kept.
std::string printable(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(),
      [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
      },
      '?');
  return result;
}

/// At most `columns` characters of `text`; bytes that continue a UTF-8 character don't count.
std::string_view cut_to(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!continues_character(text[end]) && seen++ == columns) break;
  }
  return text.substr(0, end);
}

}  // namespace

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Console::Console(std::string program) : program_(std::move(program)) {
  const std::string kind = environment_variable("TERM").value_or("");
  const bool dumb = kind.empty() || kind == "dumb";
  terminal_ = isatty(STDERR_FILENO) == 1 && !dumb;
  colours_ = terminal_ && environment_variable("NO_COLOR").value_or("").empty();
}

Console::~Console() { clear(); }

void Console::error(std::string_view text) { write_line(program_ + ": error: ", kRed, text); }

void Console::note(std::string_view text) {
  if (verbosity_ != Verbosity::kQuiet) write_line(program_ + ": note: ", kYellow, text);
}

void Console::message(std::string_view text) {
  if (verbosity_ != Verbosity::kQuiet) write_line("", "", text);
}

void Console::detail(std::string_view text) {
  if (verbosity_ == Verbosity::kVerbose) write_line("", "", text);
}

void Console::write_line(const std::string& label, std::string_view colour, std::string_view text) {
  clear();
  const bool coloured = colours_ && !label.empty();
  const std::string time =
      timestamps_ ? fmt::format("{:%Y-%m-%dT%H:%M:%SZ} ", fmt::gmtime(std::time(nullptr))) : "";
  write_all(STDERR_FILENO, fmt::format("{}{}{}{}{}\n", time, coloured ? colour : "", label,
                                       coloured ? kReset : "", printable(text)));
}

void Console::show(std::string_view line) {
  if (!transient()) return;
  const std::string text = printable(line);
  // The last column stays free: some terminals wrap when it is written.
  write_all(STDERR_FILENO, fmt::format("{}{}", kEraseLine, cut_to(text, width() - 1)));
  shown_ = true;
}

void Console::clear() {
  if (shown_) write_all(STDERR_FILENO, kEraseLine);
  shown_ = false;
}

std::size_t Console::width() const {
  constexpr std::size_t kLeast = 20;
  constexpr std::size_t kUsual = 80;
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<std::size_t>(size.ws_col, kLeast);
  }
  const std::size_t width = number_in(environment_variable("COLUMNS").value_or("")).value_or(0);
  return width > 0 ? std::max(width, kLeast) : kUsual;
}

}  // namespace diacut::app
