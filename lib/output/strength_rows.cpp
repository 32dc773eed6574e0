#include "output/strength_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "diacut/output.hpp"
#include "output/format.hpp"
#include "output/npy.hpp"

namespace diacut {

namespace {

std::vector<std::uint16_t> grey_of_strength(std::span<const float> strength) {
  std::vector<std::uint16_t> grey(strength.size());
  std::transform(strength.begin(), strength.end(), grey.begin(), [](float value) {
    return static_cast<std::uint16_t>(std::lround(std::min(value, 1.0F) * 65535.0F));
  });
  return grey;
}

/// Whether a map is written as a PNG. Throws ConfigError for an extension that is not known.
bool is_png(const std::string& path) {
  const std::string extension = lower_extension(path);
  if (path == "-" || extension == ".png") return true;
  if (extension == ".npy") return false;
  throw unknown_extension(path, "maps of boundary strength", ".png, .npy");
}

}  // namespace

StrengthRows::StrengthRows(const std::string& path, int width, int height)
    : png_(is_png(path) ? std::make_unique<PngRows>(width, height, PngExtras{{}, {}, true})
                        : nullptr),
      file_(path == "-" ? "/dev/stdout" : path) {
  if (png_) return;
  const std::vector<std::uint8_t> header =
      npy_header<float>({static_cast<std::size_t>(height), static_cast<std::size_t>(width)});
  file_.write(header.data(), header.size());
}

void StrengthRows::write(std::span<const float> rows) {
  if (!png_) return file_.write(rows.data(), rows.size_bytes());
  const std::vector<std::uint8_t> bytes = png_->add(grey_of_strength(rows));
  file_.write(bytes.data(), bytes.size());
}

void write_contours(const std::string& path, const std::vector<float>& contours, int width,
                    int height) {
  StrengthRows rows(path, width, height);
  rows.write(contours);
  rows.commit();
}

}  // namespace diacut
