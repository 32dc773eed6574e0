#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "image/bytes.hpp"

namespace diacut {

/// The members of a ZIP archive, as numpy.savez writes them: stored or deflated, not encrypted, in
/// one file (PKWARE, "APPNOTE.TXT", version 6.3.10), with 64-bit sizes where they need them.
class ZipArchive {
 public:
  /// Reads the list of members. `file` has to outlive the archive. Throws InputError, whose message
  /// does not name the file, where it is no ZIP archive or is damaged: cut off, members of one
  /// name, members that lie outside of the file.
  explicit ZipArchive(Bytes file);

  bool has(const std::string& name) const { return members_.contains(name); }
  /// Bytes of a member as the archive's list has them. Precondition: has(name).
  std::uint64_t size(const std::string& name) const { return members_.at(name).size; }

  /// The bytes of a member. Nothing is allocated before the member's size is known to be possible:
  /// deflated data grow 1032 times at most. Throws InputError where a member is missing, damaged,
  /// or longer or shorter than the list says, or of another checksum.
  std::vector<std::uint8_t> read(const std::string& name) const;

 private:
  struct Member {
    std::uint32_t method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed = 0;
    std::uint64_t size = 0;
    std::uint64_t header = 0;  ///< Where its local header is.
  };
  std::uint64_t add_member(std::uint64_t at);
  Bytes packed_bytes(const std::string& name, const Member& member) const;

  Bytes file_;
  std::map<std::string, Member> members_;
};

}  // namespace diacut
