#include "opencl/pitch.hpp"

#include "opencl/context.hpp"

namespace diacut {

std::size_t dia_pitch(std::size_t rows) {
  constexpr std::size_t kLine = 32;    // floats in 128 bytes
  constexpr std::size_t kPage = 1024;  // floats in 4 KiB
  const std::size_t pitch = round_up(rows, kLine);
  return pitch % kPage == 0 ? pitch + kLine : pitch;
}

}  // namespace diacut
