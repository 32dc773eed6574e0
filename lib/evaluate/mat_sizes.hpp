#pragma once

#include <cstdint>

#include "image/bytes.hpp"

namespace diacut {

/// Throws InputError, without the file's name, where a variable of a MATLAB file of version 4 or 5
/// announces more elements than the file has bytes for, or a matrix more than `most` elements:
/// matio takes memory for what is announced. What a compressed variable holds is decompressed piece
/// by piece, and not kept. Files of other versions are left alone.
void check_mat_sizes(Bytes file, std::uint64_t most);

}  // namespace diacut
