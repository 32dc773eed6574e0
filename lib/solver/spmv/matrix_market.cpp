#include "spmv/matrix_market.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

constexpr std::string_view kBanner = "%%MatrixMarket";
/// A matrix of so many rows and columns takes little memory.
constexpr std::size_t kFewLines = std::size_t{1} << 20;
/// Rows or columns of larger matrices for each byte of the file.
constexpr std::size_t kLinesOfByte = 64;
constexpr std::size_t kShown = 40;  ///< Characters of a line that a message quotes.

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    if (line.empty()) return words;
    std::size_t length = 0;
    while (length < line.size() && !is_space(line[length])) ++length;
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  CsrMatrix read() {
    read_banner();
    read_size();
    read_coordinates();
    if (next_line(true)) fail(fmt::format("an entry after the last of {}", count_), "the end");
    try {
      return csr_from_entries(rows_, cols_, std::move(entries_));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", name_, error.what()));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw InputError(fmt::format("{}:{}: {}, expected {}", name_, line_number_, found, expected));
  }
  [[noreturn]] void fail_line(const std::string& expected) const {
    if (ended_) fail("the file ends", expected);
    std::string shown(line_.substr(0, kShown));
    for (char& c : shown) {
      if (std::isprint(static_cast<unsigned char>(c)) == 0) c = '?';
    }
    fail(fmt::format("'{}{}'", shown, line_.size() > kShown ? "..." : ""), expected);
  }

  void take_line() {
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    line_ = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++line_number_;
  }

  /// Blank lines, and comments unless they count, are skipped.
  bool next_line(bool comments_are_errors) {
    while (!text_.empty()) {
      take_line();
      if (line_.starts_with('%')) {
        if (comments_are_errors) fail_line("an entry: comments stand before the size line");
        continue;
      }
      if (!std::all_of(line_.begin(), line_.end(), is_space)) return true;
    }
    ended_ = true;
    return false;
  }

  void read_banner() {
    take_line();
    const std::vector<std::string_view> words = words_of(line_);
    if (words.size() != 5 || words[0] != kBanner || lower(words[1]) != "matrix") {
      fail_line("'%%MatrixMarket matrix coordinate real general' or the like");
    }
    const std::string form = lower(words[2]);
    field_ = lower(words[3]);
    symmetry_ = lower(words[4]);
    if (form != "coordinate") {
      fail(fmt::format("the form '{}'", form), "coordinate: an array is no sparse matrix");
    }
    if (field_ == "complex" || symmetry_ == "hermitian") {
      fail("a complex matrix",
           "real, integer or pattern: products here are real; split it in its real and imaginary "
           "part");
    }
    if (field_ != "real" && field_ != "integer" && field_ != "pattern") {
      fail(fmt::format("the field '{}'", field_), "real, integer or pattern");
    }
    if (symmetry_ != "general" && symmetry_ != "symmetric" && symmetry_ != "skew-symmetric") {
      fail(fmt::format("the symmetry '{}'", symmetry_), "general, symmetric or skew-symmetric");
    }
    if (symmetry_ == "skew-symmetric" && field_ == "pattern") {
      fail("a skew-symmetric pattern", "general or symmetric: a pattern has no signs");
    }
  }

  std::size_t number(std::string_view word, std::size_t least, std::size_t most,
                     const char* what) const {
    std::size_t value = 0;
    const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || stop != word.data() + word.size() || value < least || value > most) {
      fail(fmt::format("{} '{}'", what, word.substr(0, kShown)),
           fmt::format("a whole number from {} to {}", least, most));
    }
    return value;
  }

  double value(std::string_view word) const {
    std::string_view digits = word;
    if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
    const char* end = digits.data() + digits.size();
    double result = 0.0;
    if (field_ == "integer") {
      long long integer = 0;
      const auto [stop, code] = std::from_chars(digits.data(), end, integer);
      if (code != std::errc() || stop != end) fail_line("an integer value");
      result = static_cast<double>(integer);
    } else {
      const auto [stop, code] = std::from_chars(digits.data(), end, result);
      // Too small for a double is zero, too large infinite: from_chars reports both alike.
      if (code == std::errc::result_out_of_range && stop == end) {
        result = std::strtod(std::string(digits).c_str(), nullptr);
      } else if (code != std::errc() || stop != end) {
        fail_line("a real value");
      }
    }
    if (!std::isfinite(static_cast<float>(result))) {
      fail(fmt::format("the value '{}'", word.substr(0, kShown)), "a finite number below 3.4e38");
    }
    return result;
  }

  void read_size() {
    const std::string expected = "the size line, 'ROWS COLUMNS ENTRIES'";
    if (!next_line(false)) fail_line(expected);
    const std::vector<std::string_view> words = words_of(line_);
    if (words.size() != 3) fail_line(expected);
    rows_ = number(words[0], 0, kMaxDimension, "the number of rows");
    cols_ = number(words[1], 0, kMaxDimension, "the number of columns");
    if (symmetry_ != "general" && rows_ != cols_) {
      fail(fmt::format("a {} matrix of {} x {}", symmetry_, rows_, cols_), "a square one");
    }
    count_ = number(words[2], 0, std::numeric_limits<std::size_t>::max(), "the number of entries");
    // No memory is taken on the word of a size line alone: an entry needs at least this many
    // characters, the last one's line break aside.
    const std::size_t shortest = field_ == "pattern" ? 4 : 6;
    if (count_ > (text_.size() + 1) / shortest) {
      fail(fmt::format("{} entries announced", count_),
           fmt::format("at most {}, for which the rest of the file has room",
                       (text_.size() + 1) / shortest));
    }
    // Rows and columns without entries are no mistake, but nearly all of them would be so.
    const std::size_t most_lines = std::max(kFewLines, kLinesOfByte * text_.size());
    if (std::max(rows_, cols_) > most_lines) {
      fail(fmt::format("{} x {} elements", rows_, cols_),
           fmt::format("at most {} rows or columns in a file of this length", most_lines));
    }
    const auto memory =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    if (static_cast<double>(rows_) * sizeof(std::uint64_t) > memory / 4) {
      fail(fmt::format("{} rows", rows_), "a matrix that fits this machine's memory");
    }
  }

  void place(std::size_t row, std::size_t column, double entry) {
    entries_.push_back(
        {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column), entry});
    if (symmetry_ == "general" || row == column) return;
    entries_.push_back({static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(row),
                        symmetry_ == "symmetric" ? entry : -entry});
  }

  void read_coordinates() {
    const std::size_t wanted = field_ == "pattern" ? 2 : 3;
    const std::string expected = wanted == 2 ? "'ROW COLUMN'" : "'ROW COLUMN VALUE'";
    entries_.reserve(count_ * (symmetry_ == "general" ? 1 : 2));
    for (std::size_t i = 0; i < count_; ++i) {
      if (!next_line(true)) fail_line(fmt::format("entry {} of {}", i + 1, count_));
      const std::vector<std::string_view> words = words_of(line_);
      if (words.size() != wanted) fail_line(expected);
      if (rows_ == 0 || cols_ == 0) fail("an entry of an empty matrix", "none");
      const std::size_t row = number(words[0], 1, rows_, "the row") - 1;
      const std::size_t column = number(words[1], 1, cols_, "the column") - 1;
      if (symmetry_ == "symmetric" && column > row) {
        fail_line("an entry on or below the diagonal: the file is symmetric");
      }
      if (symmetry_ == "skew-symmetric" && column >= row) {
        fail_line("an entry below the diagonal: the file is skew-symmetric");
      }
      place(row, column, wanted == 2 ? 1.0 : value(words[2]));
    }
  }

  std::string_view text_;
  const std::string& name_;
  std::string_view line_;
  std::size_t line_number_ = 0;
  bool ended_ = false;
  std::string field_;
  std::string symmetry_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t count_ = 0;
  std::vector<MatrixEntry> entries_;
};

}  // namespace

CsrMatrix parse_matrix_market(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

CsrMatrix read_matrix_market(const std::string& path) {
  std::vector<std::uint8_t> bytes;
  try {
    bytes = read_bytes(
        path, kBanner.size(),
        [](const std::vector<std::uint8_t>& head) {
          if (!std::equal(kBanner.begin(), kBanner.end(), head.begin(), head.end())) {
            throw InputError("is no Matrix Market file: it does not begin with %%MatrixMarket");
          }
        },
        "a Matrix Market file");
  } catch (const InputError& error) {
    throw InputError(fmt::format("'{}': {}", path, error.what()));
  }
  return parse_matrix_market({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace diacut
