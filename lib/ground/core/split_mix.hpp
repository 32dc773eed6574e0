#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace diacut {

/// SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014):
/// a seed gives equal numbers with every compiler and standard library.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// In [0, count), evenly up to some 2^-53. Precondition: count > 0.
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(unit() * static_cast<double>(count));
  }
  /// A float of either sign, of magnitude 2^-7 to 2, whose mantissa has 23 random bits.
  float value() {
    const auto bits = static_cast<std::uint32_t>(next() >> 32);
    const std::uint32_t exponent = 120 + (bits >> 28 & 7);
    return std::bit_cast<float>((bits & 0x807fffff) | (exponent << 23));
  }

 private:
  std::uint64_t state_;
};

}  // namespace diacut
