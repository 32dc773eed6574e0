#include "output/strength_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "output/npy.hpp"

namespace diacut {

std::vector<std::uint16_t> grey_of_strength(std::span<const float> strength) {
  std::vector<std::uint16_t> grey(strength.size());
  std::transform(strength.begin(), strength.end(), grey.begin(), [](float value) {
    return static_cast<std::uint16_t>(std::lround(std::min(value, 1.0F) * 65535.0F));
  });
  return grey;
}

StrengthRows::StrengthRows(const std::string& path, int width, int height) : file_(path) {
  if (ultrametric_format(path) == UltrametricFormat::kPng) {
    PngExtras extras;
    extras.flat = true;
    png_ = std::make_unique<PngRows>(width, height, extras);
    return;
  }
  const std::vector<std::uint8_t> header =
      npy_header<float>({static_cast<std::size_t>(height), static_cast<std::size_t>(width)});
  file_.write(header.data(), header.size());
}

void StrengthRows::write(std::span<const float> rows) {
  if (!png_) return file_.write(rows.data(), rows.size_bytes());
  const std::vector<std::uint8_t> bytes = png_->add(grey_of_strength(rows));
  file_.write(bytes.data(), bytes.size());
}

}  // namespace diacut
