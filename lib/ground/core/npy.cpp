#include "core/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostDimensions = 32;  // NumPy's own limit.

InputError malformed(const std::string& what) {
  return InputError(fmt::format("its .npy header {}: save it again with numpy.save", what));
}

/// Reads the text of a Python dictionary from its beginning to its end.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  /// Skips spaces, and `mark` if it follows. Whether it did.
  bool take(char mark) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != mark) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char mark) {
    if (!take(mark)) throw malformed(fmt::format("lacks a '{}'", mark));
  }
  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }
  bool next_is(char mark) {
    skip_spaces();
    return !rest_.empty() && rest_.front() == mark;
  }

  /// A text in single or double quotes, without escapes.
  std::string_view text() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) throw malformed("has a text without an end");
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return found;
  }
  bool flag() {
    skip_spaces();
    for (const bool value : {true, false}) {
      const std::string_view name = value ? "True" : "False";
      if (!rest_.starts_with(name)) continue;
      rest_.remove_prefix(name.size());
      return value;
    }
    throw malformed("has neither True nor False as 'fortran_order'");
  }
  std::uint64_t number() {
    skip_spaces();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) throw malformed("has a size that is no number");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    take('L');  // Python 2 wrote it behind long integers.
    return value;
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
};

std::vector<std::uint64_t> shape_at(Cursor& cursor) {
  std::vector<std::uint64_t> shape;
  cursor.expect('(');
  while (!cursor.take(')')) {
    if (shape.size() == kMostDimensions) throw malformed("has too many dimensions");
    shape.push_back(cursor.number());
    if (!cursor.next_is(')')) cursor.expect(',');
  }
  return shape;
}

/// An element type of a name: byte order, kind, bytes.
std::string type_at(Cursor& cursor) {
  if (cursor.next_is('[')) {
    throw InputError("its .npy elements are structures: expected plain numbers");
  }
  const std::string_view type = cursor.text();
  constexpr std::size_t kLongest = 16;
  if (type.size() < 3 || type.size() > kLongest ||
      std::string_view("<>=|").find(type.front()) == std::string_view::npos) {
    throw malformed(fmt::format("names the type '{}'{}, which is none", type.substr(0, kLongest),
                                type.size() > kLongest ? "..." : ""));
  }
  return std::string(type);
}

/// Bytes before the header's text: magic, version and length.
std::size_t prefix_of(Bytes file) { return file[kMagic.size()] == 1 ? 10 : kNpyPrefix; }

/// Bytes before the elements. Precondition: the file has kNpyPrefix bytes.
std::size_t npy_header_end(Bytes file) {
  const std::size_t prefix = prefix_of(file);
  const std::size_t length = read_uint(file, 8, prefix - 8, ByteOrder::kLittle);
  if (length > kMostNpyHeader) {
    throw malformed(fmt::format("claims {} bytes, expected at most {}", length, kMostNpyHeader));
  }
  return prefix + length;
}

template <typename T>
double element(const std::uint8_t* at, bool swap) {
  std::array<std::uint8_t, sizeof(T)> bytes;
  std::copy_n(at, sizeof(T), bytes.begin());
  if (swap) std::reverse(bytes.begin(), bytes.end());
  return static_cast<double>(std::bit_cast<T>(bytes));
}

using Element = double (*)(const std::uint8_t*, bool);

Element element_reader(std::string_view type) {
  static const std::map<std::string_view, Element> readers = {
      {"b1", element<std::uint8_t>}, {"u1", element<std::uint8_t>},
      {"i1", element<std::int8_t>},  {"u2", element<std::uint16_t>},
      {"i2", element<std::int16_t>}, {"u4", element<std::uint32_t>},
      {"i4", element<std::int32_t>}, {"u8", element<std::uint64_t>},
      {"i8", element<std::int64_t>}, {"f4", element<float>},
      {"f8", element<double>}};
  const auto reader = readers.find(type);
  if (reader == readers.end()) {
    throw InputError(fmt::format(
        "its .npy elements are of type '{}': expected b1, i1 to i8, u1 to u8, f4 or f8", type));
  }
  return reader->second;
}

}  // namespace

void npy_cut_off() { throw InputError("the .npy file is cut off: copy or save it again"); }

bool is_npy(Bytes file) { return has_text(file, 0, kMagic); }

NpyHeader parse_npy_header(Bytes file) {
  if (file.size() < kNpyPrefix) npy_cut_off();
  const std::size_t end = npy_header_end(file);
  if (file.size() < end) npy_cut_off();
  const std::size_t prefix = prefix_of(file);
  Cursor cursor({reinterpret_cast<const char*>(file.data()) + prefix, end - prefix});

  std::optional<std::string> type;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
  cursor.expect('{');
  while (!cursor.take('}')) {
    const std::string_view key = cursor.text();
    cursor.expect(':');
    if (key == "descr" && !type) {
      type = type_at(cursor);
    } else if (key == "fortran_order" && !fortran_order) {
      fortran_order = cursor.flag();
    } else if (key == "shape" && !shape) {
      shape = shape_at(cursor);
    } else {
      throw malformed("has a key that is unknown or there twice");
    }
    if (!cursor.next_is('}')) cursor.expect(',');
  }
  if (!cursor.at_end()) throw malformed("goes on behind its '}'");
  if (!type) throw malformed("has no 'descr'");
  if (!fortran_order) throw malformed("has no 'fortran_order'");
  if (!shape) throw malformed("has no 'shape'");
  return {std::move(*type), *fortran_order, std::move(*shape), end};
}

std::size_t npy_elements(const NpyHeader& header, std::size_t bytes_each, std::uint64_t available) {
  std::uint64_t most = available / bytes_each;
  std::uint64_t count = 1;
  for (const std::uint64_t size : header.shape) {
    if (size != 0 && count > most / size) npy_cut_off();
    count *= size;
  }
  if (count > most) npy_cut_off();
  return static_cast<std::size_t>(count);
}

std::size_t element_bytes(std::string_view type) {
  element_reader(type);  // Throws where there is none.
  return static_cast<std::size_t>(type[1] - '0');
}

std::vector<double> numbers_of(Bytes bytes, std::string_view type, std::size_t count, bool swap) {
  const Element read = element_reader(type);
  const std::size_t size = element_bytes(type);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = read(bytes.data() + i * size, swap);
  return values;
}

NpyFile open_npy_of(const std::string& path, const char* what) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) throw InputError("there is no such file");
  if (std::filesystem::is_directory(path, unknown)) {
    throw InputError("it is a folder, expected a .npy file");
  }
  NpyFile file;
  file.stream.open(path, std::ios::binary);
  std::vector<std::uint8_t> head(kNpyPrefix);
  const auto read = [&](std::size_t from) {
    file.stream.read(reinterpret_cast<char*>(head.data() + from),
                     static_cast<std::streamsize>(head.size() - from));
    head.resize(from + static_cast<std::size_t>(file.stream.gcount()));
  };
  read(0);
  if (!is_npy(head)) {
    throw InputError(fmt::format("it is no .npy file: save the {} with numpy.save", what));
  }
  const std::size_t known = head.size();
  if (known == kNpyPrefix) {
    head.resize(npy_header_end(head));
    read(known);
  }
  file.header = parse_npy_header(head);
  const bool regular = std::filesystem::is_regular_file(path, unknown);
  const std::uint64_t size = regular ? std::filesystem::file_size(path, unknown) : 0;
  file.available = regular && !unknown ? size - std::min<std::uint64_t>(size, file.header.size)
                                       : std::numeric_limits<std::uint64_t>::max();
  return file;
}

std::string npy_shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace diacut
