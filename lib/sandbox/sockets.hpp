#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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
  void reset() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

/// Two connected sockets that keep messages apart. Throws InputError.
std::pair<Descriptor, Descriptor> socket_pair();

/// Sends a message, with descriptors that the receiver gets copies of. Returns whether it was sent:
/// not if the other end is closed.
bool send_message(int socket, std::span<const std::uint8_t> message,
                  std::span<const int> descriptors = {});

struct Received {
  std::vector<std::uint8_t> message;  ///< Empty: the other end is closed.
  std::vector<Descriptor> descriptors;
};

/// Waits for a message of at most `most` bytes.
Received receive_message(int socket, std::size_t most);

}  // namespace diacut
