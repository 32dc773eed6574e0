#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "diacut/output.hpp"
#include "output/format.hpp"
#include "output/npy.hpp"
#include "output/png.hpp"

namespace diacut {

void write_contours(const std::string& path, const std::vector<float>& contours, int width,
                    int height) {
  const std::string extension = lower_extension(path);
  if (extension == ".npy") {
    return write_file(path, encode_npy<float>(contours, {static_cast<std::size_t>(height),
                                                         static_cast<std::size_t>(width)}));
  }
  if (path != "-" && extension != ".png") {
    throw unknown_extension(path, "maps of boundary strength", ".png, .npy");
  }
  std::vector<std::uint16_t> grey(contours.size());
  std::transform(contours.begin(), contours.end(), grey.begin(), [](float value) {
    return static_cast<std::uint16_t>(std::lround(std::min(value, 1.0F) * 65535.0F));
  });
  PngExtras extras;
  extras.flat = true;
  write_file(path, encode_png(width, height, grey, extras));
}

void write_probabilities(const std::string& path,
                         const std::vector<std::vector<float>>& probabilities, int width,
                         int height) {
  std::vector<float> all;
  for (const std::vector<float>& each : probabilities)
    all.insert(all.end(), each.begin(), each.end());
  write_file(path, encode_npy(std::span<const float>(all),
                              {probabilities.size(), static_cast<std::size_t>(height),
                               static_cast<std::size_t>(width)}));
}

}  // namespace diacut
