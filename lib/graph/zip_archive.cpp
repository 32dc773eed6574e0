#include "graph/zip_archive.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

constexpr std::string_view kEnd = "PK\x05\x06";
constexpr std::size_t kEndSize = 22;
constexpr std::string_view kLocator64("PK\x06\x07", 4);
constexpr std::size_t kLocator64Size = 20;
constexpr std::string_view kEnd64 = "PK\x06\x06";
constexpr std::size_t kEnd64Size = 56;
constexpr std::string_view kListed = "PK\x01\x02";
constexpr std::size_t kListedSize = 46;
constexpr std::string_view kLocal = "PK\x03\x04";
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kLongestComment = 65'535;
constexpr std::uint32_t kStored = 0;
constexpr std::uint32_t kDeflated = 8;
/// A field whose value stands in the extra field of 64-bit sizes.
constexpr std::uint32_t kIn64 = 0xffffffff;
constexpr std::uint32_t kExtra64 = 1;
/// Deflate's best: 258 bytes in two bits.
constexpr std::uint64_t kMostGrowth = 1032;
/// Members are arrays of one matrix: there are some eight.
constexpr std::uint64_t kMostMembers = 1000;

InputError damaged(const std::string& what) {
  return InputError(
      fmt::format("the .npz archive is damaged or cut off ({}): copy or save it again "
                  "with scipy.sparse.save_npz",
                  what));
}

std::uint32_t u16(Bytes bytes, std::uint64_t at) {
  return read_uint(bytes, static_cast<std::size_t>(at), 2, ByteOrder::kLittle);
}
std::uint32_t u32(Bytes bytes, std::uint64_t at) {
  return read_uint(bytes, static_cast<std::size_t>(at), 4, ByteOrder::kLittle);
}
std::uint64_t u64(Bytes bytes, std::uint64_t at) {
  return u32(bytes, at) | std::uint64_t{u32(bytes, at + 4)} << 32;
}

bool lies_within(Bytes file, std::uint64_t at, std::uint64_t size) {
  return at <= file.size() && size <= file.size() - at;
}

/// Where the record of the archive's end begins: it is the last one of its mark whose comment
/// reaches to the end of the file.
std::uint64_t end_record(Bytes file) {
  if (!has_text(file, 0, "PK")) throw InputError("it is no .npz file, which is a ZIP archive");
  const std::size_t last = file.size() < kEndSize ? 0 : file.size() - kEndSize;
  for (std::size_t back = 0; back <= std::min(last, kLongestComment); ++back) {
    const std::size_t at = last - back;
    if (file.size() >= kEndSize && has_text(file, at, kEnd) && u16(file, at + 20) == back) {
      return at;
    }
  }
  throw damaged("its list of members is missing");
}

/// Where the list of members begins, and how many there are.
struct List {
  std::uint64_t at = 0;
  std::uint64_t count = 0;
};

List find_list(Bytes file) {
  const std::uint64_t end = end_record(file);
  List list{u32(file, end + 16), u16(file, end + 10)};
  if (list.at != kIn64 && list.count != 0xffff) return list;
  if (end < kLocator64Size || !has_text(file, end - kLocator64Size, kLocator64)) {
    throw damaged("its 64-bit end is missing");
  }
  const std::uint64_t end64 = u64(file, end - kLocator64Size + 8);
  if (!lies_within(file, end64, kEnd64Size) || !has_text(file, end64, kEnd64)) {
    throw damaged("its 64-bit end is missing");
  }
  return {u64(file, end64 + 48), u64(file, end64 + 32)};
}

/// Takes the 64-bit values that stand in the extra field of a listed member, in the order of the
/// fields that ask for them.
void take_extra64(Bytes extra, std::initializer_list<std::uint64_t*> fields) {
  std::uint64_t at = 0;
  while (at + 4 <= extra.size()) {
    const std::uint64_t size = u16(extra, at + 2);
    if (!lies_within(extra, at + 4, size)) break;
    if (u16(extra, at) == kExtra64) {
      std::uint64_t next = at + 4;
      for (std::uint64_t* field : fields) {
        if (*field != kIn64) continue;
        if (next + 8 > at + 4 + size) throw damaged("a 64-bit size is missing");
        *field = u64(extra, next);
        next += 8;
      }
      return;
    }
    at += 4 + size;
  }
  for (const std::uint64_t* field : fields) {
    if (*field == kIn64) throw damaged("a 64-bit size is missing");
  }
}

/// Inflates all of `packed` to exactly `size` bytes.
std::vector<std::uint8_t> inflated(Bytes packed, std::uint64_t size) {
  std::vector<std::uint8_t> result(static_cast<std::size_t>(size));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw InputError("zlib cannot be started");
  constexpr std::size_t kStep = std::size_t{1} << 30;
  std::size_t in = 0;
  std::size_t out = 0;
  std::uint8_t beyond = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    const std::size_t in_step = std::min(kStep, packed.size() - in);
    const std::size_t out_step = std::min(kStep, result.size() - out);
    // One byte more than the member has shows whether data go on.
    const bool full = out_step == 0;
    stream.next_in = const_cast<Bytef*>(packed.data() + in);
    stream.avail_in = static_cast<uInt>(in_step);
    stream.next_out = full ? &beyond : result.data() + out;
    stream.avail_out = full ? 1 : static_cast<uInt>(out_step);
    state = inflate(&stream, Z_NO_FLUSH);
    in += in_step - stream.avail_in;
    if (full && stream.avail_out == 0) state = Z_DATA_ERROR;
    if (!full) out += out_step - stream.avail_out;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || out != result.size() || in != packed.size()) {
    throw damaged("a member does not inflate to the size that its header says");
  }
  return result;
}

std::uint32_t checksum_of(const std::vector<std::uint8_t>& bytes) {
  return static_cast<std::uint32_t>(crc32_z(crc32(0, nullptr, 0), bytes.data(), bytes.size()));
}

}  // namespace

ZipArchive::ZipArchive(Bytes file) : file_(file) {
  const List list = find_list(file);
  if (list.count > kMostMembers) {
    throw InputError(
        fmt::format("the archive has {} members: it is no sparse matrix of SciPy", list.count));
  }
  std::uint64_t at = list.at;
  for (std::uint64_t k = 0; k < list.count; ++k) at = add_member(at);
}

/// Reads the entry of the list at `at`; where the next one begins.
std::uint64_t ZipArchive::add_member(std::uint64_t at) {
  if (!lies_within(file_, at, kListedSize) || !has_text(file_, at, kListed)) {
    throw damaged("its list of members ends early");
  }
  const std::uint64_t name_size = u16(file_, at + 28);
  const std::uint64_t extra_size = u16(file_, at + 30);
  const std::uint64_t comment_size = u16(file_, at + 32);
  const std::uint64_t size = kListedSize + name_size + extra_size + comment_size;
  if (!lies_within(file_, at, size)) throw damaged("its list of members ends early");
  Member member;
  if ((u16(file_, at + 8) & 1) != 0) throw InputError("the .npz archive is encrypted");
  member.method = u16(file_, at + 10);
  member.checksum = u32(file_, at + 16);
  member.packed = u32(file_, at + 20);
  member.size = u32(file_, at + 24);
  member.header = u32(file_, at + 42);
  const Bytes name = file_.subspan(at + kListedSize, name_size);
  take_extra64(file_.subspan(at + kListedSize + name_size, extra_size),
               {&member.size, &member.packed, &member.header});
  if (!members_.emplace(std::string(name.begin(), name.end()), member).second) {
    throw damaged("two members have one name");
  }
  return at + size;
}

Bytes ZipArchive::packed_bytes(const std::string& name, const Member& member) const {
  if (!lies_within(file_, member.header, kLocalSize) || !has_text(file_, member.header, kLocal)) {
    throw damaged(name + " is missing");
  }
  const std::uint64_t at =
      member.header + kLocalSize + u16(file_, member.header + 26) + u16(file_, member.header + 28);
  if (!lies_within(file_, at, member.packed)) throw damaged(name + " ends early");
  return file_.subspan(at, member.packed);
}

std::vector<std::uint8_t> ZipArchive::read(const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) {
    throw InputError(
        fmt::format("the archive has no member {}: it is no sparse matrix that "
                    "scipy.sparse.save_npz wrote",
                    name));
  }
  const Member& member = found->second;
  const Bytes packed = packed_bytes(name, member);
  if (member.method != kStored && member.method != kDeflated) {
    throw InputError(fmt::format("{} is packed by method {}: expected 0 (stored) or 8 (deflated)",
                                 name, member.method));
  }
  const std::uint64_t most =
      member.method == kStored ? member.packed : member.packed * kMostGrowth + kMostGrowth;
  if (member.size > most || (member.method == kStored && member.size != member.packed)) {
    throw damaged(
        fmt::format("{} claims {} bytes out of {} packed ones", name, member.size, member.packed));
  }
  std::vector<std::uint8_t> bytes = member.method == kDeflated
                                        ? inflated(packed, member.size)
                                        : std::vector<std::uint8_t>(packed.begin(), packed.end());
  if (checksum_of(bytes) != member.checksum) throw damaged(name + " has another checksum");
  return bytes;
}

}  // namespace diacut
