#include "boundary/network/turn.hpp"

#include <array>
#include <cstddef>

namespace diacut {

std::vector<Turn> network_turns(int count) {
  // The picture, its mirror image, their half turns and quarter turns.
  static constexpr std::array<Turn, 8> kMirrored = {{{false, false, false},
                                                     {false, true, false},
                                                     {false, false, true},
                                                     {false, true, true},
                                                     {true, false, false},
                                                     {true, true, false},
                                                     {true, false, true},
                                                     {true, true, true}}};
  // Turned by 0, 180, 90 and 270 degrees, none of them mirrored.
  static constexpr std::array<Turn, 4> kTurned = {
      {{false, false, false}, {false, true, true}, {true, true, false}, {true, false, true}}};
  if (count == 4) return {kTurned.begin(), kTurned.end()};
  return {kMirrored.begin(), kMirrored.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace diacut
