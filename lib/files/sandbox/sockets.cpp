#include "sandbox/sockets.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "diacut/errors.hpp"

namespace diacut {
namespace {

constexpr std::size_t kMostDescriptors = 3;

/// Memory for the descriptors of a message.
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> bytes = {};
};

}  // namespace

std::pair<Descriptor, Descriptor> socket_pair() {
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw InputError(
        fmt::format("no sandbox can be made: {}", std::generic_category().message(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool send_message(int socket, std::span<const std::uint8_t> message,
                  std::span<const int> descriptors) {
  iovec part = {const_cast<std::uint8_t*>(message.data()), message.size()};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control;
  if (!descriptors.empty()) {
    const std::size_t bytes = descriptors.size() * sizeof(int);
    header.msg_control = control.bytes.data();
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(message.size());
}

Received receive_message(int socket, std::size_t most) {
  Received received;
  received.message.resize(most);
  iovec part = {received.message.data(), most};
  Control control;
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  received.message.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got <= 0) return received;
  for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t k = 0; k < count; ++k) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(each) + k * sizeof(int), sizeof number);
      received.descriptors.emplace_back(number);
    }
  }
  return received;
}

}  // namespace diacut
