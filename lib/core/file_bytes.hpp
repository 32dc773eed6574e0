#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace diacut {

/// Is given the first bytes of a file and throws if the file is not wanted.
using HeadCheck = std::function<void(const std::vector<std::uint8_t>& head)>;

/// All bytes of a file, or of standard input for "-". `check_head` gets the first `head_size`
/// bytes, or all bytes of a smaller file, before more is read, so that no endless or huge file of
/// another kind is read whole. `expected` tells in the error for a folder what is expected in its
/// place. Throws InputError, whose message does not name the path.
std::vector<std::uint8_t> read_bytes(const std::string& path, std::size_t head_size,
                                     const HeadCheck& check_head, const char* expected);

/// The text of a file, or of standard input for "-", as read_bytes() reads it.
std::string read_text(const std::string& path, const char* expected);

}  // namespace diacut
