#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/descriptor.hpp"

namespace diacut {

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
