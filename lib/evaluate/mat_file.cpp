#include "evaluate/mat_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <matio.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/image.hpp"

namespace diacut {

namespace {

constexpr std::size_t kHead = 128;
constexpr std::uint64_t kTag = 8;  ///< Bytes of an element's type and length.
constexpr int kMostLevels = 32;    ///< Of cells in cells.

/// Types of elements and classes of arrays (MathWorks, MAT-File Format, version 5).
enum Type : std::uint32_t { kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14, kCompressed = 15 };
enum Class : std::uint32_t { kCell = 1, kStructure = 2, kFirstNumeric = 6, kLastNumeric = 15 };

[[noreturn]] void refuse_early_end() {
  throw InputError("the MATLAB file is damaged or cut off: copy or save it again");
}

/// matio may crash on such a file.
[[noreturn]] void refuse_cut_off() {
  throw InputError("the MATLAB file is cut off: copy or save it again");
}

[[noreturn]] void refuse_count(std::uint64_t count) {
  throw InputError(
      fmt::format("a variable of the MATLAB file announces {} elements, for which the file has no "
                  "room: copy or save it again",
                  count));
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > kMost / b ? kMost : a * b;
}

/// Bytes one after another, of the file itself or of a compressed variable.
class Source {
 public:
  virtual ~Source() = default;
  /// Fills `to`, or only passes over `size` bytes where it is null. Throws InputError at the end.
  virtual void take(std::uint8_t* to, std::uint64_t size) = 0;
};

class Stored : public Source {
 public:
  explicit Stored(Bytes bytes) : rest_(bytes) {}
  void take(std::uint8_t* to, std::uint64_t size) override {
    if (size > rest_.size()) refuse_early_end();
    if (to != nullptr) std::copy_n(rest_.begin(), size, to);
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
  }

 private:
  Bytes rest_;
};

class Inflated : public Source {
 public:
  explicit Inflated(Bytes bytes) {
    stream_.next_in = const_cast<Bytef*>(bytes.data());  // zlib only reads it.
    stream_.avail_in = static_cast<uInt>(bytes.size());
    if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~Inflated() override { inflateEnd(&stream_); }
  Inflated(const Inflated&) = delete;
  Inflated& operator=(const Inflated&) = delete;

  void take(std::uint8_t* to, std::uint64_t size) override {
    while (size > 0) {
      const auto part = static_cast<uInt>(std::min<std::uint64_t>(size, window_.size()));
      stream_.next_out = to != nullptr ? to : window_.data();
      stream_.avail_out = part;
      const int result = inflate(&stream_, Z_SYNC_FLUSH);
      const uInt done = part - stream_.avail_out;
      if (done == 0 || (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)) {
        refuse_early_end();
      }
      if (to != nullptr) to += done;
      size -= done;
    }
  }

 private:
  z_stream stream_ = {};
  std::array<std::uint8_t, 1 << 16> window_;
};

/// Elements one after another within a matrix, whose bytes are `left`.
class Elements {
 public:
  Elements(Source& source, ByteOrder order, std::uint64_t size)
      : source_(source), order_(order), left_(size) {}

  struct Tag {
    std::uint32_t type = 0;
    std::uint64_t size = 0;    ///< Of its data.
    std::uint64_t stored = 0;  ///< Of its data with what fills them up to 8 bytes.
  };

  std::uint64_t left() const { return left_; }

  /// The next element's tag. A small element has its data within the tag.
  Tag tag() {
    std::array<std::uint8_t, 4> word;
    take(word.data(), 4);
    const std::uint32_t first = read_uint(word, 0, 4, order_);
    if (first >> 16 > 4) refuse_early_end();
    if (first >> 16 != 0) return checked({first & 0xffff, first >> 16, 4});
    take(word.data(), 4);
    const std::uint64_t size = read_uint(word, 0, 4, order_);
    return checked({first, size, (size + 7) / 8 * 8});
  }

  /// The next element's tag, which has to be of this type: matio takes another one for what it is
  /// not, and reads on elsewhere.
  Tag tag(Type type) {
    const Tag found = tag();
    if (found.type != type) refuse_early_end();
    return found;
  }

  /// The numbers of 4 bytes of an element whose tag was read.
  std::vector<std::uint32_t> words(const Tag& tag) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(tag.stored));
    take(bytes.data(), tag.stored);
    std::vector<std::uint32_t> words;
    for (std::size_t at = 0; at + 4 <= tag.size; at += 4) {
      words.push_back(read_uint(bytes, at, 4, order_));
    }
    return words;
  }

  void skip(const Tag& tag) { take(nullptr, tag.stored); }

  /// The elements of a matrix among them, whose tag was read.
  Elements within(const Tag& tag) {
    left_ -= tag.stored;
    return {source_, order_, tag.stored};
  }

 private:
  Tag checked(const Tag& tag) const {
    // The last element of a variable may lack what fills it up.
    if (tag.size > left_) refuse_early_end();
    return {tag.type, tag.size, std::min(tag.stored, left_)};
  }
  void take(std::uint8_t* to, std::uint64_t size) {
    if (size > left_) refuse_early_end();
    source_.take(to, size);
    left_ -= size;
  }

  Source& source_;
  ByteOrder order_;
  std::uint64_t left_;
};

std::uint64_t bytes_of(std::uint32_t type) {
  switch (type) {
    case 3:
    case 4:
      return 2;
    case 5:
    case 6:
    case 7:
      return 4;
    case 9:
    case 12:
    case 13:
      return 8;
    default:
      return 1;
  }
}

void check_matrix(Elements matrix, std::uint64_t most, int level);

/// The matrices that a cell array or a structure holds.
void check_parts(Elements& matrix, std::uint64_t count, std::uint64_t most, int level) {
  if (count > matrix.left() / kTag) refuse_count(count);
  for (std::uint64_t k = 0; k < count; ++k) {
    check_matrix(matrix.within(matrix.tag(kMatrix)), most, level + 1);
  }
}

void check_matrix(Elements matrix, std::uint64_t most, int level) {
  if (matrix.left() == 0) return;  // An empty matrix has no elements.
  if (level > kMostLevels) refuse_early_end();
  const std::vector<std::uint32_t> flags = matrix.words(matrix.tag(kUint32));
  const Elements::Tag dims = matrix.tag(kInt32);
  if (flags.empty() || dims.size > 4 * kMostLevels) refuse_early_end();
  std::uint64_t count = 1;
  for (const std::uint32_t size : matrix.words(dims)) count = product(count, size);
  matrix.skip(matrix.tag(kInt8));  // The name.
  const std::uint32_t kind = flags.front() & 0xff;
  if (kind == kCell) {
    check_parts(matrix, count, most, level);
  } else if (kind == kStructure) {
    const std::vector<std::uint32_t> length = matrix.words(matrix.tag(kInt32));
    const Elements::Tag names = matrix.tag(kInt8);
    if (length.empty() || length.front() == 0 || names.size % length.front() != 0) {
      refuse_early_end();
    }
    matrix.skip(names);
    check_parts(matrix, product(count, names.size / length.front()), most, level);
  } else if (kind >= kFirstNumeric && kind <= kLastNumeric && count > 0) {
    if (count > most) refuse_count(count);
    const Elements::Tag data = matrix.tag();
    if (product(count, bytes_of(data.type)) > data.size) refuse_count(count);
    matrix.skip(data);
  }
  matrix.skip({0, matrix.left(), matrix.left()});
}

void check_version_5(Bytes file, ByteOrder order, std::uint64_t most) {
  std::size_t at = kHead;
  do {
    if (file.size() - at < kTag) refuse_cut_off();
    const std::uint32_t type = read_uint(file, at, 4, order);
    const std::uint64_t size = read_uint(file, at + 4, 4, order);
    at += kTag;
    if (size > file.size() - at) refuse_cut_off();
    const Bytes body = file.subspan(at, static_cast<std::size_t>(size));
    at += static_cast<std::size_t>(size);
    if (type == kMatrix) {
      Stored stored(body);
      check_matrix({stored, order, size}, most, 0);
    } else if (type == kCompressed) {
      Inflated inflated(body);
      // A compressed variable is one element, which is no larger than zlib can make its bytes.
      constexpr std::uint64_t kMostFold = 1032;
      Elements whole(inflated, order, size * kMostFold + kTag);
      const Elements::Tag tag = whole.tag();
      if (tag.type == kMatrix) check_matrix(whole.within(tag), most, 0);
    }
  } while (at < file.size());
}

/// Whether 5 numbers of 4 bytes can be the head of a variable of version 4: its type, rows,
/// columns, whether there are imaginary parts, and the length of its name.
bool is_version_4(Bytes file, ByteOrder order) {
  constexpr std::size_t kHead4 = 20;
  if (file.size() < kHead4) return false;
  const std::uint32_t type = read_uint(file, 0, 4, order);
  return type / 1000 == (order == ByteOrder::kLittle ? 0U : 1U) && type % 1000 < 100 &&
         type % 10 <= 2 && read_uint(file, 12, 4, order) <= 1;
}

void check_version_4(Bytes file, ByteOrder order, std::uint64_t most) {
  constexpr std::array<std::uint64_t, 10> kBytes = {8, 4, 4, 2, 2, 1, 8, 8, 8, 8};
  while (is_version_4(file, order)) {
    const std::uint32_t type = read_uint(file, 0, 4, order);
    const std::uint64_t count = product(read_uint(file, 4, 4, order), read_uint(file, 8, 4, order));
    const std::uint64_t parts = 1 + read_uint(file, 12, 4, order);
    const std::uint64_t name = read_uint(file, 16, 4, order);
    file = file.subspan(20);
    if (name > file.size()) refuse_early_end();
    file = file.subspan(static_cast<std::size_t>(name));
    const std::uint64_t bytes = product(count, kBytes[type % 100 / 10] * parts);
    if (count > most || bytes > file.size()) refuse_count(count);
    file = file.subspan(static_cast<std::size_t>(bytes));
  }
  // matio would take what follows for another variable, and its lengths for true.
  if (!file.empty()) refuse_early_end();
}

struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

/// Keeps matio from writing errors to stderr, and from ending the process for some of them.
void be_quiet() {
  static std::once_flag once;
  std::call_once(once, [] { Mat_LogInitFunc("diacut", [](int, auto*) {}); });
}

template <typename T>
void copy_transposed(const matvar_t& variable, Raster& raster) {
  const auto* data = static_cast<const T*>(variable.data);
  const auto width = static_cast<std::size_t>(raster.width);
  const auto height = static_cast<std::size_t>(raster.height);
  raster.values.resize(width * height);
  for (std::size_t x = 0; x < width; ++x) {
    for (std::size_t y = 0; y < height; ++y) {
      raster.values[y * width + x] = static_cast<double>(data[x * height + y]);
    }
  }
}

/// Throws InputError without the name of the file.
Raster to_raster(const matvar_t& variable, const std::string& name) {
  if (variable.rank != 2 || variable.isComplex != 0) {
    throw InputError(fmt::format("'{}' is no matrix of real numbers", name));
  }
  const std::size_t height = variable.dims[0];
  const std::size_t width = variable.dims[1];
  const auto most = static_cast<std::size_t>(ImageParameters().max_pixels);
  if (width == 0 || height == 0 || width > most / height) {
    throw InputError(
        fmt::format("'{}' has {} x {} elements: expected 1 to {}", name, height, width, most));
  }
  Raster raster;
  raster.width = static_cast<int>(width);
  raster.height = static_cast<int>(height);
  raster.is_integer = variable.class_type != MAT_C_DOUBLE && variable.class_type != MAT_C_SINGLE;
  const bool is_numeric =
      variable.class_type >= MAT_C_DOUBLE && variable.class_type <= MAT_C_UINT64;
  if (!is_numeric || variable.data == nullptr ||
      variable.nbytes < width * height * static_cast<std::size_t>(variable.data_size)) {
    throw InputError(fmt::format("'{}' does not hold numbers (sparse arrays are not read)", name));
  }
  static const std::map<int, void (*)(const matvar_t&, Raster&)> copies = {
      {MAT_T_DOUBLE, copy_transposed<double>},      {MAT_T_SINGLE, copy_transposed<float>},
      {MAT_T_INT8, copy_transposed<std::int8_t>},   {MAT_T_UINT8, copy_transposed<std::uint8_t>},
      {MAT_T_INT16, copy_transposed<std::int16_t>}, {MAT_T_UINT16, copy_transposed<std::uint16_t>},
      {MAT_T_INT32, copy_transposed<std::int32_t>}, {MAT_T_UINT32, copy_transposed<std::uint32_t>},
      {MAT_T_INT64, copy_transposed<std::int64_t>}, {MAT_T_UINT64, copy_transposed<std::uint64_t>}};
  const auto copy = copies.find(variable.data_type);
  if (copy == copies.end()) {
    throw InputError(fmt::format("'{}' holds elements of an unknown type", name));
  }
  copy->second(variable, raster);
  return raster;
}

/// The field of a structure, or null. The search of matio itself would crash on a damaged file that
/// lacks names.
const matvar_t* field_named(matvar_t& structure, const std::string& name) {
  char* const* names = Mat_VarGetStructFieldnames(&structure);
  const unsigned count = Mat_VarGetNumberOfFields(&structure);
  if (names == nullptr || structure.nbytes < count * sizeof(matvar_t*)) return nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] != nullptr && name == names[i]) {
      return Mat_VarGetStructFieldByIndex(&structure, i, 0);
    }
  }
  return nullptr;
}

std::vector<Raster> fields_of(matvar_t* cell, const std::vector<std::string>& fields) {
  if (cell == nullptr || cell->class_type != MAT_C_STRUCT || cell->data == nullptr) {
    throw InputError("is no structure");
  }
  std::vector<Raster> result;
  for (const std::string& field : fields) {
    const matvar_t* value = field_named(*cell, field);
    if (value == nullptr) throw InputError(fmt::format("has no field '{}'", field));
    result.push_back(to_raster(*value, field));
  }
  return result;
}

}  // namespace

void check_mat_sizes(Bytes file, std::uint64_t most) {
  if (has_text(file, kHead - 2, "IM")) return check_version_5(file, ByteOrder::kLittle, most);
  if (has_text(file, kHead - 2, "MI")) return check_version_5(file, ByteOrder::kBig, most);
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    if (is_version_4(file, order)) return check_version_4(file, order, most);
  }
  // matio takes any other file for one of version 4.
  if (!has_text(file, 0, "\x89HDF")) {
    throw InputError("is not a MATLAB file that can be read: expected version 5 (save with -v7)");
  }
}

void MatFile::Close::operator()(_mat_t* file) const { Mat_Close(file); }

MatFile::MatFile(const std::string& path) : path_(path) {
  be_quiet();
  const std::vector<std::uint8_t> bytes = read_file(path);
  if (has_text(bytes, 0, "MATLAB 7.3")) {
    throw InputError(fmt::format(
        "{}: is a MATLAB file of version 7.3, expected version 5: save it with -v7", path));
  }
  try {
    check_mat_sizes(bytes, static_cast<std::uint64_t>(ImageParameters().max_pixels));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
  file_.reset(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  if (!file_) {
    throw InputError(fmt::format(
        "{}: is not a MATLAB file that can be read: expected version 5 (save with -v7)", path));
  }
}

Raster MatFile::matrix(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    const Variable variable(Mat_VarRead(file_.get(), name.c_str()));
    if (!variable) continue;
    try {
      return to_raster(*variable, name);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", path_, error.what()));
    }
  }
  throw InputError(
      fmt::format("{}: holds no variable '{}', or is damaged", path_, fmt::join(names, "' or '")));
}

std::vector<std::vector<Raster>> MatFile::cells(const std::string& variable,
                                                const std::vector<std::string>& fields) const {
  const Variable array(Mat_VarRead(file_.get(), variable.c_str()));
  if (!array) {
    throw InputError(fmt::format("{}: holds no variable '{}', or is damaged", path_, variable));
  }
  if (array->class_type != MAT_C_CELL || array->data == nullptr || array->data_size == 0) {
    throw InputError(fmt::format("{}: '{}' is no cell array", path_, variable));
  }
  const std::size_t count = array->nbytes / static_cast<std::size_t>(array->data_size);
  std::vector<std::vector<Raster>> result;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      result.push_back(fields_of(Mat_VarGetCell(array.get(), static_cast<int>(i)), fields));
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("{}: cell {} of '{}': {}", path_, i + 1, variable, error.what()));
    }
  }
  if (result.empty()) throw InputError(fmt::format("{}: '{}' is empty", path_, variable));
  return result;
}

}  // namespace diacut
