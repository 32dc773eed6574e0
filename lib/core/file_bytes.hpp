#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace diacut {

/// Sees the first bytes of a file, as many as there are, and throws if it is not wanted.
using HeadCheck = std::function<void(const std::vector<std::uint8_t>& head)>;

/// All bytes of a file, or of standard input for "-". `check_head` is called with the first
/// `head_size` of them, so that no endless or huge file of another kind is read whole. `expected`
/// names in messages what a folder was given for. Throws InputError, which does not name the path.
std::vector<std::uint8_t> read_bytes(const std::string& path, std::size_t head_size,
                                     const HeadCheck& check_head, const char* expected);

}  // namespace diacut
