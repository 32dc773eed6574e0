#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace diacut {

/// The bytes of a file, of which only those that are looked at are read. To be held briefly:
/// looking at bytes of a file that somebody shortens meanwhile ends the process (SIGBUS).
class MappedFile {
 public:
  /// Nothing where the file is not a regular one, has fewer than `least` bytes, or cannot be
  /// mapped. Precondition: `least` is positive.
  static std::optional<MappedFile> open(const std::string& path, std::uint64_t least);

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
