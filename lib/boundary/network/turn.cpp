#include "boundary/network/turn.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace diacut {

namespace {

/// The luma of ITU-R BT.709 of a pixel, a whole number from 0 to 65535.
double brightness(const float* pixel, int channels) {
  const float value =
      channels == 1 ? pixel[0] : 0.2126f * pixel[0] + 0.7152f * pixel[1] + 0.0722f * pixel[2];
  return static_cast<double>(static_cast<int>(65535.0f * value + 0.5f));
}

/// The sum over all elements of their values times twice their distance from the middle.
double moment(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i] * (2 * static_cast<double>(i) + 1 - count);
  }
  return sum;
}

}  // namespace

Turn composed(const Turn& first, const Turn& second) {
  Turn both = second;
  if (first.transposed) std::swap(both.mirrored_x, both.mirrored_y);
  both.transposed = first.transposed != second.transposed;
  both.mirrored_x = both.mirrored_x != first.mirrored_x;
  both.mirrored_y = both.mirrored_y != first.mirrored_y;
  return both;
}

Turn canonical_turn(const Image& image) {
  // Of images of a million pixels all sums are exact: whole numbers below 2^53.
  const auto width = static_cast<std::size_t>(image.width);
  const auto height = static_cast<std::size_t>(image.height);
  const auto channels = static_cast<std::size_t>(image.channels);
  std::vector<double> of_column(width, 0.0);
  std::vector<double> of_row(height, 0.0);
  for (std::size_t y = 0; y < height; ++y) {
    const std::size_t first = y * width;
    for (std::size_t x = 0; x < width; ++x) {
      // Pixels without data are 0.
      const double value = brightness(&image.pixels[(first + x) * channels], image.channels);
      of_column[x] += value;
      of_row[y] += value;
    }
  }
  const double to_right = moment(of_column);
  const double down = moment(of_row);
  Turn turn;
  // In shares of the sides, as if the image were square.
  turn.transposed = std::abs(to_right) * static_cast<double>(height) >
                    std::abs(down) * static_cast<double>(width);
  // Mirrored, what was brightest on the right or below is brightest on the left or above.
  turn.mirrored_x = to_right > 0;
  turn.mirrored_y = down > 0;
  return turn;
}

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
