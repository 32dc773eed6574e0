#include "npz_writer.hpp"

#include <zlib.h>

#include <stdexcept>

namespace diacut::testing {

namespace {

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k) text += static_cast<char>(value >> (8 * k) & 255);
  return text;
}

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string result(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace

std::string npy_file(const std::string& header, const std::string& bytes, int major) {
  return "\x93NUMPY" + little(static_cast<std::uint64_t>(major), 2) +
         little(header.size(), major == 1 ? 2 : 4) + header + bytes;
}

std::string npy_of(const std::string& type, const std::string& shape, const std::string& bytes) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return npy_file(header, bytes);
}

std::string zip_of(const std::vector<ZipMember>& members) {
  std::string file;
  std::string list;
  for (const ZipMember& member : members) {
    const std::string packed = member.deflated ? deflated(member.bytes) : member.bytes;
    const auto checksum = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(member.bytes.data()), member.bytes.size()));
    const std::uint64_t size =
        member.bytes.size() + static_cast<std::uint64_t>(member.claimed_more);
    const bool wide = member.in_64_bits;
    const std::string sizes = wide ? little(~0ULL, 8) : little(packed.size(), 4) + little(size, 4);
    const std::string extra =
        wide ? little(1, 2) + little(16, 2) + little(size, 8) + little(packed.size(), 8) : "";
    const std::string common = little(0, 2) + little(member.deflated ? 8 : 0, 2) + little(0, 4) +
                               little(checksum, 4) + sizes + little(member.name.size(), 2) +
                               little(extra.size(), 2);
    list += "PK\x01\x02" + little(45, 2) + little(45, 2) + common + little(0, 2) + little(0, 2) +
            little(0, 2) + little(0, 4) + little(file.size(), 4) + member.name + extra;
    file += "PK\x03\x04" + little(45, 2) + common + member.name + extra + packed;
  }
  const std::string end = "PK\x05\x06" + little(0, 4) + little(members.size(), 2) +
                          little(members.size(), 2) + little(list.size(), 4) +
                          little(file.size(), 4) + little(0, 2);
  return file + list + end;
}

}  // namespace diacut::testing
