#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace diacut {

/// Owns a file descriptor; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }
  /// The number, which the caller has to close.
  int release() { return std::exchange(number_, -1); }
  void reset() {
    if (number_ >= 0) ::close(release());
  }

 private:
  int number_;
};

/// Writes all bytes. Returns 0, or the error number.
inline int write_all(int file, const void* bytes, std::size_t size) {
  const char* rest = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(file, rest, std::min<std::size_t>(size, 1u << 30));
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    rest += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

/// Reads what a file has from `at` on. Returns whether that are `size` bytes.
inline bool read_all(int file, void* to, std::size_t size, std::uint64_t at) {
  auto* next = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::pread(file, next, size, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    size -= static_cast<std::size_t>(got);
    at += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace diacut
