#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/bytes.hpp"
#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "image/naming.hpp"

namespace diacut {
namespace {

static_assert(std::endian::native == std::endian::little);
static_assert(std::is_trivially_copyable_v<Merge> && sizeof(Merge) == 12);

/// Versions: for the whole of a file's first page, or for another part, which the file then names.
constexpr std::uint32_t kWhole = 1;
constexpr std::uint32_t kPart = 2;
/// Bytes of the page's number and of the length of the channel's name.
constexpr std::size_t kPartBytes = 8;

std::uint32_t label_bytes_of(std::uint64_t leaves) { return leaves <= 0xFFFF ? 2 : 4; }

/// What a file begins with. Leaves, merges and a checksum of all follow. Its numbers lie as this
/// machine has them, the lowest byte first.
struct TreeHeader {
  /// A byte above 127 and line ends of two kinds show, as in PNG, whether the file was transferred
  /// as text.
  std::array<std::uint8_t, 8> magic = {0x89, 'D', 'C', 'T', '\r', '\n', 0x1A, '\n'};
  std::uint32_t version = kWhole;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t leaves = 0;
  std::uint32_t merges = 0;
  std::uint32_t label_bytes = 0;
  double threshold = 0;

  std::uint64_t pixels() const { return std::uint64_t{width} * height; }
  std::uint64_t file_bytes() const {
    return sizeof(TreeHeader) + pixels() * label_bytes + merges * std::uint64_t{sizeof(Merge)} +
           sizeof(std::uint32_t);
  }
};
static_assert(sizeof(TreeHeader) == 40);

void append(const void* data, std::size_t size, std::vector<std::uint8_t>& bytes) {
  bytes.resize(bytes.size() + size);
  if (size > 0) std::memcpy(bytes.data() + bytes.size() - size, data, size);
}

std::uint32_t checksum(const std::uint8_t* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, bytes, size));
}

/// The header of a file that begins so. Throws InputError if the bytes are not those of a tree
/// file, or of a version not known.
TreeHeader header_of(const std::vector<std::uint8_t>& head) {
  if (head.empty()) throw InputError("the file is empty, expected a hierarchy (segment --tree)");
  TreeHeader header;
  const TreeHeader own;
  std::memcpy(&header, head.data(), std::min(head.size(), sizeof header));
  if (header.magic != own.magic) throw InputError("not a hierarchy, which segment --tree writes");
  if (head.size() < sizeof header) {
    throw InputError(
        fmt::format("the hierarchy ends after {} bytes: the file is truncated", head.size()));
  }
  if (header.version != kWhole && header.version != kPart) {
    throw InputError(fmt::format(
        "the hierarchy is of version {}, and this program reads versions {} and {}: make it anew "
        "with segment --tree, or use the diacut that made it",
        header.version, kWhole, kPart));
  }
  return header;
}

/// Throws InputError if the sizes do not fit each other and the file's. Returns what follows the
/// merges.
Bytes check_sizes(const TreeHeader& header, Bytes bytes) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (header.width > kMost || header.height > kMost || header.pixels() > kMost ||
      header.leaves > header.pixels() || header.merges > header.leaves ||
      header.label_bytes != label_bytes_of(header.leaves)) {
    throw InputError(fmt::format(
        "the hierarchy is damaged: {} x {} pixels cannot have {} leaves of {} bytes and {} merges",
        header.width, header.height, header.leaves, header.label_bytes, header.merges));
  }
  std::uint64_t expected = header.file_bytes();
  const std::uint64_t merges_end = expected - sizeof(std::uint32_t);
  if (header.version == kPart) {
    expected += kPartBytes;
    if (bytes.size() >= expected) {
      expected += read_uint(bytes, merges_end + 4, 4, ByteOrder::kLittle);
    }
  }
  if (bytes.size() != expected) {
    throw InputError(fmt::format("the hierarchy is {}: {} bytes, expected {}",
                                 bytes.size() < expected ? "truncated" : "damaged", bytes.size(),
                                 expected));
  }
  return bytes.subspan(merges_end);
}

Hierarchy decode(const std::vector<std::uint8_t>& bytes, ImagePart* part) {
  const TreeHeader header = header_of(bytes);
  const Bytes rest = check_sizes(header, bytes);
  const std::size_t summed = bytes.size() - sizeof(std::uint32_t);
  const std::uint8_t* next = bytes.data() + summed;
  const auto take = [&](void* to, std::size_t size) {
    if (size > 0) std::memcpy(to, next, size);
    next += size;
  };
  std::uint32_t sum = 0;
  take(&sum, sizeof sum);
  if (sum != checksum(bytes.data(), summed)) {
    throw InputError("the hierarchy is damaged: its checksum does not match");
  }
  next = bytes.data() + sizeof header;
  Hierarchy hierarchy;
  hierarchy.threshold = header.threshold;
  hierarchy.leaves = {static_cast<int>(header.width), static_cast<int>(header.height),
                      header.leaves, std::vector<std::int32_t>(header.pixels())};
  std::vector<std::int32_t>& leaves = hierarchy.leaves.values;
  if (header.label_bytes == sizeof(std::uint16_t)) {
    std::vector<std::uint16_t> narrow(leaves.size());
    take(narrow.data(), narrow.size() * sizeof(std::uint16_t));
    leaves.assign(narrow.begin(), narrow.end());
  } else {
    take(leaves.data(), leaves.size() * sizeof(std::int32_t));
  }
  hierarchy.merges.resize(header.merges);
  take(hierarchy.merges.data(), hierarchy.merges.size() * sizeof(Merge));
  if (part != nullptr && header.version == kPart) {
    constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
    part->page = static_cast<int>(std::min(read_uint(rest, 0, 4, ByteOrder::kLittle), kMost));
    part->channel.assign(rest.begin() + kPartBytes, rest.end() - sizeof sum);
  }
  check(hierarchy);
  return hierarchy;
}

}  // namespace

std::vector<std::uint8_t> encode_tree(const Hierarchy& hierarchy, const ImagePart& part) {
  const Labels& leaves = hierarchy.leaves;
  TreeHeader header;
  header.width = static_cast<std::uint32_t>(leaves.width);
  header.height = static_cast<std::uint32_t>(leaves.height);
  header.leaves = static_cast<std::uint32_t>(leaves.count);
  header.merges = static_cast<std::uint32_t>(hierarchy.merges.size());
  header.label_bytes = label_bytes_of(header.leaves);
  header.threshold = hierarchy.threshold;
  const bool is_whole = part.page <= 1 && part.channel.empty();
  header.version = is_whole ? kWhole : kPart;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(header.file_bytes());
  append(&header, sizeof header, bytes);
  if (header.label_bytes == sizeof(std::uint16_t)) {
    const std::vector<std::uint16_t> narrow(leaves.values.begin(), leaves.values.end());
    append(narrow.data(), narrow.size() * sizeof(std::uint16_t), bytes);
  } else {
    append(leaves.values.data(), leaves.values.size() * sizeof(std::int32_t), bytes);
  }
  append(hierarchy.merges.data(), hierarchy.merges.size() * sizeof(Merge), bytes);
  if (header.version == kPart) {
    for (const std::size_t number : {static_cast<std::size_t>(part.page), part.channel.size()}) {
      const auto stored = static_cast<std::uint32_t>(number);
      append(&stored, sizeof stored, bytes);
    }
    append(part.channel.data(), part.channel.size(), bytes);
  }
  const std::uint32_t sum = checksum(bytes.data(), bytes.size());
  append(&sum, sizeof sum, bytes);
  return bytes;
}

Hierarchy decode_tree(const std::vector<std::uint8_t>& bytes, const std::string& name,
                      ImagePart* part) {
  return naming(name, [&] { return decode(bytes, part); });
}

Hierarchy read_tree(const std::string& path, ImagePart* part) {
  const std::string name = path == "-" ? "standard input" : path;
  return decode_tree(
      naming(name, [&] { return read_bytes(path, sizeof(TreeHeader), header_of, "a hierarchy"); }),
      name, part);
}

void write_tree(const std::string& path, const Hierarchy& hierarchy, const ImagePart& part) {
  write_file(path, encode_tree(hierarchy, part));
}

}  // namespace diacut
