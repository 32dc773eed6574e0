#include "evaluate/thinning.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace diacut {

namespace {

/// Whether a pixel is removed, by the code of its neighbours: bit k is the neighbour k eighths of a
/// turn counterclockwise from the right one.
using Rule = std::array<bool, 256>;

Rule rule(bool second_pass) {
  Rule goes{};
  for (unsigned code = 0; code < goes.size(); ++code) {
    const auto x = [code](unsigned k) { return (code >> (k % 8) & 1U) != 0; };
    int crossings = 0;
    int pairs_from_even = 0;
    int pairs_from_odd = 0;
    for (unsigned k = 0; k < 8; k += 2) {
      if (!x(k) && (x(k + 1) || x(k + 2))) ++crossings;
      if (x(k) || x(k + 1)) ++pairs_from_even;
      if (x(k + 1) || x(k + 2)) ++pairs_from_odd;
    }
    const int neighbours = std::min(pairs_from_even, pairs_from_odd);
    // The second pass tests the neighbours on the opposite side.
    const unsigned turn = second_pass ? 4 : 0;
    const bool inner = (x(turn + 1) || x(turn + 2) || !x(turn + 7)) && x(turn);
    goes[code] = crossings == 1 && neighbours >= 2 && neighbours <= 3 && !inner;
  }
  return goes;
}

}  // namespace

std::vector<std::uint8_t> thin(std::span<const std::uint8_t> mask, int width, int height) {
  static const std::array<Rule, 2> rules = {rule(false), rule(true)};
  const auto w = static_cast<std::size_t>(width);
  const auto h = static_cast<std::size_t>(height);
  const std::size_t stride = w + 2;  // A frame that is not set, so that every pixel has neighbours.
  std::vector<std::uint8_t> framed(stride * (h + 2), 0);
  std::vector<std::size_t> set;
  for (std::size_t y = 0; y < h; ++y) {
    for (std::size_t x = 0; x < w; ++x) {
      if (mask[y * w + x] == 0) continue;
      set.push_back((y + 1) * stride + x + 1);
      framed[set.back()] = 1;
    }
  }
  const auto code_of = [&](std::size_t at) {
    const std::uint8_t* above = framed.data() + at - stride;
    const std::uint8_t* here = framed.data() + at;
    const std::uint8_t* below = framed.data() + at + stride;
    return static_cast<std::size_t>(here[1] | above[1] << 1 | above[0] << 2 | above[-1] << 3 |
                                    here[-1] << 4 | below[-1] << 5 | below[0] << 6 | below[1] << 7);
  };
  std::vector<std::size_t> gone;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Rule& goes : rules) {
      gone.clear();
      for (const std::size_t at : set) {
        if (goes[code_of(at)]) gone.push_back(at);
      }
      if (gone.empty()) continue;
      changed = true;
      for (const std::size_t at : gone) framed[at] = 0;
      std::erase_if(set, [&](std::size_t at) { return framed[at] == 0; });
    }
  }
  std::vector<std::uint8_t> result(w * h, 0);
  for (const std::size_t at : set) result[(at / stride - 1) * w + at % stride - 1] = 1;
  return result;
}

}  // namespace diacut
