#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>

#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "image/naming.hpp"

namespace diacut {
namespace {

/// The first bytes of the file. A byte above 127 and line ends of two kinds show, as in PNG,
/// whether the file was transferred as text.
constexpr std::array<std::uint8_t, 8> kMagic = {0x89, 'D', 'C', 'T', '\r', '\n', 0x1A, '\n'};
constexpr std::uint32_t kTreeVersion = 1;
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kHeaderBytes = 40;
constexpr std::size_t kMergeBytes = 12;
constexpr std::size_t kSumBytes = 4;

std::size_t label_bytes(std::uint64_t leaves) { return leaves <= 0xFFFF ? 2 : 4; }

// The numbers of a tree lie as this machine has them, the lowest byte first.
static_assert(std::endian::native == std::endian::little);

template <class Number>
void put(Number number, std::vector<std::uint8_t>& bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(&number);
  bytes.insert(bytes.end(), first, first + sizeof(Number));
}

/// Reads the numbers of a tree. Precondition of get(): the bytes of one more number are left.
class Reader {
 public:
  Reader(const std::vector<std::uint8_t>& bytes, std::size_t at) : at_(bytes.data() + at) {}

  template <class Number>
  Number get() {
    Number number;
    std::memcpy(&number, at_, sizeof(Number));
    at_ += sizeof(Number);
    return number;
  }

 private:
  const std::uint8_t* at_;
};

std::uint32_t checksum(const std::uint8_t* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, bytes, size));
}

struct Header {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t leaves = 0;
  std::uint32_t merges = 0;
  double threshold = 0;

  std::uint64_t pixels() const { return std::uint64_t{width} * height; }
  std::uint64_t file_bytes() const {
    return kHeaderBytes + pixels() * label_bytes(leaves) + merges * std::uint64_t{kMergeBytes} +
           kSumBytes;
  }
};

/// Throws InputError if the first bytes are not those of a tree file, or of a version not known.
void check_head(const std::vector<std::uint8_t>& head) {
  if (head.empty()) throw InputError("the file is empty, expected a hierarchy (segment --tree)");
  const std::size_t known = std::min(head.size(), kMagic.size());
  if (std::memcmp(head.data(), kMagic.data(), known) != 0) {
    throw InputError("not a hierarchy, which segment --tree writes");
  }
  if (head.size() < kHeaderBytes) {
    throw InputError(
        fmt::format("the hierarchy ends after {} bytes: the file is truncated", head.size()));
  }
  const auto version = Reader(head, kVersionAt).get<std::uint32_t>();
  if (version != kTreeVersion) {
    throw InputError(fmt::format(
        "the hierarchy is of version {}, and this program reads version {}: make it anew with "
        "segment --tree, or use the diacut that made it",
        version, kTreeVersion));
  }
}

Header read_header(const std::vector<std::uint8_t>& bytes) {
  Reader reader(bytes, kVersionAt + sizeof kTreeVersion);
  Header header;
  header.width = reader.get<std::uint32_t>();
  header.height = reader.get<std::uint32_t>();
  header.leaves = reader.get<std::uint32_t>();
  header.merges = reader.get<std::uint32_t>();
  const auto stored_label_bytes = reader.get<std::uint32_t>();
  header.threshold = reader.get<double>();
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (header.width > kMost || header.height > kMost || header.pixels() > kMost ||
      header.leaves > header.pixels() || header.merges > header.leaves ||
      stored_label_bytes != label_bytes(header.leaves)) {
    throw InputError(fmt::format(
        "the hierarchy is damaged: {} x {} pixels cannot have {} leaves of {} bytes and {} merges",
        header.width, header.height, header.leaves, stored_label_bytes, header.merges));
  }
  if (bytes.size() != header.file_bytes()) {
    throw InputError(fmt::format("the hierarchy is {}: {} bytes, expected {}",
                                 bytes.size() < header.file_bytes() ? "truncated" : "damaged",
                                 bytes.size(), header.file_bytes()));
  }
  return header;
}

Hierarchy decode(const std::vector<std::uint8_t>& bytes) {
  check_head(bytes);
  const Header header = read_header(bytes);
  const std::size_t summed = bytes.size() - kSumBytes;
  if (Reader(bytes, summed).get<std::uint32_t>() != checksum(bytes.data(), summed)) {
    throw InputError("the hierarchy is damaged: its checksum does not match");
  }
  Hierarchy hierarchy;
  hierarchy.threshold = header.threshold;
  hierarchy.leaves = {static_cast<int>(header.width), static_cast<int>(header.height),
                      header.leaves, std::vector<std::int32_t>(header.pixels())};
  Reader reader(bytes, kHeaderBytes);
  const bool narrow = label_bytes(header.leaves) == 2;
  for (std::int32_t& leaf : hierarchy.leaves.values) {
    leaf = narrow ? reader.get<std::uint16_t>() : reader.get<std::int32_t>();
  }
  hierarchy.merges.resize(header.merges);
  for (Merge& merge : hierarchy.merges) {
    merge.first = reader.get<std::int32_t>();
    merge.second = reader.get<std::int32_t>();
    merge.height = reader.get<float>();
  }
  check(hierarchy);
  return hierarchy;
}

}  // namespace

std::vector<std::uint8_t> encode_tree(const Hierarchy& hierarchy) {
  const Labels& leaves = hierarchy.leaves;
  const Header header{static_cast<std::uint32_t>(leaves.width),
                      static_cast<std::uint32_t>(leaves.height),
                      static_cast<std::uint32_t>(leaves.count),
                      static_cast<std::uint32_t>(hierarchy.merges.size()), hierarchy.threshold};
  std::vector<std::uint8_t> bytes(kMagic.begin(), kMagic.end());
  bytes.reserve(header.file_bytes());
  put(kTreeVersion, bytes);
  for (const std::uint32_t size : {header.width, header.height, header.leaves, header.merges,
                                   static_cast<std::uint32_t>(label_bytes(header.leaves))}) {
    put(size, bytes);
  }
  put(header.threshold, bytes);
  const bool narrow = label_bytes(header.leaves) == 2;
  for (const std::int32_t leaf : leaves.values) {
    if (narrow) {
      put(static_cast<std::uint16_t>(leaf), bytes);
    } else {
      put(leaf, bytes);
    }
  }
  for (const Merge& merge : hierarchy.merges) {
    put(merge.first, bytes);
    put(merge.second, bytes);
    put(merge.height, bytes);
  }
  put(checksum(bytes.data(), bytes.size()), bytes);
  return bytes;
}

Hierarchy decode_tree(const std::vector<std::uint8_t>& bytes, const std::string& name) {
  return naming(name, [&] { return decode(bytes); });
}

Hierarchy read_tree(const std::string& path) {
  const std::string name = path == "-" ? "standard input" : path;
  return decode_tree(
      naming(name, [&] { return read_bytes(path, kHeaderBytes, check_head, "a hierarchy"); }),
      name);
}

void write_tree(const std::string& path, const Hierarchy& hierarchy) {
  write_file(path, encode_tree(hierarchy));
}

}  // namespace diacut
