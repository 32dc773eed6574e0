#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "image/bytes.hpp"

struct zip;

namespace diacut {

/// The members of a ZIP archive, as numpy.savez writes them: stored or deflated, not encrypted.
/// Read by libzip.
class ZipArchive {
 public:
  /// Reads the list of members. `file` has to outlive the archive. Throws InputError, whose message
  /// does not name the file, where it is no ZIP archive or is damaged, or two members have one
  /// name.
  explicit ZipArchive(Bytes file);

  bool has(const std::string& name) const { return members_.contains(name); }
  /// Bytes of a member as the archive's list has them. Precondition: has(name).
  std::uint64_t size(const std::string& name) const;

  /// The bytes of a member. Nothing is allocated before the member's size is known to be possible:
  /// deflated data grow 1032 times at most. Throws InputError where a member is missing, damaged,
  /// or longer or shorter than the list says, or of another checksum.
  std::vector<std::uint8_t> read(const std::string& name) const;

 private:
  std::unique_ptr<zip, void (*)(zip*)> archive_;
  std::map<std::string, std::uint64_t> members_;  ///< Their indices.
};

}  // namespace diacut
