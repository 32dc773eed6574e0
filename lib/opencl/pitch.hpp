#pragma once

#include <cstddef>

namespace diacut {

/// `rows` rounded up to 32 floats (128 bytes), then moved off multiples of 4 KiB: diagonals that
/// are a large power of two apart share cache sets, which made a CPU's product 8 times slower.
std::size_t dia_pitch(std::size_t rows);

}  // namespace diacut
