#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diacut {

/// Is given the first bytes of a file and throws if the file is not wanted.
using HeadCheck = std::function<void(const std::vector<std::uint8_t>& head)>;

/// All bytes of a file, or of standard input for "-". `check_head` gets the first `head_size`
/// bytes, or all bytes of a smaller file, before more is read, so that no endless or huge file of
/// another kind is read whole. `expected` says in the error for a folder what is expected in its
/// place. Throws InputError, whose message does not name the path.
std::vector<std::uint8_t> read_bytes(const std::string& path, std::size_t head_size,
                                     const HeadCheck& check_head, const char* expected);

/// The text of a file, or of standard input for "-", as read_bytes() reads it.
std::string read_text(const std::string& path, const char* expected);

/// Where diacut keeps what it measured and built for a user: $XDG_DATA_HOME/diacut, or
/// ~/.local/share/diacut; empty without a home.
std::filesystem::path data_folder();

/// The bytes of a file, of which only those that are looked at are read. To be held briefly:
/// looking at bytes of a file that somebody shortens meanwhile ends the process (SIGBUS).
class MappedFile {
 public:
  /// Nothing where the file is not a regular one, has fewer than `least` bytes, or cannot be
  /// mapped. Precondition: `least` is positive.
  static std::optional<MappedFile> open(const std::string& path, std::uint64_t least);
  /// Maps an open file, under the conditions of open(). The file may be closed afterwards.
  static std::optional<MappedFile> of(int file, std::uint64_t least);

  std::span<const std::uint8_t> bytes() const {
    return {mapped_.get(), mapped_.get_deleter().size};
  }

 private:
  struct Unmap {
    std::size_t size = 0;
    void operator()(const std::uint8_t* bytes) const;
  };

  explicit MappedFile(std::unique_ptr<const std::uint8_t[], Unmap> mapped)
      : mapped_(std::move(mapped)) {}

  std::unique_ptr<const std::uint8_t[], Unmap> mapped_;
};

}  // namespace diacut
