#include "evaluate/mat_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string_view>

#include "core/npy.hpp"
#include "diacut/errors.hpp"
#include "diacut/image.hpp"
#include "image/naming.hpp"

namespace diacut {

namespace {

constexpr std::size_t kHead = 128;
constexpr std::uint64_t kTag = 8;  ///< Bytes of an element's type and length.
constexpr int kMostLevels = 32;    ///< Of cells in cells.

/// Types of elements.
enum Type : std::uint32_t { kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14, kCompressed = 15 };

[[noreturn]] void refuse_damaged() {
  throw InputError("the MATLAB file is damaged or cut off: copy or save it again");
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

/// What MATLAB calls the types of numbers, as NumPy does.
std::string_view number_type(std::uint32_t type) {
  static const std::map<std::uint32_t, std::string_view> names = {
      {1, "i1"}, {2, "u1"}, {3, "i2"}, {4, "u2"},  {5, "i4"},
      {6, "u4"}, {7, "f4"}, {9, "f8"}, {12, "i8"}, {13, "u8"}};
  const auto found = names.find(type);
  if (found == names.end()) refuse_damaged();
  return found->second;
}

/// The bytes of a compressed variable, as many as there are before its end or a fault, and no more
/// than its length can say.
std::vector<std::uint8_t> inflated(Bytes packed) {
  z_stream stream = {};
  stream.next_in = const_cast<Bytef*>(packed.data());  // zlib only reads it.
  stream.avail_in = static_cast<uInt>(packed.size());
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;  // A length has 32 bits.
  std::vector<std::uint8_t> part(std::size_t{1} << 20);
  std::vector<std::uint8_t> bytes;
  for (int result = Z_OK; result == Z_OK && stream.avail_out == 0 && bytes.size() < kMost;) {
    stream.next_out = part.data();
    stream.avail_out = static_cast<uInt>(part.size());
    result = inflate(&stream, Z_SYNC_FLUSH);
    bytes.insert(bytes.end(), part.begin(), part.end() - stream.avail_out);
  }
  return bytes;
}

/// Elements one after another.
class Elements {
 public:
  Elements(Bytes bytes, ByteOrder order) : rest_(bytes), order_(order) {}

  struct Tag {
    std::uint32_t type = 0;
    std::uint64_t size = 0;    ///< Of its data.
    std::uint64_t stored = 0;  ///< Of its data with what fills them up to 8 bytes.
  };

  std::uint64_t left() const { return rest_.size(); }

  /// The next element's tag. A small element has its data within the tag.
  Tag tag() {
    const std::uint32_t first = read_uint(take(4), 0, 4, order_);
    if (first >> 16 > 4) refuse_damaged();
    if (first >> 16 != 0) return checked({first & 0xffff, first >> 16, 4});
    const std::uint64_t size = read_uint(take(4), 0, 4, order_);
    return checked({first, size, first == kCompressed ? size : (size + 7) / 8 * 8});
  }

  /// The data of an element whose tag was read.
  Bytes data(const Tag& tag) { return take(tag.stored).first(static_cast<std::size_t>(tag.size)); }
  /// The data of the next element, which has to be of this type.
  Bytes data(Type type) {
    const Tag found = tag();
    if (found.type != type) refuse_damaged();
    return data(found);
  }
  std::vector<std::uint32_t> words(Type type) {
    const Bytes bytes = data(type);
    std::vector<std::uint32_t> words;
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      words.push_back(read_uint(bytes, at, 4, order_));
    }
    return words;
  }
  /// The numbers of the next element, of which there must be `count`.
  std::vector<double> numbers(std::uint64_t count) {
    const Tag found = tag();
    const std::string_view type = number_type(found.type);
    const auto size = static_cast<std::size_t>(type[1] - '0');
    if (product(count, size) > found.size) refuse_count(count);
    const Bytes bytes = data(found);
    const bool swap = (order_ == ByteOrder::kBig) != (std::endian::native == std::endian::big);
    return numbers_of(bytes, type, static_cast<std::size_t>(count), swap);
  }

  /// The elements of a matrix whose tag was read.
  Elements within(const Tag& tag) {
    if (tag.type != kMatrix) refuse_damaged();
    return {take(tag.stored), order_};
  }

 private:
  Tag checked(const Tag& tag) const {
    // The last element of a variable may lack what fills it up.
    if (tag.size > left()) refuse_damaged();
    return {tag.type, tag.size, std::min(tag.stored, left())};
  }
  Bytes take(std::uint64_t size) {
    if (size > left()) refuse_damaged();
    const Bytes bytes = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(bytes.size());
    return bytes;
  }

  Bytes rest_;
  ByteOrder order_;
};

MatArray read_array(Elements matrix, std::uint64_t most, int level) {
  MatArray array;
  if (matrix.left() == 0) return array;  // An empty one.
  if (level > kMostLevels) refuse_damaged();
  const std::vector<std::uint32_t> flags = matrix.words(kUint32);
  const std::vector<std::uint32_t> sizes = matrix.words(kInt32);
  if (flags.empty() || sizes.size() > kMostLevels) refuse_damaged();
  array.kind = flags.front() & 0xff;
  array.is_complex = (flags.front() & 0x0800) != 0;
  array.sizes.assign(sizes.begin(), sizes.end());
  std::uint64_t count = 1;
  for (const std::uint32_t size : sizes) count = product(count, size);
  const Bytes name = matrix.data(kInt8);
  array.name.assign(name.begin(), name.end());
  if (array.kind == MatArray::kStructure) {
    const std::vector<std::uint32_t> length = matrix.words(kInt32);
    const Bytes names = matrix.data(kInt8);
    if (length.empty() || length.front() == 0 || names.size() % length.front() != 0) {
      refuse_damaged();
    }
    for (auto at = names.begin(); at != names.end(); at += length.front()) {
      array.fields.emplace_back(at, std::find(at, at + length.front(), 0));
    }
    count = product(count, array.fields.size());
  }
  if (array.kind == MatArray::kCell || array.kind == MatArray::kStructure) {
    if (count > matrix.left() / kTag) refuse_count(count);
    for (std::uint64_t k = 0; k < count; ++k) {
      array.parts.push_back(read_array(matrix.within(matrix.tag()), most, level + 1));
    }
  } else if (array.kind >= MatArray::kFirstNumeric && array.kind <= MatArray::kLastNumeric) {
    if (count > most) refuse_count(count);
    if (count > 0) array.values = matrix.numbers(count);
  }
  return array;
}

/// Throws InputError without the name of the file.
Raster to_raster(const MatArray& array, const std::string& name) {
  if (array.sizes.size() != 2 || array.is_complex) {
    throw InputError(fmt::format("'{}' is no matrix of real numbers", name));
  }
  const std::uint64_t height = array.sizes[0];
  const std::uint64_t width = array.sizes[1];
  const auto most = static_cast<std::uint64_t>(ImageParameters().max_pixels);
  if (width == 0 || height == 0 || width > most / height) {
    throw InputError(
        fmt::format("'{}' has {} x {} elements: expected 1 to {}", name, height, width, most));
  }
  if (array.values.size() != width * height) {
    throw InputError(fmt::format("'{}' does not hold numbers (sparse arrays are not read)", name));
  }
  Raster raster;
  raster.width = static_cast<int>(width);
  raster.height = static_cast<int>(height);
  raster.is_integer = array.kind > MatArray::kFirstNumeric + 1;  // Neither double nor single.
  raster.values = in_c_order(array.values, raster.height, raster.width);
  return raster;
}

std::vector<Raster> fields_of(const MatArray& cell, const std::vector<std::string>& fields) {
  if (cell.kind != MatArray::kStructure) throw InputError("is no structure");
  std::vector<Raster> result;
  for (const std::string& field : fields) {
    const auto found = std::find(cell.fields.begin(), cell.fields.end(), field);
    const auto at = static_cast<std::size_t>(found - cell.fields.begin());
    if (at >= cell.parts.size()) throw InputError(fmt::format("has no field '{}'", field));
    result.push_back(to_raster(cell.parts[at], field));
  }
  return result;
}

/// What `use` makes of the first variable of these names in a file. Errors name the file.
template <class Use>
auto with_variable(const std::string& path, const std::vector<std::string>& names, const Use& use) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  return naming(path, [&] {
    const std::vector<MatArray> variables =
        read_mat_variables(bytes, static_cast<std::uint64_t>(ImageParameters().max_pixels));
    for (const std::string& name : names) {
      for (const MatArray& variable : variables) {
        if (variable.name == name) return use(variable);
      }
    }
    throw InputError(fmt::format("holds no variable '{}'", fmt::join(names, "' or '")));
  });
}

}  // namespace

std::vector<MatArray> read_mat_variables(Bytes file, std::uint64_t most) {
  const bool is_little = has_text(file, kHead - 2, "IM");
  if (has_text(file, 0, "MATLAB 7.3") || (!is_little && !has_text(file, kHead - 2, "MI"))) {
    throw InputError("is not a MATLAB file that can be read: expected version 5 (save with -v7)");
  }
  const ByteOrder order = is_little ? ByteOrder::kLittle : ByteOrder::kBig;
  Elements elements(file.subspan(kHead), order);
  std::vector<MatArray> variables;
  do {
    const Elements::Tag tag = elements.tag();
    if (tag.type == kCompressed) {
      const std::vector<std::uint8_t> bytes = inflated(elements.data(tag));
      Elements whole(bytes, order);
      variables.push_back(read_array(whole.within(whole.tag()), most, 0));
    } else {
      variables.push_back(read_array(elements.within(tag), most, 0));
    }
  } while (elements.left() > 0);
  return variables;
}

Raster read_mat_matrix(const std::string& path, const std::vector<std::string>& names) {
  return with_variable(path, names,
                       [](const MatArray& variable) { return to_raster(variable, variable.name); });
}

std::vector<std::vector<Raster>> read_mat_cells(const std::string& path,
                                                const std::string& variable,
                                                const std::vector<std::string>& fields) {
  return with_variable(path, {variable}, [&](const MatArray& array) {
    if (array.kind != MatArray::kCell) {
      throw InputError(fmt::format("'{}' is no cell array", variable));
    }
    if (array.parts.empty()) throw InputError(fmt::format("'{}' is empty", variable));
    std::vector<std::vector<Raster>> result;
    for (const MatArray& cell : array.parts) {
      result.push_back(naming(fmt::format("cell {} of '{}'", result.size() + 1, variable),
                              [&] { return fields_of(cell, fields); }));
    }
    return result;
  });
}

}  // namespace diacut
